"""State outside a call that changes from call to call: module-level names, captured variables, attributes of modules."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from tclint.program import Assignment, Function, Module
from tclint.sources.text import lines_of
from tclint.sources.tree import FUNCTIONS, nodes, own
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, Const, Dict, Instance, Object, Seq, Value
from tclint.values.evidence import Variation
from tclint.values.moments import StatePlace

if TYPE_CHECKING:
    from tclint.events import Event

_IN_THE_GRAPH: Final = facts.named("is a setting of a layer that is no part of the program")

Changes = Mapping[str, ast.expr | None]
"""What changes, by its name, with what it is bound to at first."""
GROWS = frozenset(facts.named("makes a container grow or shrink"))
SETTLING = (bool, float, complex)
"""Constants that cost one program more at most: a flag has two values, a float becomes dynamic."""


def changed_globals(module: Module) -> Changes:
    """The module-level names that functions of the file change, as `X`, `X["key"]`, `X.attr`, or `X()` where it grows or
    shrinks; with what they are bound to at first, where that can be read."""
    return module.index(_find_changes)


def changed_captures(function: Function) -> Changes:
    """The same for the variables that a function captures and reads: what the functions beside it do to them."""
    if function.parent is None:
        return {}
    changed = function.parent.index(_find_captures)
    if not changed:
        return {}
    captured = function.free_names() - function.bound_names()
    return {name: value for root in captured & changed.keys() for name, value in changed[root].items()}


def _find_captures(outer: Function) -> dict[str, dict[str, ast.expr | None]]:
    """By variable of a function, the changes that functions inside it make."""
    names = outer.bound_names()
    changes: set[str] = set()
    for node in ast.walk(outer.node):
        if isinstance(node, FUNCTIONS) and node is not outer.node:
            changes.update(_changes_in(node, names, ast.Nonlocal))
    found: dict[str, dict[str, ast.expr | None]] = {}
    for name, value in _with_values(changes, _first_values(outer.node) if changes else {}).items():
        found.setdefault(_root(name), {})[name] = value
    return found


def reads(function: Function, changed: Changes) -> Iterator[tuple[str, ast.expr]]:
    """Where a function reads something that changes: NAME, NAME["key"] or NAME.attr."""
    return ((name, node) for name, node in function.index(_Reads).all if name in changed)


def inner(function: Function) -> Iterator[ast.AST]:
    """What runs when a function is called: its body. Defaults and decorators are evaluated where it is made."""
    body = function.node.body
    return (node for part in (body if isinstance(body, list) else [body]) for node in ast.walk(part))


class _Reads:
    """What a function reads of names that are not its own."""

    def __init__(self, function: Function) -> None:
        nodes = list(inner(function))
        declared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
        mine = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - declared
        mine |= {n.arg for n in ast.walk(function.node) if isinstance(n, ast.arg)}
        grown = {id(_grown(node)) for node in nodes}
        self.all: list[tuple[str, ast.expr]] = []
        for node in nodes:
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and id(node) not in grown:
                self.all += [(name, node) for name in _names_read(node) if _root(name) not in mine]
            whole = _whole(node)
            if whole is not None and whole.id not in mine:
                self.all.append((f"{whole.id}{{}}", whole))
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in declared:
                self.all.append((node.target.id, node.target))


def settles(value: ast.expr | None) -> bool:
    """Whether a name that is first bound to this costs no more than one program when it changes: a flag, a float, a tensor."""
    if isinstance(value, ast.Constant):
        return value.value is None or isinstance(value.value, SETTLING)
    if isinstance(value, ast.UnaryOp):
        return settles(value.operand)
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith(("torch.", "nn."))


def changing(event: Event, node: ast.AST) -> tuple[str, Variation] | None:
    """The state in an expression that is written between calls, as it stands there, and what it costs where it is burnt in."""
    function = event.enclosing
    if function is None:
        return None
    for part in _parts(function, node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            owner = event.ask.local(part.value.id)
            if isinstance(owner, Instance):
                varied = attribute_change(event, owner, part.attr, burned=True)
                if not varied.hazard:
                    varied = object_difference(event, owner, part.attr)
                if not varied.hazard and event.evidence is not None:
                    varied = event.evidence.held(owner.cls, part.attr)
                if varied.hazard:
                    return ast.unparse(part), varied
        elif isinstance(part, ast.Name) and event.evidence is not None and event.ask.captures(part.id):
            varied = event.evidence.captured(part.id, burned=True)
            if varied.hazard:
                return part.id, varied
    wanted = {id(part) for part in nodes(node)}
    for _, read, varied in changed_reads(event, burned=True):
        if id(read) in wanted:
            return ast.unparse(read), varied
    return None


_STEPS = 3
"""How many names an expression is followed through."""


def _parts(function: Function, node: ast.AST) -> list[ast.AST]:
    """The parts of an expression, and of what its names are bound to where that is in one place: `keep = 1 - self.p`."""
    found = list(ast.walk(node))
    bound = function.node_index(_bound_once)
    followed: set[str] = set()
    fresh = found
    for _ in range(_STEPS):
        names = {part.id for part in fresh if isinstance(part, ast.Name)} & bound.keys() - followed
        followed |= names
        fresh = [part for name in sorted(names) for part in ast.walk(bound[name])]
        found = [*found, *fresh]
    return found


def _bound_once(function: ast.AST) -> dict[str, ast.expr]:
    """What names of a function are bound to that it binds once, by a plain assignment."""
    stores: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    for node in nodes(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores[node.id] = stores.get(node.id, 0) + 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
    return {name: value for name, value in values.items() if stores.get(name) == 1}


def object_difference(event: Event, owner: Instance, name: str) -> Variation:
    """What an attribute costs that differs between objects whose code is compiled once for all: layers compiled one by
    one, a compiled method."""
    site = event.site
    if site is None or not (site.many or site.decorator):
        return Variation(0, "")
    init = owner.cls.methods.get("__init__")
    best = Variation(0, "")
    for parameter in _parameters_of(init, name) if init is not None else ():
        for values in event.ask.made_with(owner.cls, parameter):
            if len(values) > best.programs:
                where, shown = next(iter(values.values())), ", ".join(f"{value}" for value in list(values)[:3])
                best = Variation(len(values), f"made at {where} with {parameter} = {shown}, …", "made")
    return best


def _parameters_of(init: Function, attribute: str) -> set[str]:
    """The parameters of a constructor that an attribute is computed from."""
    known = {argument.arg for argument in (*init.node.args.args[1:], *init.node.args.kwonlyargs)}
    return known & init.node_index(_sources).get(attribute, set())


def _sources(constructor: ast.AST) -> dict[str, set[str]]:
    """The names that attributes are first computed from."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(constructor):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Attribute):
                assert isinstance(node, ast.Assign)
                found.setdefault(target.attr, {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)})
    return found


