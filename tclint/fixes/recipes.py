"""Fixes that several rules offer: statements skipped, removed, computed once, or written another way."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from tclint.fixes.imports import first_line
from tclint.fixes.notes import Notes, runs
from tclint.fixes.places import FunctionNode, Place
from tclint.fixes.purity import has_effects, only_logs
from tclint.fixes.uses import uses_in
from tclint.model.finding import Applicability, Edit, Fix
from tclint.program import Class, Function, Import
from tclint.sources.tree import names_read, same, within

if TYPE_CHECKING:
    import libcst as cst

    from tclint.events import Event

FUNCTION_DEFS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def skip_while_compiling(event: Event, node: ast.AST, what: str) -> Fix | None:
    """`if not torch.compiler.is_compiling():` around the statement that a call is."""
    place = Place(event, node)
    statement = place.statement
    torch = place.importing("torch")
    if statement is None or torch is None:
        return None
    name, imports = torch
    title = "guard it with torch.compiler.is_compiling()"
    note = f"in compiled runs {what}"
    if isinstance(statement, (ast.If, ast.While)) and within(node, statement.test):
        if isinstance(statement, ast.While) or not _first_operand(statement.test, node):
            return None
        if isinstance(statement.test, ast.BoolOp) and isinstance(statement.test.op, ast.Or):
            return None
        test = f"not {name}.compiler.is_compiling() and {place.source(statement.test)}"
        edit = place.replace(statement.test, test)
        return Fix(title, Applicability.UNSAFE, (*imports, edit), note)
    if not isinstance(statement, ast.Expr) or has_effects(node, top=True):
        return None
    if not same(statement.value, node):
        # `flag and print(x)`, `print(x) if flag else None`
        if not _is_last_said(statement.value, node) or has_effects(statement.value):
            return None
        rebuilt = guarded(place, statement, name)
        return Fix(title, Applicability.UNSAFE, (*imports, rebuilt), note) if rebuilt is not None else None
    outer = place.chain[-2] if len(place.chain) > 1 else None
    if isinstance(outer, ast.If) and not outer.orelse and all(only_logs(s) for s in outer.body):
        # The whole `if` is there to say something: one guard for all of it.
        test = place.source(outer.test)
        if isinstance(outer.test, (ast.NamedExpr, ast.IfExp)) or has_effects(outer.test):
            return None
        if isinstance(outer.test, ast.BoolOp) and isinstance(outer.test.op, ast.Or):
            test = f"({test})"
        edit = place.replace(outer.test, f"not {name}.compiler.is_compiling() and {test}")
        return Fix(title, Applicability.UNSAFE, (*imports, edit), note)
    rebuilt = guarded(place, statement, name)
    return Fix(title, Applicability.UNSAFE, (*imports, rebuilt), note) if rebuilt is not None else None


def _is_last_said(value: ast.expr, node: ast.AST) -> bool:
    """Whether an expression is there for a call alone, under a condition."""
    if isinstance(value, ast.BoolOp):
        return same(value.values[-1], node) and not any(
            isinstance(n, ast.Call) for v in value.values[:-1] for n in ast.walk(v)
        )
    if not isinstance(value, ast.IfExp) or any(isinstance(n, ast.Call) for n in ast.walk(value.test)):
        return False
    said, other = (value.body, value.orelse) if same(value.body, node) else (value.orelse, value.body)
    return same(said, node) and isinstance(other, ast.Constant)


def plain_while_compiling(event: Event, what: str) -> Fix | None:
    """`x if torch.compiler.is_compiling() else x.pin_memory()`: a method that changes where values lie, not the values."""
    place = Place(event)
    node = place.node
    torch = place.importing("torch")
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if torch is None or not isinstance(owner, (ast.Name, ast.Attribute)):
        return None
    text = f"{place.source(owner)} if {torch[0]}.compiler.is_compiling() else {place.source(node)}"
    if not isinstance(place.parent, (ast.Assign, ast.Return)):
        text = f"({text})"
    note = f"in compiled runs {what}"
    return Fix("do it in eager runs only", Applicability.UNSAFE, (*torch[1], place.replace(node, text)), note)


def remove_statement(
    event: Event, node: ast.AST, title: str, note: str, how: Applicability = Applicability.UNSAFE
) -> Fix | None:
    """The statement that a call is, taken out."""
    place = Place(event, node)
    statement = place.statement
    if not (isinstance(statement, ast.Expr) and same(statement.value, node)):
        return None
    edit = place.remove(statement)
    return Fix(title, how, (edit,), note) if edit is not None else None


def display(title: str, note: str = "") -> Fix:
    """A repair that only a person can make."""
    return Fix(title, Applicability.DISPLAY, (), note)


def read_once_in_init(
    event: Event, node: ast.expr, how: Applicability, note: str = "", prefix: str = "_"
) -> Fix | None:
    """An expression of `self.…` and constants, computed once in `__init__` and kept on the module."""
    place = Place(event, node)
    function, cls = place.function, place.cls
    init = next((s for s in cls.body if isinstance(s, FUNCTION_DEFS) and s.name == "__init__"), None) if cls else None
    if (
        function is None
        or init is None
        or function is init
        or cls is None
        or not function.args.args
        or not init.args.args
    ):
        return None
    me, inner = function.args.args[0].arg, init.args.args[0].arg
    if me != inner or any(
        isinstance(d, ast.Name) and d.id in ("staticmethod", "classmethod") for d in function.decorator_list
    ):
        return None
    read = _attributes_read(node, me)
    if read is None or not read or not _only_reads(node, lambda name: name == me or name in place.module.names):
        return None
    after = _assigned_in_init(cls, init, inner, read)
    if after is None or not place.owns_its_lines(after):
        return None
    name = prefix + _slug(node)
    taken = _attributes_of(cls)
    source = place.source(node)
    if "\n" in source:
        return None
    edits = [place.replace(node, f"{me}.{name}")]
    line = f"{place.indent(after)}{inner}.{name} = {source}"
    if name in taken:
        held = [s for s in init.body if isinstance(s, ast.Assign) and place.source(s) == line.strip()]
        if not held:
            return None
    else:
        edits.insert(0, place.insert_line((after.end_lineno or after.lineno) + 1, line))
    return Fix(f"read it once in __init__: {line.strip()}", how, tuple(edits), note)


def compute_at_import(event: Event, node: ast.expr, note: str) -> Fix | None:
    """A call of an imported function with constant arguments, moved to the module's top level."""
    place = Place(event, node)
    top = next((n for n in place.chain if isinstance(n, (*FUNCTION_DEFS, ast.ClassDef))), None)
    if top is None or "\n" in place.source(node) or not any(isinstance(n, ast.Call) for n in ast.walk(node)):
        return None
    line, local = first_line(top), uses_in(place.function).bound

    def is_known(name: str) -> bool:
        """What is imported, and the classes and functions that stand above."""
        what = place.module.names.get(name)
        above = isinstance(what, (Class, Function)) and what.node.lineno < line
        return name not in local and (above or isinstance(what, Import))

    if not _only_reads(node, is_known):
        return None
    call = next(n for n in ast.walk(node) if isinstance(n, ast.Call))
    if isinstance(node, (ast.Lambda, ast.Call)) and has_effects(node):
        return None
    name = "_" + _slug(call).upper()
    if name in place.module.names:
        return None
    # Comments right above a function belong to it.
    while line > 1 and place.lines[line - 2].startswith("#"):
        line -= 1
    edits = (place.insert_line(line, f"{name} = {place.source(node)}\n\n"), place.replace(node, name))
    return Fix(f"compute it once: {name} = {place.source(node)}", Applicability.UNSAFE, edits, note)


