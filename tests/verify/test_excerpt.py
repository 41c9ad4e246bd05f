"""Lines behind another break: each by itself, on the values that the program's call has there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.model.finding import Step
from tclint.verify import Outcome, VerifyOptions, verify
from tclint.verify.heard import Break, Run
from tclint.verify.job import Goal

Project = Callable[[str, str], Path]

LOOP = """
    import torch
    from torch import nn

    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(32, 32)

        def forward(self, x):
            x = self.fc(x)
            total = 0.0
            for row in x:
                print(total)   # first
                total = total + row.sum().item()   # behind
                if row.max() > total:   # asked
                    total = total + 1   # harmless
                picked = row[
                    row > 0
                ]   # several
                total = total + len(picked)
            return x + total
"""


@pytest.mark.dynamo
@pytest.mark.slow
def test_lines_behind_a_break_are_judged_by_themselves(project: Project, tmp_path: Path, torch_python: str) -> None:
    path = project("rows.py", LOOP)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    texts = ("# first", "# behind", "# asked", "picked = row[", "# harmless")
    first, behind, asked, several, harmless = verify([finding_at(path, text) for text in texts], options).verdicts
    assert first.outcome is Outcome.CONFIRMED, first.words
    assert "by itself" not in first.inputs
    for verdict in (behind, asked, several):
        assert verdict.outcome is Outcome.CONFIRMED, (verdict.words, verdict.inputs)
        assert verdict.inputs.endswith("by itself")
    assert "item()" in behind.words
    assert "branching" in asked.words
    # What a line does not do by itself it may do in its function: nothing is refuted.
    assert harmless.outcome is Outcome.NOT_REACHED, harmless.words


def test_a_break_inside_a_library_is_heard_at_the_line_that_led_to_it() -> None:
    from tclint.verify.child.goals import unconfirmed

    inside = Break("/lib/torch/x.py", 9, "skipped", "no", stack=(Step("m.py", 3, "f"), Step("/lib/torch/x.py", 9, "g")))
    helped = replace(inside, stack=(Step("m.py", 4, "f"), Step("helper.py", 7, "h"), Step("/lib/torch/x.py", 9, "g")))
    run = Run("breaks", "train", "a call", covered={"m.py": (3, 4), "helper.py": (7,)}, breaks=(inside, helped))
    places = tuple(Goal("m.py", line, line, "graph-break") for line in (3, 4, 9))
    assert [place.line for place in unconfirmed(places, [run])] == [4, 9]


@pytest.mark.dynamo
def test_what_cannot_stand_alone_is_not_taken_out(project: Project) -> None:
    from tclint.verify.child.excerpt import statement_at

    text = """
    class Base:
        def forward(self, x):
            y = super().forward(x)   # above
            for z in y:
                if z:
                    continue   # next
                yield z   # given
            try:   # tried
                w = (
                    x + 1   # inner
                )
            except ValueError:
                raise   # again
    """
    path = project("base.py", text)

    def taken(mark: str) -> bool:
        return statement_at(str(path), finding_at(path, mark).line) is not None

    assert [taken(mark) for mark in ("# above", "# next", "# given", "# tried", "# again")] == [False] * 5
    assert taken("for z in y")
    assert taken("if z")
    assert taken("# inner")
