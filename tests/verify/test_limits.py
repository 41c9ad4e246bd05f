"""Code of the project that takes too long, makes too much, or ends itself: what was tried ends, not the process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from tclint.verify.child import construct
from tclint.verify.child.inputs import NoInputs
from tclint.verify.child.limits import TooLong, within
from tclint.verify.child.load import load


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def both() -> None:
    with within(0.3):
        with within(5):
            spin(0.05)
        with pytest.raises(TooLong, match=r"longer than 0\.1 s"), within(0.1):
            spin(2)
        spin(2)


def test_a_limit_inside_another_leaves_the_outer_one_its_time() -> None:
    with pytest.raises(TooLong, match=r"longer than 0\.3 s"):
        both()
    spin(0.4)  # nobody is stopped any more


class Wide(torch.nn.Module):
    def __init__(self, width: int = 200) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.empty(width))


def test_a_model_that_is_too_large_is_taken_only_where_it_is_not_far_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(construct, "PARAMETERS", 100)
    monkeypatch.setattr(construct, "LARGEST", 1000)
    assert construct.construct(Wide).table.numel() == 200
    monkeypatch.setattr(construct, "LARGEST", 150)
    with pytest.raises(NoInputs, match="TooLarge: it has 200 parameters"):
        construct.construct(Wide)


def test_tests_that_skip_themselves_are_read_as_far_as_they_go(write: Callable[[str, str], Path]) -> None:
    text = """
    import pytest

    pytest.importorskip("a_package_that_nobody_has")

    def helper():
        return 3
    """
    path = write("test_skips.py", text)
    assert load(str(path), str(path.parent)).helper() == 3
