"""What the compile site of a finding compiles, and whether a run compiled the same.

A guard stands where a compiled region begins: inside of it a stride or a number needs none. So what happens in a region of
another extent is real, and what does not happen there says nothing of the program.
"""

from __future__ import annotations

from collections.abc import Callable

from tclint.model.finding import Finding, Step
from tclint.verify.heard import Run
from tclint.verify.spans import Outline

Outlines = Callable[[str], Outline]
"""The outline of a file by its relative path."""
FORWARDS = ("forward", "__call__")
"""Compiling a module compiles these."""
_COMPILED_WHOLE = (
    "the program compiles what this function calls, and here the function itself was compiled: all is one step"
)


def otherwise(finding: Finding, run: Run, runs: tuple[Run, ...], outlines: Outlines) -> str:
    """Why a run did not compile as the site of the finding does; empty where it did, or where no site is known."""
    if finding.eager:
        alike = [other for other in runs if (other.target, other.compiled) == (run.target, run.compiled)]
        return _COMPILED_WHOLE if compiled_itself(finding, alike, outlines) else ""
    if run.given:
        # Somebody wrote this example for the finding's lines, and says by it what is compiled.
        return ""
    if run.compiled is None:
        site = _site(finding, outlines)
        if site is None or not run.eager_known or site.line in run.covered.get(site.path, ()):
            return ""
        return f"the compile site at {site.path}:{site.line} did not run, and another compiled this"
    head = _head(finding, outlines)
    if head is None or (head.path, head.text) == (run.compiled.path, run.compiled.text):
        return _given_up(finding, run, outlines)
    return f"the program compiles {head.text}, and here {run.compiled.text} was compiled"


def _given_up(finding: Finding, run: Run, outlines: Outlines) -> str:
    """Where Dynamo gave up a function that leads to the finding's: what that hands on came from eager mode then, a number that
    somebody drew for one, and not from the graph."""
    for step in finding.chain[:-1]:
        name = step.text.strip().removesuffix("()")
        above = [function for function in outlines(step.path).functions if function.name == name]
        for item in run.breaks:
            if item.skips and item.path == step.path and any(one.first <= item.line <= one.last for one in above):
                return f"Dynamo gave up {name} at line {item.line}, which leads here, and compiled this by itself"
    return ""


def compiled_itself(finding: Finding, runs: list[Run], outlines: Outlines) -> bool:
    """Whether runs compiled the function of a finding that the program leaves eager."""
    path = finding.path
    function = outlines(path).function_at(finding.span.line)
    if function is None:
        return False
    # Dynamo tells no lines of a function that it gives up; its break does.
    lines = {line for run in runs for line in run.traced.get(path, ())}
    for run in runs:
        for item in run.breaks:
            places = [(item.path, item.line), *((step.path, step.line) for step in item.stack)]
            lines |= {line for at, line in places if at == path}
    return any(function.first <= line <= function.last for line in lines)


def _head(finding: Finding, outlines: Outlines) -> Step | None:
    """The function or class that the chain of a finding begins with: what its site compiles."""
    for step in finding.chain:
        name = step.text.strip().removesuffix("()")
        known = outlines(step.path)
        owner, _, method = name.rpartition(".")
        if owner in known.classes and method in FORWARDS:
            return Step(step.path, step.line, owner)
        if name in known.classes or any(function.name == name for function in known.functions):
            return Step(step.path, step.line, name)
    return None


def _site(finding: Finding, outlines: Outlines) -> Step | None:
    """The compile call of a finding, where it is a statement of a function: one of a file's own level, or a decorator, has
    run wherever what it compiles can be called."""
    if not finding.begins_with_site or not finding.chain or "compile" not in finding.chain[0].text:
        return None
    site = finding.chain[0]
    function = outlines(site.path).function_at(site.line)
    return site if function is not None and site.line > function.line else None
