"""Registries: tables that a program fills where it defines things, and reads by name where it builds a model.

`TABLE["relu"] = ReLU` at the top of a file, `@register("relu")` above a class, `@NECKS.register_module()`: whoever reads the
table gets what was put there. A store into a table by a function counts where its value is a parameter of that function;
who calls the function, or writes it above a definition, is asked of all files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.program import Class, Function, Import, Module, mentioning
from tclint.sources.text import lines_of
from tclint.sources.tree import holders, names_read, own
from tclint.values import UNKNOWN, ClassValue, Const, Dict, FunctionValue, Instance, Value, join_all

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_MOST: Final = 32
"""Entries of a registry from which on reading it says nothing: one of so many, whichever."""
_STEPS: Final = 3
"""Imports between an object with a table and the class that has the method which fills it."""
_AT_TOP: Final = re.compile(rb"\n\w+(?:\[[^\n]*\][ \t]*=[^=]|\.update\()")
_OF_A_NAME: Final = re.compile(rb"\n[ \t]+[\w.]+\[[^\n]*\][ \t]*=[ \t]*\w+[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_USED: Final = re.compile(rb"\n(?:[ \t]*@[ \t]*(?=\w)|(?=[\w.]+\())([\w.]+)")
"""How stores look, before a file is parsed for them: `TABLE["relu"] = …`, of a parameter in a function; and uses of a function that stores."""
_DEFINITIONS: Final = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Filler:
    """A function that puts what it is given into a table."""

    #: The name of a table of the file, or `self.attribute`.
    table: str
    function: str
    cls: str
    #: 0: it is given the value itself; 1: it makes a decorator, which is.
    depth: int
    #: Where the value stands among the arguments of what is given it, the receiver left out.
    place: int
    #: The parameters of the outer and of the inner function, and what they are where a call leaves them out.
    outer: tuple[tuple[str, ast.expr | None], ...]
    inner: tuple[tuple[str, ast.expr | None], ...]
    #: The key under which it stands there; None where a name in it is bound anew before.
    key: ast.expr | None


def filled(interp: Interpreter, module: Module, name: str, table: Dict) -> Dict:
    """A table at the top level of a file, with what the file and its registering functions put into it."""
    items, others = dict(table.items), [table.elem] if table.elem is not None else []
    frame = interp.names.frame(module)
    for key, value in module.index(_stored).get(name, ()):
        _put(items, others, evaluate(frame, key), evaluate(frame, value))
    for filler in module.index(_fillers):
        if filler.table == name:
            _put_all(interp, module, filler, None, items, others)
    return _table(table, items, others)


def is_filled(module: Module, name: str) -> bool:
    """Whether more is put into a table than the statement says that makes it."""
    return name in module.index(_stored) or any(filler.table == name for filler in module.index(_fillers))


def holds(interp: Interpreter, instance: Instance, name: str) -> bool:
    """Whether an attribute of an object is a table that its methods fill."""
    return any(
        filler.table == f"self.{name}" and filler.cls == ancestor.qualname
        for ancestor in interp.classes.mro(instance.cls)
        for filler in ancestor.module.index(_fillers)
    )


def fill(interp: Interpreter, instance: Instance, held: dict[str, Value]) -> None:
    """The same for the tables that an object of the program holds."""
    if not any(isinstance(value, Dict) for value in held.values()):
        return  # most hold none, and looking for who fills one reads whole files
    for ancestor in interp.classes.mro(instance.cls):
        for filler in ancestor.module.index(_fillers):
            name = filler.table.partition(".")[2]
            table = held.get(name) if filler.cls == ancestor.qualname else None
            if isinstance(table, Dict):
                items, others = dict(table.items), [table.elem] if table.elem is not None else []
                _put_all(interp, ancestor.module, filler, instance, items, others)
                held[name] = _table(table, items, others)


def _table(table: Dict, items: dict[Any, Value], others: list[Value]) -> Dict:
    if len(items) == len(table.items) and len(others) == (table.elem is not None):
        return table
    return Dict(items, join_all(others) if others else None, table.kind)


def _put(items: dict[Any, Value], others: list[Value], key: Value, value: Value) -> None:
    if isinstance(key, Const) and isinstance(key.value, str):
        items[key.value] = value
    else:
        others.append(value)


def _put_all(
    interp: Interpreter,
    module: Module,
    filler: Filler,
    instance: Instance | None,
    items: dict[Any, Value],
    others: list[Value],
) -> None:
    """Add what a filler was given, wherever in the program."""
    uses = interp.program.answers(_uses, filler.function)
    if sum(len(places) for places in uses.values()) > _MOST:
        others.append(UNKNOWN)
        return
    by_path = interp.program.by_path
    found_in: set[str] = set()
    entries: list[tuple[Value, Value]] = []
    for path in sorted(uses):
        frame = interp.names.frame(by_path[path])
        for place in uses[path]:
            found = _given(interp, frame, place, filler)
            if found is None:
                continue
            call, value, asked = found
            if _is(evaluate(frame, asked), module, filler, instance):
                found_in.add(ast.unparse(asked).rpartition(".")[0] if instance is not None else "")
                entries.append((_key(interp, module, frame, filler, call, value), value))
    if len(found_in) > 1:
        others.append(UNKNOWN)  # objects of one class, each with a table of its own: whose this is, is not known
        return
    for key, value in entries:
        _put(items, others, key, value)


def _given(
    interp: Interpreter, frame: Frame, place: int, filler: Filler
) -> tuple[ast.Call | None, Value, ast.expr] | None:
    """The call of a filler at a place of a file, what it is given there, and the expression that names it."""
    statement = frame.module.tree.body[place]
    if isinstance(statement, _DEFINITIONS):
        marks = [mark for mark in statement.decorator_list if _last_name(mark) == filler.function]
        defined = frame.module.named(statement.name)
        if not marks or not isinstance(defined, (Class, Function)):
            return None
        mark = marks[0]
        value = ClassValue(defined) if isinstance(defined, Class) else interp.functions.value(defined)
        if isinstance(mark, ast.Call):
            return (mark, value, mark.func) if filler.depth == 1 else None
        return (None, value, mark) if filler.depth == 0 else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) <= filler.place:
        return None
    if filler.depth == 1:  # register("relu")(ReLU)
        inner = call.func
        return (inner, evaluate(frame, call.args[filler.place]), inner.func) if isinstance(inner, ast.Call) else None
    return call, evaluate(frame, call.args[filler.place]), call.func


def _is(found: Value, module: Module, filler: Filler, instance: Instance | None) -> bool:
    """Whether a value is the filler, of an object where the table is one's."""
    if not isinstance(found, FunctionValue) or found.function.module is not module:
        return False
    owner = f"{filler.cls}.{filler.function}" if filler.cls else filler.function
    if found.function.qualname != owner:
        return False
    return instance is None or found.bound is not None and found.bound.key == instance.key