def attribute_change(event: Event, owner: Instance, name: str, burned: bool = False) -> Variation:
    """What an attribute costs that eager code writes between the calls in sight."""
    if event.evidence is None:
        return Variation(0, "")
    place: StatePlace = ("attribute", owner.cls.module.path, owner.cls.qualname, name)
    first = event.ask.attributes(owner).get(name)
    settles = not event.ask.is_nn_module(owner.cls)
    return event.evidence.change(place, first, burned, settles)


def layer_change(event: Event, layers: Iterable[str]) -> tuple[str, Variation]:
    """What of torch's layers of some classes eager code writes between the calls in sight, and what it costs: they hand it to
    an operation, which writes it into the program."""
    evidence = event.evidence
    if evidence is None:
        return "", Variation(0, "")
    written = [place for place in evidence.writes("attribute") if not place[1]]
    of = frozenset(layers) if written else ()
    named = ((f"{place[2]}.{place[3]}", place) for place in written if place[2] in of)
    varied = [(name, evidence.change(place, None, True)) for name, place in named if name not in _IN_THE_GRAPH]
    return max(varied, key=lambda each: each[1].programs, default=("", Variation(0, "")))


def layers_in(held: Value) -> Iterator[str]:
    """The classes of torch's layers in a value."""
    if isinstance(held, Object):
        yield held.name
        held = held.args if held.args is not None else UNKNOWN
    if isinstance(held, (Seq, Dict)):
        for part in held.held_items() or (held.element(),):
            yield from layers_in(part) if isinstance(part, (Object, Seq, Dict)) else ()


def changed_reads(event: Event, burned: bool = False) -> Iterator[tuple[StatePlace, ast.expr, Variation]]:
    """What the function reads of its file, or captures, that is written between the calls in sight and costs programs."""
    evidence, function = event.evidence, event.enclosing
    if evidence is None or function is None:
        return
    path = event.module.path
    outer = function.parent.qualname if function.parent is not None else None
    names: dict[str, StatePlace] = {}
    for place in (*evidence.writes("global"), *evidence.writes("cell")):
        if (
            place[1] == path
            and place[2] in ("", outer)
            and not (place[0] == "global" and _shadowed(function, place[3]))
        ):
            names[place[3]] = place
    if not names:
        return
    firsts = {**changed_globals(event.module), **changed_captures(function)}
    for name, place in list(names.items()):
        outer_key, _, inner = name.removesuffix("]").rpartition("[")
        if outer_key.endswith("]") and inner in function.index(_keys_read):
            names.setdefault(outer_key, place)  # `pool = CONFIG["pool"]`, then `pool["kernel"]`
    for name, node in reads(function, dict.fromkeys(names)):
        varied = evidence.change(names[name], _constant(firsts.get(name)), burned)
        if varied.hazard:
            yield names[name], node, varied


def _shadowed(function: Function, name: str) -> bool:
    """Whether a name of the file is one of a function around, too, and so means that one here."""
    plain = re.split(r"[.\[(]", name, maxsplit=1)[0]
    around = function.parent
    while around is not None:
        if plain in around.bound_names() and plain not in _declared_global(around.node):
            return True
        around = around.parent
    return False