def compute_once(event: Event, note: str, done: ast.expr | None = None) -> Fix | None:
    """A constant expression around a call, or around what is `done` to an object, computed at start-up: on the module or at the
    top of the file."""
    place = Place(event, done)
    best: Fix | None = None
    for node in (place.node, *reversed(place.chain)):
        if not (isinstance(node, (ast.Call, ast.Attribute)) or node is place.node):
            break
        found = read_once_in_init(event, node, Applicability.UNSAFE, note) or compute_at_import(event, node, note)
        if found is None:
            if best is not None:
                break
            continue
        best = found
    return best


def skip_unread_store(event: Event, node: ast.AST, counted: bool = False) -> Fix | None:
    """`self.stamp = now()`, `self.times.append(now())`, `began = now()`: what is only noted down, where nothing that is
    compiled reads it, is left out of compiled runs. With `counted` only where something is counted beside it, which would
    make programs anew.
    """
    notes = Notes(event, node)
    place = notes.place
    statements = notes.statements()
    torch = place.importing("torch")
    if torch is None or not statements or (counted and not notes.counts):
        return None
    edits = [guarded(place, first, torch[0], last) for first, last in runs(place, statements)]
    made = [edit for edit in edits if edit is not None]
    if len(made) < len(edits):
        return None
    written = dict.fromkeys(f"`{place.source(owner)}`" for owner in notes.here())
    what = f"set {', '.join(written)}" if written else "note it"
    note = f"compiled runs no longer {what}: wrong where somebody reads it"
    return Fix("guard it with torch.compiler.is_compiling()", Applicability.UNSAFE, (*torch[1], *made), note)


def guarded(place: Place, first: ast.stmt, torch: str, last: ast.stmt | None = None) -> Edit | None:
    """`if not torch.compiler.is_compiling():` around neighbouring statements."""
    if last in (None, first) and first.lineno == first.end_lineno:
        return place.put_below(first, f"if not {torch}.compiler.is_compiling():")

    def change(statements: list[cst.BaseStatement]) -> Sequence[cst.BaseStatement]:
        import libcst as cst

        test = cst.parse_expression(f"not {torch}.compiler.is_compiling()")
        return [cst.If(test=test, body=cst.IndentedBlock(body=statements))]

    return place.rebuild(first, last or first, change)


