"""One switch of Dynamo's configuration instead of a change at every line that it cures."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.fixes.imports import after_imports
from tclint.fixes.places import Place
from tclint.model.finding import Applicability, Fix

if TYPE_CHECKING:
    from tclint.events import Event

_PRICE: Final = (
    "the switch holds for everything that the process compiles, the host still waits for the value, and a branch or a loop "
    "on it breaks the graph as before; a library leaves the switch to the program that compiles"
)


def switch_on(event: Event, setting: str) -> Fix | None:
    """`torch._dynamo.config.SETTING = True` in the file that compiles; once, however many findings it cures.

    Where nothing in the program compiles, the file of the finding is the nearest there is. A site in another file is
    named, and left to a person.
    """
    if event.configured(setting):
        return None  # it is on, and did not help
    site = event.site
    if site is not None and site.path != event.module.path:
        title = f"set torch._dynamo.config.{setting} = True before {site.path}:{site.line}"
        return Fix(title, Applicability.DISPLAY, (), _PRICE)
    place = Place(event, event.module.tree)
    torch = place.importing("torch")
    body = event.module.tree.body
    at = after_imports(body)
    if torch is None or torch[1] or at is None:
        return None
    line = f"{torch[0]}._dynamo.config.{setting} = True"
    text = f"\n{line}"
    # A switch that is there already: the two stand together.
    following = body[at + 1 :]
    while following and _is_switch(following[0], torch[0]):
        at, text = at + 1, line
        following = following[1:]
    last = body[at]
    if not place.owns_its_lines(last):
        return None
    edit = place.insert_line((last.end_lineno or last.lineno) + 1, text)
    return Fix(f"set {line}", Applicability.UNSAFE, (edit,), _PRICE)


def _is_switch(statement: ast.stmt, torch: str) -> bool:
    return isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]).startswith(
        f"{torch}._dynamo.config."
    )
