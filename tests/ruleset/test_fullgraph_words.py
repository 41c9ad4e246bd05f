"""Under `fullgraph=True` Dynamo raises, and the message says so; elsewhere it says what a break inside a block costs."""

from __future__ import annotations

import pytest
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


@pytest.mark.parametrize(
    ("context", "eager"),
    [
        ("torch.no_grad()", False),
        ("torch.enable_grad()", False),
        ("torch.autocast('cpu')", False),
        ("torch.profiler.record_function('step')", False),
        ("contextlib.nullcontext()", False),
        ("torch.no_grad(), torch.inference_mode()", False),
        ("contextlib.suppress(ValueError)", True),
        ("warnings.catch_warnings()", True),
        ("Own()", True),
        ("own()", True),
        ("torch.no_grad(), Own()", True),
    ],
)
def test_a_context_that_dynamo_enters_again_costs_the_rest_of_the_function_nothing(
    project: Project, context: str, eager: bool
) -> None:
    """Asked of torch 2.13: a break in `no_grad` leaves a graph before it and one behind it, in a context of the program none."""
    source = f"""
        import contextlib
        import warnings
        import torch

        class Own:
            def __enter__(self):
                return self
            def __exit__(self, *exc):
                return None

        @contextlib.contextmanager
        def own():
            yield

        @torch.compile
        def f(x):
            y = x * 2
            with {context}:
                y = y.sin()
                print(y)
                y = y.cos()
            return y * 3
    """
    (found,) = (f for f in project.write({"a.py": source}).lint().findings if f.code == "TCL108")
    assert found.message.endswith("inside `with` the whole function runs eagerly") is eager