def functional_form(event: Event) -> Fix | None:
    """`x = x.add(1)` for the statement `x.add_(1)`, `x = x + 1` for `x += 1`."""
    place = Place(event)
    node = place.node
    note = "the caller no longer sees the change"
    title = "use the functional form"
    if isinstance(node, ast.AugAssign):
        if not isinstance(node.target, ast.Name) or type(node.op) not in SIGNS:
            return None
        name = node.target.id
        text = f"{name} = {name} {SIGNS[type(node.op)]} {place.operand(node.value)}"
        return Fix(title, Applicability.UNSAFE, (place.replace(node, text),), note)
    statement = place.statement
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.attr in _NO_TWIN:
        return None
    if isinstance(statement, ast.Return) and statement.value is not None and same(statement.value, node):
        arguments = place.source(node)[len(place.source(func)) :]
        text = f"{place.source(func.value)}.{func.attr.rstrip('_')}{arguments}"
        return Fix(title, Applicability.UNSAFE, (place.replace(node, text),), note)
    if not isinstance(statement, ast.Expr) or not same(statement.value, node):
        return None
    name, method = func.value.id, func.attr.rstrip("_")
    arguments = place.source(node)[len(place.source(func)) :]
    edit = place.replace(node, f"{name} = {name}.{method}{arguments}")
    return Fix(title, Applicability.UNSAFE, (edit,), note)


SIGNS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.MatMult: "@",
}  # fmt: skip
# In-place methods without a functional method of the same name.
_NO_TWIN: Final = frozenset(
    "copy_ fill_ zero_ normal_ uniform_ random_ bernoulli_ exponential_ set_ resize_ requires_grad_ detach_".split()
)


def _attributes_read(node: ast.AST, me: str) -> set[str] | None:
    """The attributes of self that an expression reads; None where it uses self in another way."""
    attributes: set[str] = set()
    owners = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == me:
            attributes.add(each.attr)
        elif isinstance(each, ast.Name) and each.id == me and id(each) not in owners:
            return None
    return attributes


def _only_reads(node: ast.AST, is_known: Callable[[str], bool]) -> bool:
    """Whether an expression does nothing but read names that are known where it is moved to."""
    if any(
        isinstance(n, (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.comprehension))
        for n in ast.walk(node)
    ):
        return False
    names = names_read([node])
    return not names & _NOT_ONCE and all(is_known(n) or hasattr(builtins, n) for n in names)


# Builtins whose answer depends on where or when they are called, or that hand out what is used up.
_NOT_ONCE: Final = frozenset(
    "super locals globals vars dir print input open id eval exec next iter map filter zip enumerate reversed".split()
)


def _assigned_in_init(cls: ast.ClassDef, init: FunctionNode, me: str, wanted: set[str]) -> ast.stmt | None:
    """The statement of `__init__` after which all attributes are there, if they are set there and only there, once."""
    last: ast.stmt | None = None
    for name in wanted:
        at = [
            s
            for s in init.body
            if isinstance(s, (ast.Assign, ast.AnnAssign))
            and any(
                isinstance(t, ast.Attribute) and t.attr == name and isinstance(t.value, ast.Name) and t.value.id == me
                for t in (s.targets if isinstance(s, ast.Assign) else [s.target])
            )
        ]
        if _attributes_of(cls).get(name) != 1 or len(at) != 1:
            return None
        if last is None or at[0].lineno > last.lineno:
            last = at[0]
    return last


@functools.lru_cache(maxsize=4)  # fixes come file by file, class by class
def _attributes_of(cls: ast.ClassDef) -> dict[str, int]:
    """The attributes that a class mentions, and how often it stores each."""
    found: dict[str, int] = {}
    for node in ast.walk(cls):
        if isinstance(node, ast.Attribute):
            found[node.attr] = found.get(node.attr, 0) + (not isinstance(node.ctx, ast.Load))
    return found


def _slug(node: ast.AST) -> str:
    """A name for the value of an expression: `image_token_id` for `self.tokenizer.image_token_id`."""
    inner = node.func if isinstance(node, ast.Call) else node
    parts = [n.attr for n in ast.walk(inner) if isinstance(n, ast.Attribute)][:1]
    if isinstance(node, ast.Call) and isinstance(inner, ast.Name):
        rest = f"_{_slug(node.args[0])}" if node.args and isinstance(node.args[0], (ast.Call, ast.Attribute)) else ""
        text = f"{inner.id}{rest}"
    elif isinstance(node, ast.Call):
        text = parts[0] if parts else "value"
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        text = node.attr
    else:
        text = parts[0] if parts else "value"
    return re.sub(r"\W+", "_", text).strip("_")


def _first_operand(test: ast.AST, node: ast.AST) -> bool:
    """Whether a call is what a test asks first: `log.isEnabledFor(x)`, `log.isEnabledFor(x) and y`."""
    if same(test, node):
        return True
    if isinstance(test, ast.BoolOp):
        return _first_operand(test.values[0], node) or (isinstance(test.op, ast.And) and within(node, test))
    return False


def quoted(text: str) -> str:
    """A string literal, in double quotes where it can be."""
    plain = text.isprintable() and not set(text) & {'"', "\\"}
    return f'"{text}"' if plain else repr(text)