def _key(
    interp: Interpreter, module: Module, user: Frame, filler: Filler, call: ast.Call | None, value: Value
) -> Value:
    """The key under which a filler puts a value."""
    if filler.key is None:
        return UNKNOWN
    home = interp.names.frame(module)
    given: dict[str, Value] = {}
    for parameters in (filler.outer, filler.inner):
        given |= {name: evaluate(home, left) if left is not None else UNKNOWN for name, left in parameters}
    if call is not None:
        named = filler.outer if filler.depth == 1 else filler.inner
        for (name, _), each in zip(named, call.args, strict=False):
            given[name] = evaluate(user, each)
        known = {name for name, _ in named}
        given |= {each.arg: evaluate(user, each.value) for each in call.keywords if each.arg in known}
    given[filler.inner[filler.place][0]] = value
    return evaluate(Frame(interp, module, None, given, None), filler.key)


# -- whose tables a file fills ---------------------------------------------------------------------------------------


def keepers(module: Module) -> tuple[str, ...]:
    """The paths of the files that may keep something of this one in a table: who reads it there need not import it.

    Told by names alone, and of more files than really do.
    """
    found: dict[str, None] = {}
    for dotted in sorted(set(_USED.findall(lines_of(module.data)))):
        *head, function = dotted.decode("utf-8", "replace").split(".")
        homes = [home for home in _homes(module, head[0] if head else function) if home is not module]
        behind = _imported(homes, f"def {function}".encode()) if head else homes
        if any(filler.function == function for each in behind for filler in each.index(_fillers)):
            found.update(dict.fromkeys(home.path for home in homes))
    return tuple(found)


