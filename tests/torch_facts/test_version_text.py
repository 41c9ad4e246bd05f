"""A version as a program holds it beside what is none."""

from __future__ import annotations

import pytest

from tclint.torch_facts.releases import VersionText


@pytest.mark.parametrize("other", [0, None, ("2", "13"), "main", ""])
def test_what_is_no_version_is_something_else(other: object) -> None:
    assert VersionText("2.13.0") != other


def test_versions_are_compared_by_their_numbers() -> None:
    assert VersionText("2.13.0") == "2.13"
    assert VersionText("2.13.0") != "2.3"
