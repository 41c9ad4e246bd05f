"""One switch of Dynamo's configuration instead of a change at every line that it cures."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tclint.fixes.imports import after_imports
from tclint.fixes.places import Place, inserted, lines_of
from tclint.fixes.uses import uses_in
from tclint.model.finding import Applicability, Edit, Effect, Finding, Fix, Switch
from tclint.sources.text import Unparsable, parse

if TYPE_CHECKING:
    from tclint.events import Event

_PRICE: Final = (
    "the switch holds for everything that the process compiles; the host still waits, a branch or a loop on the value still "
    "breaks, and what cannot do with a size that only the graph knows raises: try it, or let --verify try it"
)

_NAMED: Final = 3
"""Hazards that are named where a switch makes more."""


def switch_on(event: Event, setting: str, price: str = _PRICE) -> Fix | None:
    """`torch._dynamo.config.SETTING = True` in the file that compiles; once, however many findings it cures.

    Where nothing in the program compiles, the file of the finding is the nearest there is. A site in another file is
    named; its text is looked at where fixes are asked for.
    """
    if event.configured(setting):
        return None  # it is on, and did not help
    if _is_handed(event):
        return None
    site = event.site
    module = event.module
    if site is not None and site.path != module.path:
        title = f"set torch._dynamo.config.{setting} = True before {site.path}:{site.line}"
        return Fix(title, Applicability.DISPLAY, (), price, Switch(setting, site.path))
    made = _edit(module.path, module.data, module.tree, setting)
    if made is None:
        return None
    line, edit = made
    return Fix(f"set {line}", Applicability.UNSAFE, (edit,), price, Switch(setting, module.path))


def _is_handed(event: Event) -> bool:
    """Whether the line stands in a function that another one defines and hands to somebody, as to `torch.vmap`: what calls
    it may have no room for a value or a size of that kind."""
    functions = [n for n in Place(event).chain if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if len(functions) < 2:
        return False
    inner = functions[-1]
    return any(
        not (isinstance(above[-1], ast.Call) and above[-1].func is read)
        for read, above in uses_in(functions[-2]).reads(inner.name)
    )


def resolved(findings: Iterable[Finding], text: Callable[[str], bytes | None]) -> list[Finding]:
    """The findings, those that a switch in another file cures with the edit of that file.

    `text` gives the bytes of a file of the run, None where it may not be changed.
    """
    edits: dict[Switch, Edit | None] = {}
    found = []
    for finding in findings:
        fix = finding.fix
        if fix is not None and fix.switch is not None and not fix.edits and fix.switch.path != finding.path:
            if fix.switch not in edits:
                data = text(fix.switch.path)
                edits[fix.switch] = _elsewhere(fix.switch, data) if data is not None else None
            edit = edits[fix.switch]
            if edit is not None:
                finding = replace(finding, fix=replace(fix, applicability=Applicability.UNSAFE, edits=(edit,)))
        found.append(finding)
    return found


def priced(finding: Finding, prices: Mapping[Switch, Sequence[Finding]]) -> Finding:
    """A finding whose fix says what its switch makes elsewhere."""
    fix = finding.fix
    if fix is None or fix.switch is None or fix.switch not in prices:
        return finding
    return replace(finding, fix=replace(fix, note="; ".join(filter(None, (made(prices[fix.switch]), fix.note)))))


def made(hazards: Sequence[Finding]) -> str:
    """The hazards that a switch makes, in words."""
    named = [f"{each.path}:{each.line} ({each.code})" for each in hazards[:_NAMED]]
    more = f" and {len(hazards) - _NAMED} more" if len(hazards) > _NAMED else ""
    what = "finding" if any(each.effect is not Effect.GRAPH_BREAK for each in hazards) else "break"
    return f"it makes {len(hazards)} new {what}{'s' * (len(hazards) > 1)}, at {', '.join(named)}{more}"


def _elsewhere(switch: Switch, data: bytes) -> Edit | None:
    try:
        tree = parse(switch.path, data)
    except (Unparsable, RecursionError):
        return None  # told where the file is read
    made = _edit(switch.path, data, tree, switch.setting)
    return made[1] if made is not None else None


def _edit(path: str, data: bytes, tree: ast.Module, setting: str) -> tuple[str, Edit] | None:
    """The line that sets the switch, and where it goes: behind the imports of a file that imports torch."""
    body = tree.body
    torch, imported = _torch(body)
    if not torch:
        return None
    # torch may come later than the first of the imports: `import logging`, a logger, the others.
    at = max(after_imports(body) or 0, imported)
    line = f"{torch}._dynamo.config.{setting} = True"
    new = f"\n{line}"
    # A switch that is there already: the two stand together.
    following = body[at + 1 :]
    while following and _is_switch(following[0], torch):
        at, new = at + 1, line
        following = following[1:]
    last = body[at]
    end = last.end_lineno or last.lineno
    if following and following[0].lineno <= end:
        return None  # `import torch; x = 1`
    return line, inserted(path, lines_of(path, data), end + 1, new)


def _torch(body: Sequence[ast.stmt]) -> tuple[str, int]:
    """What torch is called at the top level of a file, and which statement imports it."""
    for number, statement in enumerate(body):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.name == "torch" or (alias.asname is None and alias.name.startswith("torch.")):
                    # With the imports that follow it.
                    following = enumerate(body[number:], number)
                    rest = itertools.takewhile(
                        lambda each: isinstance(each[1], (ast.Import, ast.ImportFrom)), following
                    )
                    return alias.asname or "torch", max(at for at, _ in rest)
    return "", 0


def _is_switch(statement: ast.stmt, torch: str) -> bool:
    return isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]).startswith(
        f"{torch}._dynamo.config."
    )