def _homes(module: Module, name: str) -> list[Module]:
    """The files in which a name of a file is looked up, through the imports that hand it on."""
    find = module.program.find
    seen: dict[tuple[Module, str], None] = {}
    ahead = [(module, name)]
    while ahead:
        home, name = ahead.pop()
        if (home, name) in seen:
            continue
        seen[home, name] = None
        definition = home.named(name)
        if isinstance(definition, Import):
            dotted = f"{definition.target}.{definition.attribute}".rstrip(".")
            for target, inner in ((definition.target, definition.attribute), (dotted, "")):
                if (other := find(home, target)) is not None:
                    ahead.append((other, inner))
        elif definition is None and name:
            ahead += [(other, name) for star in home.stars if (other := find(home, star)) is not None]
    return list(dict.fromkeys(home for home, _ in seen))


def _imported(modules: Iterable[Module], text: bytes) -> list[Module]:
    """Files and what they import, of a few steps: those that hold a text."""
    found = dict.fromkeys(modules)
    last = list(found)
    for _ in range(_STEPS):
        names = [(each, d.target) for each in last for d in each.names.values() if isinstance(d, Import)]
        near = (each.program.find(each, target) for each, target in dict.fromkeys(names))
        last = [each for each in dict.fromkeys(near) if each is not None and each not in found]
        found.update(dict.fromkeys(last))
    return [each for each in found if text in each.data]


# -- what a file says -----------------------------------------------------------------------------------------------


def _stored(module: Module) -> Mapping[str, tuple[tuple[ast.expr, ast.expr], ...]]:
    """By table, the keys and values that statements at the top level of a file put there."""
    if _AT_TOP.search(lines_of(module.data)) is None:
        return {}
    found: dict[str, list[tuple[ast.expr, ast.expr]]] = {}
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            target = statement.targets[0]
            if isinstance(target.value, ast.Name):
                found.setdefault(target.value.id, []).append((target.slice, statement.value))
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            if (
                isinstance(call.func, ast.Attribute)
                and call.func.attr == "update"
                and isinstance(call.func.value, ast.Name)
            ):
                found.setdefault(call.func.value.id, []).extend(_updates(call))
    return {name: tuple(pairs) for name, pairs in found.items()}


