"""Of several things that a name may stand for, a test in eager code leaves those of which it comes out so."""

from __future__ import annotations

import pytest
from lintkit import PRELUDE, Project

CODE = (
    PRELUDE
    + """

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.transform = nn.Linear(3, 3)


class Transforming(Base):
    quick = False

    def forward(self, x):
        print("transforming")
        return x


class Plain(nn.Module):
    def forward(self, x):
        print("plain")
        return x


LOSSES = {{"a": Transforming, "b": Plain}}


class Handler(nn.Module):
    def __init__(self, names, compile=True):
        super().__init__()
        self.losses = nn.ModuleList()
        for name in names:
            loss = LOSSES[name]()
{body}
            self.losses.append(loss)
"""
)


def compiled(project: Project, body: str) -> list[str]:
    indented = "\n".join(f"            {line}" for line in body.splitlines())
    project.write({"net.py": CODE.format(body=indented)})
    lines = (project.root / "net.py").read_text().splitlines()
    found = project.lint(select=["TCL108"], assume_compiled="never").findings
    return [lines[each.line - 1].split('"')[1] for each in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('if not hasattr(loss, "transform"):\n    loss = torch.compile(loss)', ["plain"]),
        # Something in its file binds an attribute of that name: the other one may have got it, too.
        ('if hasattr(loss, "transform"):\n    loss = torch.compile(loss)', ["transforming", "plain"]),
        ('if hasattr(loss, "quick"):\n    loss = torch.compile(loss)', ["transforming"]),
        (
            'has = hasattr(loss, "transform") or hasattr(loss, "other")\nif not has:\n    loss = torch.compile(loss)',
            ["plain"],
        ),
        (
            'has = hasattr(loss, "transform")\nif compile and not has:\n    loss = torch.compile(loss)',
            ["plain"],
        ),
        # What says nothing of them, or of another thing by then, leaves all.
        ("if compile:\n    loss = torch.compile(loss)", ["transforming", "plain"]),
        (
            'has = hasattr(loss, "transform")\nloss = LOSSES[name]()\nif not has:\n    loss = torch.compile(loss)',
            ["transforming", "plain"],
        ),
        (
            'has = hasattr(loss, "transform")\nhas = has or compile\nif not has:\n    loss = torch.compile(loss)',
            ["transforming", "plain"],
        ),
    ],
)
def test_what_is_left_behind_a_test(project: Project, body: str, expected: list[str]) -> None:
    assert compiled(project, body) == expected
