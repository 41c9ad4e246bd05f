"""Under `fullgraph=True` Dynamo raises, and the message says so; elsewhere it says what a break inside a block costs."""

from __future__ import annotations

from lintkit import Project


def message(project: Project, arguments: str) -> str:
    source = f"""
        import torch

        @torch.compile({arguments})
        def f(x):
            for _ in range(3):
                print(x)
            return x
    """
    (found,) = project.write({"a.py": source}).lint().findings
    return found.message


def test_it_raises(project: Project) -> None:
    assert message(project, "fullgraph=True") == "`print` in compiled code; under fullgraph=True Dynamo raises here"


def test_it_breaks(project: Project) -> None:
    assert message(project, "") == (
        "`print` in compiled code; Dynamo breaks the graph here; inside `for` the whole function runs eagerly"
    )
