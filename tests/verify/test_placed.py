"""Statements that are not compiled themselves: what they do is looked at, with the least of the program around them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.model.finding import Effect, Finding, Span
from tclint.verify import Outcome, VerifyOptions, verify
from tclint.verify.placed import needed_by, placed_at

Project = Callable[[str, str], Path]

SCRIPT = """
    import os
    import torch
    import torch._dynamo as dynamo
    from torch import nn

    dynamo.config.recompile_limit = 64
    dynamo.config.accumulated_recompile_limit = 256   # as it is

    rank = int(os.environ["RANK"])

    class Settings:
        width = 4

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, 2)
            self.scale = nn.Parameter(torch.ones(width, device="cuda"))
            self.fc.bias.data = self.fc.bias.data.to("cuda:0", torch.bfloat16)

        def forward(self, x):
            return self.fc(x)

    settings = Settings()
    model = Net(settings.width).cuda()
    for parameter in model.parameters():
        torch.distributed.broadcast(parameter.detach(), rank)
    compiled = torch.compile(model)
    loader = open("no such file of data")
    for step, batch in enumerate(loader):
        compiled(batch).sum().backward()
        if rank == 0:
            log = dict(step=step, model=compiled.state_dict())   # saved
            plain = dict(step=step, model=model.state_dict())   # right
"""


def marked(path: Path, text: str, expression: str, message: str, effect: Effect) -> Finding:
    """A finding that marks an expression on the first line that holds a text."""
    finding = finding_at(path, text, effect)
    column = path.read_text().splitlines()[finding.line - 1].index(expression) + 1
    span = Span(finding.line, column, finding.line, column + len(expression))
    return replace(finding, span=span, message=message)


def test_the_least_that_an_expression_needs(project: Project) -> None:
    path = project("train.py", SCRIPT)
    at = marked(path, "# saved", "compiled.state_dict()", "", Effect.SILENT).span
    placed = placed_at(str(path), at.line, at.end_line, at.column)
    assert placed is not None
    assert placed.marked is not None
    assert ast.unparse(placed.marked) == "compiled.state_dict()"
    needed = needed_by(placed, placed.marked)
    firsts = [ast.unparse(statement).splitlines()[0] for statement in needed.statements]
    assert firsts == [
        "import torch",
        "from torch import nn",
        "class Settings:",
        "class Net(nn.Module):",
        "settings = Settings()",
        "model = Net(settings.width).cuda()",
        "compiled = torch.compile(model)",
    ]


@pytest.mark.dynamo
@pytest.mark.slow
def test_settings_and_values_of_a_script_that_cannot_be_run(
    project: Project, tmp_path: Path, torch_python: str
) -> None:
    path = project("train.py", SCRIPT)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=100, keep=True)
    raised = "`recompile_limit` is raised to 64"
    report = verify(
        [
            marked(path, "recompile_limit = 64", "dynamo", raised, Effect.SLOW),
            marked(path, "# as it is", "dynamo", "`accumulated_recompile_limit` is raised", Effect.SLOW),
            marked(path, "# saved", "compiled.state_dict()", "keys have a prefix", Effect.SILENT),
            marked(path, "# right", "model.state_dict()", "keys have a prefix", Effect.SILENT),
        ],
        options,
    )
    limit, same, saved, right = report.verdicts
    assert limit.outcome is Outcome.CONFIRMED
    assert limit.words == "`torch._dynamo.config.recompile_limit` is 64 after this line, 8 before it"
    assert same.outcome is Outcome.REFUTED, same.words
    assert saved.outcome is Outcome.CONFIRMED, saved.words
    assert "'_orig_mod.scale' for 'scale'" in saved.words
    assert right.outcome is Outcome.INCONCLUSIVE, right.words