def _updates(call: ast.Call) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The keys and values of `table.update({"a": A}, b=B)`."""
    for argument in call.args:
        if isinstance(argument, ast.Dict):
            yield from ((key, value) for key, value in zip(argument.keys, argument.values, strict=True) if key)
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield ast.copy_location(ast.Constant(keyword.arg), keyword.value), keyword.value


def _fillers(module: Module) -> tuple[Filler, ...]:
    """The functions and methods of a file that put an argument of theirs into a table."""
    if _OF_A_NAME.search(lines_of(module.data)) is None:
        return ()
    defined = [
        *((node, "") for node in module.tree.body if isinstance(node, ast.FunctionDef)),
        *(
            (node, cls.name)
            for cls in module.tree.body
            if isinstance(cls, ast.ClassDef)
            for node in cls.body
            if isinstance(node, ast.FunctionDef)
        ),
    ]
    direct = _once(filler for node, cls in defined for filler in _stores_of(node, cls, module.names))
    if not direct:
        return ()
    called = {(each.cls, each.function): each for each in direct if not each.depth}
    return _once((*direct, *(filler for node, cls in defined for filler in _hands_on(node, cls, called))))


def _once(fillers: Iterable[Filler]) -> tuple[Filler, ...]:
    """Each function once for a table; under any key where it stores under several."""
    found: dict[tuple[str, str, str, int, int], Filler] = {}
    for each in fillers:
        place = (each.table, each.cls, each.function, each.depth, each.place)
        found[place] = each if place not in found else replace(each, key=None)
    return tuple(found.values())


def _stores_of(node: ast.FunctionDef, cls: str, tables: Container[str]) -> Iterator[Filler]:
    # Few functions store anything so: the statements are looked at first, and what else is asked after that.
    every = [*holders(node)]
    if not any(type(each) is ast.Assign and type(each.targets[0]) is ast.Subscript for each in every):
        return
    bound = _bound(node)
    for inner in (node, *(each for each in every if isinstance(each, ast.FunctionDef) and each is not node)):
        names = [name for name, _ in _parameters(inner, cls if inner is node else "")]
        anew = bound if inner is node else bound | _bound(inner)
        for statement in own(inner):
            if type(statement) is not ast.Assign:
                continue
            target = statement.targets[0]
            if not isinstance(target, ast.Subscript):
                continue
            table, value = _dotted(target.value, node if cls else None), statement.value
            known = table in tables or table.startswith("self.")
            if known and isinstance(value, ast.Name) and value.id in names:
                key = None if names_read([target.slice]) & anew else target.slice
                yield _filler(table, node, inner, cls, names.index(value.id), key)


def _hands_on(node: ast.FunctionDef, cls: str, fillers: Mapping[tuple[str, str], Filler]) -> Iterator[Filler]:
    """The functions that hand an argument of theirs to one that stores it: under a key that is not followed."""
    for inner in (node, *(each for each in holders(node) if isinstance(each, ast.FunctionDef) and each is not node)):
        names = [name for name, _ in _parameters(inner, cls if inner is node else "")]
        for call in own(inner):
            if type(call) is not ast.Call:
                continue
            called = _dotted(call.func, node if cls else None)
            filler = fillers.get((cls if called.startswith("self.") else "", called.removeprefix("self.")))
            if filler is None:
                continue
            name = filler.inner[filler.place][0]
            given = [each.value for each in call.keywords if each.arg == name]
            given += call.args[filler.place : filler.place + 1]
            if given and isinstance(given[0], ast.Name) and given[0].id in names:
                yield _filler(filler.table, node, inner, cls, names.index(given[0].id), None)


def _filler(
    table: str, node: ast.FunctionDef, inner: ast.FunctionDef, cls: str, place: int, key: ast.expr | None
) -> Filler:
    outer = _parameters(node, cls)
    if inner is node:
        return Filler(table, node.name, cls, 0, place, (), outer, key)
    return Filler(table, node.name, cls, 1, place, outer, _parameters(inner, ""), key)


def _parameters(node: ast.FunctionDef, cls: str) -> tuple[tuple[str, ast.expr | None], ...]:
    """The parameters of a function and what they are by default; of a method without the receiver."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    defaults = [None] * (len(arguments) - len(node.args.defaults)) + list(node.args.defaults)
    pairs = [(argument.arg, default) for argument, default in zip(arguments, defaults, strict=True)]
    return (*pairs[1 if cls else 0 :], *zip([a.arg for a in node.args.kwonlyargs], node.args.kw_defaults, strict=True))


def _bound(node: ast.FunctionDef) -> frozenset[str]:
    """The names that a function binds in its body."""
    return frozenset(each.id for each in own(node) if type(each) is ast.Name and type(each.ctx) is ast.Store)


def _dotted(node: ast.expr, method: ast.FunctionDef | None) -> str:
    """`name`, or `self.name` of the receiver of a method; nothing for what is neither."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        arguments = method.args.args if method is not None else []
        return f"self.{node.attr}" if arguments and node.value.id == arguments[0].arg else ""
    return node.id if isinstance(node, ast.Name) else ""


def _last_name(node: ast.expr) -> str:
    """The last part of the name of what is called, or of a decorator."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _used(module: Module) -> frozenset[bytes]:
    """The last names of what stands above definitions in a file, or is called by a line of its top level."""
    return frozenset(name.rpartition(b".")[2] for name in _USED.findall(lines_of(module.data)))


@mentioning(0)
def _uses(module: Module, function: str) -> tuple[int, ...]:
    """Where in the body of a file a function of this name stands above a definition, or is called for nothing else."""
    if function.encode() not in module.index(_used):
        return ()
    return tuple(
        place
        for place, statement in enumerate(module.tree.body)
        if isinstance(statement, _DEFINITIONS)
        and any(_last_name(mark) == function for mark in statement.decorator_list)
        or isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and _last_name(statement.value) == function
    )
