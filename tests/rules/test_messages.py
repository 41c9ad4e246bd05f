"""What is kept of an exception's text where its values are not known beforehand."""

from __future__ import annotations

import ast

import pytest

from tclint.rules._messages import has_values, message_of


@pytest.mark.parametrize(
    ("written", "kept", "values"),
    [
        ('ValueError("negative ids")', "negative ids", False),
        ('ValueError(f"negative ids in {ids}")', "negative ids in", True),
        ('ValueError(f"id out of range: {ids.max()} (at {where})")', "id out of range", True),
        (
            'RuntimeError(f"Expected {int(m.sum())} image patches, got {len(f)}.")',
            "Expected ... image patches, got ....",
            True,
        ),
        ('ValueError(f"{n} rows")', "rows", True),
        (
            'ValueError(f"the id of a domain must be in [0, {n}), got {ids}")',
            "the id of a domain must be in [0, ...), got ...",
            True,
        ),
        ("ValueError", "", False),
    ],
)
def test_the_text_of_an_exception(written: str, kept: str, values: bool) -> None:
    exception = ast.parse(written, mode="eval").body
    assert message_of(exception) == kept
    assert has_values(exception) is values
