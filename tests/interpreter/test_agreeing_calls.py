"""Tests whose parts differ from call to call, and of which all calls in sight agree on the whole."""

from __future__ import annotations

from lintkit import PRELUDE, Project

MODEL = (
    PRELUDE
    + """

@torch.compile
def run(tokens, label, weight=None):
    if tokens is not None and label is not None:
        print("both")
    if tokens is None or label is None:
        print("one")
    if weight is not None:
        print("weighted")
    return label if tokens is None else tokens


def main():
    x = torch.ones(4, 4)
    run(None, x)
    for _ in range(3):
        run(x, {second})
"""
)


def printed(project: Project, second: str) -> list[str]:
    project.write({"m.py": MODEL.format(second=second)})
    report = project.lint(select=["TCL108"])
    lines = (project.root / "m.py").read_text().splitlines()
    return [lines[finding.line - 1].strip() for finding in report.findings]


def test_no_call_gives_both(project: Project) -> None:
    assert printed(project, "None") == ['print("one")']


def test_one_call_gives_both(project: Project) -> None:
    assert printed(project, "x") == ['print("both")', 'print("one")']


def test_what_is_stored_where_it_came_from_changes_nothing(project: Project) -> None:
    source = (
        PRELUDE
        + """

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.ones(4, device="cuda")

    def forward(self, x):
        self.table = {value}
        return x * self.table


def main():
    net = torch.compile(Net(), mode="reduce-overhead")
    for _ in range(3):
        net(torch.ones(4, device="cuda"))
"""
    )
    project.write({"m.py": source.format(value="self.table")})
    assert project.lint(select=["TCL301"]).findings == ()
    project.write({"m.py": source.format(value="self.table + 1")})
    assert project.lint(select=["TCL301"]).findings != ()