def _declared_global(node: ast.AST) -> set[str]:
    return {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}


def _constant(node: ast.expr | None) -> Value | None:
    return Const(node.value) if isinstance(node, ast.Constant) else None


def _whole(node: ast.AST) -> ast.Name | None:
    """A name of which all keys are read: `len(x)`, `x.items()`, `for key in x`. One key guards on that key alone."""
    found: ast.AST | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        found = node.args[0]
    elif isinstance(node, ast.Attribute) and node.attr in facts.methods("walks a dict"):
        found = node.value
    elif isinstance(node, (ast.For, ast.comprehension)):
        found = node.iter
    return found if isinstance(found, ast.Name) else None


def _names_read(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
        yield f"{node.id}()"
    elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.value, ast.Name):
        if isinstance(node.ctx, ast.Load):
            if isinstance(node, ast.Attribute):
                yield f"{node.value.id}.{node.attr}"
            elif isinstance(node.slice, ast.Constant):
                yield f"{node.value.id}[{node.slice.value!r}]"
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Load):
        yield from (f"{name}[{node.slice.value!r}]" for name in _names_read(node.value) if name.endswith("]"))


def _keys_read(function: Function) -> frozenset[str]:
    """The constants that a function looks something up with."""
    found = (n.slice for n in ast.walk(function.node) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load))
    return frozenset(repr(key.value) for key in found if isinstance(key, ast.Constant))


def _root(name: str) -> str:
    return name.partition("[")[0].partition(".")[0].removesuffix("()")


def _with_values(names: Iterable[str], first: Changes) -> Changes:
    """What is bound at first to names, and to `X["key"]` where X is bound to a dict that can be read."""
    result: dict[str, ast.expr | None] = {}
    items: dict[str, dict[str, ast.expr]] = {}
    for name in names:
        root = _root(name)
        value = first.get(root)
        if name == root:
            result[name] = value
        elif "[" in name and isinstance(value, ast.Dict):
            if root not in items:
                pairs = zip(reversed(value.keys), reversed(value.values), strict=True)
                items[root] = {f"{root}[{k.value!r}]": held for k, held in pairs if isinstance(k, ast.Constant)}
            result[name] = items[root].get(name)
        else:
            result[name] = None
    return result


def _first_values(scope: ast.AST) -> dict[str, ast.expr | None]:
    """What the names of a function or file are bound to first."""
    found: dict[str, ast.expr | None] = {}
    for node in own(scope):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, node.value)
    return found


def _find_changes(module: Module) -> Changes:
    names = {name for name, definition in module.names.items() if isinstance(definition, Assignment)}
    found: set[str] = set()
    # Most functions change no global: their text says so faster than their tree.
    lines = list(_suspects(module.data, {name.encode() for name in names})) if names else []
    for function in module.functions if lines else ():
        first, end = function.lines
        place = bisect_left(lines, first)
        if place < len(lines) and lines[place] <= end:
            found.update(_changes_in(function.node, names, ast.Global))
    values = _first_values(module.tree) if found else {}
    return _with_values(found, values)


_SUSPECT = re.compile(
    rb"\n[ \t]+(?:(global) |([\w\x80-\xff]+)(?:(?:\[[^\]\n]*\]|\.[\w\x80-\xff]+)[ \t]*[-+*/|]?=(?!=)|\.(?:"
    + "|".join(sorted(GROWS)).encode()
    + rb")\())"
)


def _suspects(data: bytes, names: set[bytes]) -> Iterator[int]:
    """The indented lines that start with `global` or with a change of one of the names."""
    line, counted, data = 0, 0, lines_of(data)
    for match in _SUSPECT.finditer(data):
        if match[1] or match[2] in names:
            line += data.count(b"\n", counted, match.start() + 1)
            counted = match.start() + 1
            yield line


def _changes_in(
    function: ast.AST, names: AbstractSet[str], declaration: type[ast.Global] | type[ast.Nonlocal]
) -> Iterator[str]:
    """What a function changes of names that are not its own."""
    nodes = list(ast.walk(function))
    local = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    declared = {n for d in nodes if isinstance(d, declaration) for n in d.names}
    local -= declared
    for node in nodes:
        grown = _grown(node)
        if grown is not None and grown.id in names and grown.id not in local:
            yield f"{grown.id}()"
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and target.id in declared and target.id in names:
                yield target.id
            elif isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(target.value, ast.Name):
                if target.value.id not in names or target.value.id in local:
                    continue
                if isinstance(target, ast.Attribute):
                    yield f"{target.value.id}.{target.attr}"
                elif isinstance(target.slice, ast.Constant):
                    yield f"{target.value.id}[{target.slice.value!r}]"


def _grown(node: ast.AST) -> ast.Name | None:
    """The name in `X.append(…)` and the like."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWS:
        return node.func.value if isinstance(node.func.value, ast.Name) else None
    return None
