"""Lines behind a flag that no call sets: what they do is shown on the values at the flag, and refutes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.model.finding import Span
from tclint.verify import Outcome, VerifyOptions, verify

Project = Callable[[str, str], Path]

MODEL = """
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(32, 32)
            self.loud = False
            self.level = 3
            self.compiling = False
            self.scale = None

        def forward(self, x):
            y = self.fc(x)
            if self.loud and self.level > 5:
                z = y * 2
                if not self.training:
                    assert self.level > 5
                    z = z - z.sum().item()   # inner
                z = z + 1   # harmless
            late = self.training and self.level > 5 and y.sum().item() > 0   # joined
            if self.compiling:
                y = y + y.sum().item()   # mode
            if isinstance(y, list):
                y = y + y.sum().item()   # kind
            if self.scale is not None:
                y = y + y.sum().item()   # there
            return y
"""


@pytest.mark.dynamo
@pytest.mark.slow
def test_lines_behind_flags_are_shown_by_themselves(project: Project, tmp_path: Path, torch_python: str) -> None:
    path = project("model.py", MODEL)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    texts = ("# inner", "# harmless", "# mode", "# kind", "# there")
    joined = finding_at(path, "# joined")
    column = path.read_text(encoding="utf-8").splitlines()[joined.line - 1].index("y.sum") + 1
    joined = replace(joined, span=Span(joined.line, column, joined.line, column + 8))
    last, inner, *others = verify([joined, *(finding_at(path, text) for text in texts)], options).verdicts
    assert last.outcome is Outcome.CONFIRMED, last.words
    assert last.inputs.endswith("the flags on it set")
    assert inner.outcome is Outcome.CONFIRMED, inner.words
    assert "behind the flag at line" in inner.inputs
    assert "item()" in inner.words
    for verdict in others:
        assert verdict.outcome is Outcome.NOT_REACHED, (verdict.finding.line, verdict.words)


@pytest.mark.dynamo
@pytest.mark.slow
def test_a_call_that_raises_in_the_end_has_values_at_the_flag(
    project: Project, tmp_path: Path, torch_python: str
) -> None:
    text = """
    from torch import nn

    class Ends(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(32, 32)
            self.loud = False

        def forward(self, x):
            y = self.fc(x)
            print("y")   # told
            if self.loud:
                y = y + y.sum().item()   # quiet
            raise ValueError("whatever it is given")
    """
    path = project("ends.py", text)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    told, quiet = verify([finding_at(path, text) for text in ("# told", "# quiet")], options).verdicts
    assert told.outcome is Outcome.CONFIRMED, told.words
    assert quiet.outcome is Outcome.CONFIRMED, quiet.words
    assert "behind the flag at line" in quiet.inputs
    # Also where no line was reached that somebody asks about.
    (only,) = verify([finding_at(path, "# quiet")], options).verdicts
    assert (only.outcome, only.inputs) == (Outcome.CONFIRMED, quiet.inputs), only.words
