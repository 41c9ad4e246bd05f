"""What Dynamo never sees is not compiled again: frames without tensors behind a break, what TorchScript calls."""

from __future__ import annotations

import pytest
from lintkit import PRELUDE, Project, lines

COUNTS = (
    PRELUDE
    + """
def latest(items):
    count = len(items)
    found = [-1] * count
    for i in range(count):
        if i and items[i] == items[i - 1]:
            found[i] = i
    return found


@torch.compile
def step(x, items):
    total = 0
{made}
    return x + total


def main():
    for count in (4, 5, 6, 7, 8):
        step(torch.arange(count), list(range(count)))


main()
"""
)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("total = sum(latest(items))", True),
        # What follows a break is compiled with all that it calls.
        ("items = x.tolist()\ntotal = sum(latest(items))", True),
        # A break in a loop leaves the function to eager mode, and each call is looked at by itself.
        ("for _ in range(2):\n    numbers = x.tolist()\n    total += sum(latest(numbers))", False),
    ],
)
def test_a_frame_of_numbers_behind_a_break(project: Project, made: str, told: bool) -> None:
    indented = "\n".join(f"    {line}" for line in made.splitlines())
    project.write({"m.py": COUNTS.format(made=indented)})
    assert bool(lines(project.lint(), "TCL2")) is told


SCRIPTED = (
    PRELUDE
    + """
Function = {decorator}


@torch.compile(mode="reduce-overhead")
def step(x):
    return x + 1


class Net(nn.Module):
    @Function
    def run(self, x):
        first = step(x)
        second = step(first)
        return first + second


def main(x):
    return Net().run(x)
"""
)


@pytest.mark.parametrize(
    ("decorator", "told"),
    [("torch.jit.script_method", False), ("torch.jit.script", False), ("torch.no_grad()", True)],
)
def test_what_torchscript_calls_is_no_compiled_callable(project: Project, decorator: str, told: bool) -> None:
    project.write({"m.py": SCRIPTED.format(decorator=decorator)})
    assert bool(project.lint(select=["TCL301"]).findings) is told
