"""Python that Dynamo does not trace, spelled so that it does: what TCL110, TCL114, TCL116 and TCL120 offer."""

from __future__ import annotations

import ast
import builtins
import textwrap
from typing import TYPE_CHECKING, Final

from tclint.fixes.imports import first_line
from tclint.fixes.places import Place
from tclint.fixes.purity import has_effects
from tclint.fixes.recipes import FUNCTION_DEFS, quoted
from tclint.fixes.uses import uses_in
from tclint.model.finding import Applicability, Edit, Fix, Span
from tclint.sources.tree import names_read

if TYPE_CHECKING:
    from tclint.events import Event

# How many elements of a sorted list stand before the place where a value goes.
_BEFORE: Final = {"bisect": "<=", "bisect_right": "<=", "bisect_left": "<"}


def plain_class(event: Event) -> Fix | None:
    """`Box(x)` for `Box[Tensor](x)`."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Subscript):
        return None
    edit = place.replace(node.func, place.source(node.func.value))
    return Fix("call the class itself", Applicability.UNSAFE, (edit,), "the object has no `__orig_class__` then")


def plain_property(event: Event) -> Fix | None:
    """`@property` for `@functools.cached_property` on the method of this class that is read."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or event.cls is None:
        return None
    function = place.function
    if function is None or not function.args.args or function.args.args[0].arg != node.value.id:
        return None
    method = event.ask.method(event.cls, node.attr)
    if method is None or method.module.path != event.module.path or len(method.decorators) != 1:
        return None
    decorator = method.decorators[0]
    if place.source(decorator).rpartition(".")[2] != "cached_property" or "property" in place.module.names:
        return None
    note = "computed at every read: wrong where the value must be one object, or where it is written or deleted"
    return Fix("make it a plain property", Applicability.UNSAFE, (place.replace(decorator, "property"),), note)


def class_of_file(event: Event) -> Fix | None:
    """A class that a function defines, moved to the top level where it needs nothing of the function."""
    node = event.node
    place = Place(event, node)
    if not isinstance(node, ast.ClassDef) or node.name in place.module.names or not place.owns_its_lines(node):
        return None
    top = next((n for n in place.chain if isinstance(n, (*FUNCTION_DEFS, ast.ClassDef))), None)
    gone = place.remove(node)
    if top is None or gone is None or first_line(node) != node.lineno:
        return None
    if len(uses_in(place.function).stores(node.name)) > 0:
        return None  # the function binds the name once more
    lines = place.lines[node.lineno - 1 : node.end_lineno]
    texts = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    if any("\n" in text for text in texts):
        return None  # moved to the left, it would be another text
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)} | {node.name}
    free = names_read([node]) - own
    bound = uses_in(place.function).bound
    if any(name in bound or not (name in place.module.names or hasattr(builtins, name)) for name in free):
        return None
    line = first_line(top)
    while line > 1 and place.lines[line - 2].startswith("#"):
        line -= 1  # comments right above a function belong to it
    edits = (place.insert_line(line, textwrap.dedent("\n".join(lines)) + "\n\n"), gone)
    note = "there is one class then, not one for each call: wrong where its attributes are written"
    return Fix("define the class once, at the top level", Applicability.UNSAFE, edits, note)


def fields_of(event: Event) -> Fix | None:
    """`dict(vars(state))` for `dataclasses.asdict(state)`."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    edit = place.replace(node, f"dict(vars({place.source(node.args[0])}))")
    note = (
        "the values are not copied, dataclasses inside stay as they are, and attributes that are no fields come along"
    )
    return Fix("take the fields as they are", Applicability.UNSAFE, (edit,), note)


def counted(event: Event) -> Fix | None:
    """`sum(each <= n for each in bounds)` for `bisect.bisect(bounds, n)`."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Call) or len(node.args) != 2 or node.keywords or has_effects(node):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    sign = _BEFORE.get(name)
    bounds, value = node.args
    if sign is None or isinstance(bounds, ast.Starred) or isinstance(value, ast.Starred):
        return None
    if "each" in names_read([value]) or any(isinstance(n, ast.Call) for n in ast.walk(value)):
        return None  # asked once, it may not be asked for every element
    text = f"sum(each {sign} {place.operand(value)} for each in {place.argument(bounds)})"
    note = "every element is compared; the answer is the same where the list is sorted, as it must be"
    return Fix("count the elements before it", Applicability.UNSAFE, (place.replace(node, text),), note)


def own_name(event: Event) -> Fix | None:
    """`"forward"` for `inspect.currentframe().f_code.co_name` in a function of that name."""
    place = Place(event)
    code, name = (place.chain[-1], place.chain[-2]) if len(place.chain) > 1 else (None, None)
    function = place.function
    if not isinstance(code, ast.Attribute) or not isinstance(name, ast.Attribute) or function is None:
        return None
    if (code.attr, name.attr) != ("f_code", "co_name") or any(isinstance(n, ast.comprehension) for n in place.chain):
        return None
    return Fix("write the name", Applicability.SAFE, (place.replace(name, quoted(function.name)),), "")


def entered_directly(event: Event) -> Fix | None:
    """`with a(), b() as c:` for an `ExitStack` into which the first lines of the block enter them."""
    place = Place(event)
    around = next((n for n in reversed(place.chain) if isinstance(n, ast.With)), None)
    if around is None or len(around.items) != 1 or not isinstance(around.items[0].optional_vars, ast.Name):
        return None
    made, held = around.items[0].context_expr, around.items[0].optional_vars
    stack = held.id
    entered: list[str] = []
    edits = []
    for statement in around.body:
        call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
            break
        owner = call.func.value
        if call.func.attr != "enter_context" or not isinstance(owner, ast.Name) or owner.id != stack:
            break
        named = ""
        if isinstance(statement, ast.Assign):
            if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
                break
            named = f" as {statement.targets[0].id}"
        gone = place.remove(statement)
        if gone is None or "\n" in place.source(call.args[0]):
            return None
        entered.append(f"{place.argument(call.args[0])}{named}")
        edits.append(gone)
    reads = list(uses_in(place.function).reads(stack))
    if not entered or len(reads) != len(entered) or len(entered) == len(around.body):
        return None  # somebody else uses the stack
    if not isinstance(made, ast.Call) or made.args or made.keywords or place.span(made).line != around.lineno:
        return None
    head = place.span(made)
    end = place.span(held)
    if head.line != end.line:
        return None
    text = place.lines[head.line - 1][head.column - 1 : end.end_column - 1]
    if text != f"{place.source(made)} as {stack}":
        return None
    span = Span(head.line, head.column, end.end_line, end.end_column)
    edits.append(Edit(place.path, span, ", ".join(entered)))
    return Fix("enter them in the `with` itself", Applicability.SAFE, tuple(edits), "")
