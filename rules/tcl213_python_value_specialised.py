"""TCL213: flags, strings and callables as arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence

from tclint.events import Branch, Compile, Enter, Event, Operation, ProgramCall, variation
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Module
from tclint.rules._answers import Answers
from tclint.rules._scope import callee, header, target_of
from tclint.ruleset.rule import Rule
from tclint.timeline import guarded
from tclint.timeline.guarded import UNKNOWN, Guarded
from tclint.torch_facts import facts
from tclint.values import (
    ENUM,
    NEEDS_GRAD,
    PARAMETER,
    ClassValue,
    Const,
    Dict,
    Evidence,
    External,
    FunctionValue,
    Instance,
    Object,
    Scalar,
    Seq,
    Tensor,
    Value,
)

ENOUGH = 16
"""Calls of a function that are remembered, until it turns out that it compiles something."""


class _Factory:
    """A compile site in a function, and what it was seen to capture."""

    def __init__(self, event: Compile, code: ast.AST, names: set[str]) -> None:
        self.event = event
        self.code = code
        self.values: dict[str, set[Hashable]] = {name: set() for name in names}
        # Of a module also the numbers it is made with: they are sizes, and parameters are static.
        self.sizes: set[str] = set()
        if isinstance(event.target, Instance) and isinstance(code, ast.Call):
            given = (*code.args, *(keyword.value for keyword in code.keywords))
            self.sizes = {each.id for each in given if isinstance(each, ast.Name)}

    def seen(self, env: Mapping[str, Value]) -> None:
        for name, keys in self.values.items():
            value = env.get(name)
            number = name in self.sizes and isinstance(value, Const) and type(value.value) is int
            if value is not None and (number or _is_name(value)):
                keys.add(value.key)

    def differing(self) -> tuple[str, int]:
        """The name with the most values, and how many these are."""
        name = max(sorted(self.values), key=lambda each: len(self.values[each]), default="")
        return name, len(self.values[name]) if name else 0


class PythonValueSpecialised(Rule):
    """Flags, strings, enumerations, dtypes, functions, None: all part of the guard, one compilation for every combination.

    Three boolean flags are eight programs, the recompile limit. So are three tensors that may be None. A name used as a key
    of the result, a dtype, a task, an activation passed as a function: each new one compiles again. A number is dynamic, but
    not where it decides between three branches or more. And a function that a factory or a loop compiles for each of several
    names is one function: their programs count together.

    Bad::

        @torch.compile
        def head(x, name: str):
            return {name: x.relu()}

        def train(x):
            return head(x, "a"), head(x, "b"), head(x, "c")

    Good::

        @torch.compile
        def head(x):
            return x.relu()

        def train(x):
            return {"a": head(x)}, {"b": head(x)}, {"c": head(x)}

    Fix: return everything and let the caller choose; keep names and functions outside.

    Said only where the calls in sight make three programs or more.
    """

    code, name = "TCL213", "python-value-specialised"
    effect, severity = Effect.RECOMPILE, Severity.LOW
    scope = "any"
    subjects = {"branch": (Scalar,), "program_call": (FunctionValue,)}

    def __init__(self) -> None:
        super().__init__()
        self._factories: dict[tuple[str, str], _Factory] = {}
        self._asked: dict[Evidence, tuple[Answers, dict[str, list[bool]]]] = {}
        self._calls: dict[tuple[str, str], list[Mapping[str, Value]]] = {}

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        """Strings, members of enumerations, dtypes, functions, and what is None in some calls: whatever is no number."""
        evidence, function = event.evidence, event.enclosing
        if evidence is None or function is None or event.site is None or not event.at_entry:
            return
        yield from self._gradients(event, evidence)
        told = {
            name: _keys(values, _fields_read(function.node, name, values)) for name, values in evidence.values.items()
        }
        told = {name: keys for name, keys in told.items() if len(keys) == len(evidence.rows) and len(set(keys)) > 1}
        combinations = {row for row in zip(*told.values(), strict=True) if "?" not in row}
        if len(combinations) <= variation.SETTLES:
            yield from self._together(event, evidence, function.node)
            return
        for name in told:
            node = _first_read(function.node, name, evidence.values[name])
            if node is not None:
                kind = (
                    "is None in some calls"
                    if any(_is_none(v) for v in evidence.values[name])
                    else "is guarded by its value"
                )
                what = (
                    f"`{name}` {kind}, and the calls in sight pass {len(combinations)} combinations of such arguments"
                    f"{variation.told(evidence.shown(name))}"
                )
                yield self._finding(event, what, node)

    def _together(self, event: Enter, evidence: Evidence, function: ast.AST) -> Iterator[Finding]:
        """What no argument costs by itself, but several do together, or what a container holds."""
        others = [n for n, values in evidence.values.items() if not all(isinstance(v, Tensor) for v in values)]
        costs = evidence.together(evidence.values)
        typed = {name for name in others if f"type({name})" in costs.blames(name)}
        blamed = [
            name
            for name in others
            if _guarded_part(costs.blames(name)) and (name in typed or not _is_joined(function, name))
        ]
        blamed = [name for name in blamed if _is_read(function, name, evidence.values[name], costs.blames(name))]
        # A list that is another length each time costs by itself: TCL206.
        blamed = [name for name in blamed if not (_are_lists(evidence.values[name]) and evidence.resized(name))]
        if not costs.hazard or not blamed or not evidence.together(others).hazard:
            return
        name = max(blamed, key=lambda name: len(costs.blames(name)))
        read = _first_read(function, name, evidence.values[name])
        if read is not None:
            node = read if len(blamed) == 1 else header(event.node)
            kind = "has a type that" if name in typed else "is guarded by what it holds, and that"
            what = f"`{name}` {kind} differs from call to call ({evidence.shown(name)})"
            yield self._finding(event, what, node)

    def _gradients(self, event: Enter, evidence: Evidence) -> Iterator[Finding]:
        """Which of the tensors require a gradient, and which are parameters: these are of another type."""
        columns = [
            [value.flags & (NEEDS_GRAD | PARAMETER) for value in values if isinstance(value, Tensor)]
            for values in evidence.values.values()
        ]
        patterns = set(zip(*(column for column in columns if len(column) == len(evidence.rows)), strict=True))
        if len(patterns) > variation.SETTLES:
            what = (
                f"the calls in sight pass parameters and tensors that need a gradient in {len(patterns)} different sets"
                f"{variation.told(evidence.places)}"
            )
            yield self._finding(event, what, header(event.node))

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        if (
            not event.at_entry
            and event.operator == "key"
            and isinstance(event.left, Scalar)
            and event.left.type == "str"
        ):
            yield from self._varied(event, event.left, "is a key of the result")

    def on_branch(self, event: Branch) -> Iterator[Finding]:
        value, evidence = event.test, event.evidence
        if not isinstance(value, Scalar) or evidence is None:
            return
        if value.source == "attr" and isinstance(event.node, ast.expr) and self._crosses(event, event.node):
            what = f"`{ast.unparse(event.node)}` is a branch on a number that changes between the calls in sight"
            yield self._finding(event, f"{what} ({evidence.places}), which go several ways")
        if value.source != "arg" or value.ref is None:
            return
        flags = [n for n, v in evidence.values.items() if v and all(_is_flag(x) for x in v)]
        if value.ref[0] in flags:
            combinations = {
                tuple(x.key for x in row) for row in zip(*(evidence.values[n] for n in flags), strict=False)
            }
            if len(combinations) > 3:
                yield self._finding(
                    event, f"`{value.ref[0]}` is one of {len(flags)} flags in {len(combinations)} combinations"
                )
        elif isinstance(event.node, ast.expr) and self._crosses(event, event.node):
            yield self._finding(
                event,
                f"`{ast.unparse(event.node)}` is a branch on the number `{value.ref[0]}`, and the calls in sight go several"
                f" ways{variation.told(evidence.shown(value.ref[0]))}",
            )
        elif not event.at_entry and value.type == "bool" and isinstance(event.node, ast.Compare):
            yield from self._varied(event, value, "decides a branch", equal=True)

    def _crosses(self, event: Branch, node: ast.expr) -> bool:
        """`if step < 3`: a number that becomes dynamic, but whose calls fall on several sides of what is asked of it.

        What was asked before in the same function counts with it: two limits part the numbers in three.
        """
        assert event.evidence is not None
        answers, before = self._asked.setdefault(event.evidence, (Answers(event), {}))
        given = answers.of(node)
        if given is None:
            return False
        before[ast.unparse(node)] = [bool(each) for each in given]
        return len(set(before[ast.unparse(node)])) > 1 and answers.programs(list(before.values())) > variation.SETTLES

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        """A factory, or a loop, that compiles one function for every name: they share the code, and count together."""
        function = event.enclosing
        if function is None or event.compiled:
            return
        code: ast.AST | None = target_of(event)
        if isinstance(event.target, FunctionValue) and isinstance(event.target.function.node, ast.FunctionDef):
            code = event.target.function.node
        if code is None or isinstance(code, (ast.Name, ast.Attribute, ast.Subscript)) or _is_looked_up(code):
            return  # functions that are handed in, or found by a name, have a code each
        names = {part.id for part in ast.walk(code) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
        if isinstance(code, ast.Call) and isinstance(code.func, ast.Name):
            names.discard(code.func.id)  # classes that are handed in have a code each, too
        factory = self._factories.setdefault((event.module.path, function.qualname), _Factory(event, code, names))
        factory.seen({name: held for name in names if (held := event.ask.local(name)) is not None})
        for env in self._calls.get((event.module.path, function.qualname), ()):
            factory.seen(env)
        yield from self._told(factory)

    def on_program_call(self, event: ProgramCall) -> Iterator[Finding]:
        if event.compiled or not isinstance(event.function, FunctionValue) or event.function.bound is not None:
            return
        function = event.function.function
        if not function.module.index(_says_compile):
            return
        key = (function.module.path, function.qualname)
        parameters = [argument.arg for argument in function.node.args.args]
        env = {**dict(zip(parameters, event.args, strict=False)), **event.keywords}
        calls = self._calls.setdefault(key, [])
        if len(calls) < ENOUGH:
            calls.append(env)
        if key in self._factories:
            self._factories[key].seen(env)
            yield from self._told(self._factories[key])

    def _told(self, factory: _Factory) -> Iterator[Finding]:
        name, count = factory.differing()
        if count > variation.SETTLES:
            node: ast.AST | None = None
            if isinstance(factory.code, ast.FunctionDef):
                node = _first_read(factory.code, name, ())
            yield self._finding(factory.event, f"one function is compiled for each of several values of `{name}`", node)

    def _varied(self, event: Event, value: Scalar, what: str, equal: bool = False) -> Iterator[Finding]:
        evidence = event.evidence
        if evidence is None or value.ref is None or value.ref[0] not in evidence.values:
            return
        values = evidence.values[value.ref[0]]
        if equal and not all(isinstance(v, Const) and isinstance(v.value, str) for v in values):
            return
        if evidence.distinct(value.ref[0]) > variation.SETTLES:
            yield self._finding(event, f"`{value.ref[0]}` {what} and changes from call to call")

    def _finding(self, event: Event, what: str, node: ast.AST | None = None) -> Finding:
        return self.finding(
            event,
            f"{what}; each new one compiles again",
            node=node,
            confidence=Confidence.HIGH,
            help="keep it outside the compiled callable",
        )


def _is_looked_up(code: ast.AST) -> bool:
    """Whether a call only finds what is there: `getattr(model, name)`, `table.get(name)`."""
    if not isinstance(code, ast.Call):
        return False
    func = code.func
    return isinstance(func, ast.Name) and func.id == "getattr" or isinstance(func, ast.Attribute) and func.attr == "get"


def _says_compile(module: Module) -> bool:
    return b".compile" in module.data


def _are_lists(values: Sequence[Value]) -> bool:
    return all(isinstance(value, Seq) for value in values)


def _guarded_part(blamed: Sequence[str]) -> bool:
    """Whether it is a part of an argument that is to blame, and not how many it has: that is TCL206."""
    return bool(blamed) and not any(each.startswith(("len(", "keys(")) for each in blamed)


def _is_joined(function: ast.AST, name: str) -> bool:
    """Whether a tensor is joined with another one: a cache that grows, of which TCL215 speaks."""
    joins = {_last(each) for each in facts.named("joins the tensors of a list")}
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and _last(callee(node)) in joins)
    return any(isinstance(part, ast.Name) and part.id == name for call in calls for part in ast.walk(call))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _is_flag(value: object) -> bool:
    return isinstance(value, Const) and isinstance(value.value, bool)


def _is_name(value: Value) -> bool:
    """A string, a function, a class, a member of an enumeration."""
    if isinstance(value, Const):
        return isinstance(value.value, str)
    return isinstance(value, (External, ClassValue, FunctionValue)) or (
        isinstance(value, Object) and value.name == ENUM
    )


def _fields_read(function: ast.AST, name: str, values: Sequence[Value]) -> frozenset[str] | None:
    """The fields that a function reads of an object or a dict, where it does nothing else: Dynamo guards on no others."""
    if not any(isinstance(value, (Instance, Dict)) for value in values):
        return None
    parts = list(ast.walk(function))
    fields = [node for node in parts if isinstance(node, (ast.Attribute, ast.Subscript)) and _is_of(node, name)]
    if any(isinstance(value, Dict) for value in values) and any(isinstance(node, ast.Attribute) for node in fields):
        return None  # `.items()`, `.get(…)`
    methods = (value.cls.methods for value in values if isinstance(value, Instance))
    own = {each for known in methods for each in known}
    keys = [_field(node) for node in fields]
    if None in keys or own.intersection(key for key in keys if key is not None):
        return None  # what its own code reads is not seen here
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in parts)
    return frozenset(key for key in keys if key is not None) if uses == len(fields) else None


def _field(node: ast.Attribute | ast.Subscript) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return str(node.slice.value) if isinstance(node.slice, ast.Constant) else None


def _is_read(function: ast.AST, name: str, values: Sequence[Value], blamed: Sequence[str]) -> bool:
    """Whether something that is to blame is read: of an object that may be a field which nobody asks for."""
    fields = _fields_read(function, name, values)
    return fields is None or any(part in fields for each in blamed for part in re.findall(r"\w+", each)[1:2])


def _keys(values: Sequence[Value], fields: frozenset[str] | None = None) -> list[Hashable]:
    """What the guards compare, call by call; nothing for what other rules speak of: flags, numbers, containers, tensors.

    Of objects, the `fields` that are read.
    """
    known = [value for value in values if isinstance(value, Scalar) or value.guarded() != UNKNOWN]
    if all(isinstance(value, Tensor) or _is_flag(value) for value in known):
        return []
    ranked = all(isinstance(value.shape, tuple) or value.ndim >= 0 for value in known if isinstance(value, Tensor))
    keys: list[Hashable] = []
    for value in values:
        if isinstance(value, Scalar) and value.type == "str":
            keys.append("?")  # which one is not known
        elif isinstance(value, (Seq, Dict, Scalar)):
            return []
        elif isinstance(value, Tensor) and not ranked:
            keys.append("tensor")
        else:
            keys.append(_key(value, fields))
    return keys


def _key(value: Value | None, fields: frozenset[str] | None = None) -> Hashable:
    """What of an argument Dynamo compares before it runs a program again.

    Numbers and sizes are no part of it: they become dynamic. Nor is what is not known.
    """
    if value is None:
        return "?"
    told = value.guarded()
    if fields is not None and isinstance(told, guarded.Table):
        return told.kind, tuple((name, _shape_of(item)) for name, item in told.items if name in fields)
    return _shape_of(told)


def _shape_of(value: Guarded) -> Hashable:
    if isinstance(value, guarded.Exact):
        return (value.key,)
    if isinstance(value, (guarded.Number, guarded.Varies)):
        return "number"
    if isinstance(value, guarded.Tensor):
        return "tensor", value.dtype, len(value.sizes) if value.sizes is not None else -1
    if isinstance(value, guarded.Items):
        return value.kind, tuple(_shape_of(item) for item in value.items)
    if isinstance(value, guarded.Table):
        return value.kind, tuple((name, _shape_of(item)) for name, item in value.items)
    return "?"


def _first_read(function: ast.AST, name: str, values: Sequence[Value]) -> ast.expr | None:
    """Where a function reads a parameter first; of an object or a dict a field that differs, where it is read here."""
    fields = _differing(values)
    parts = list(ast.walk(function))
    found: list[ast.expr] = [
        node
        for node in parts
        if isinstance(node, ast.Attribute)
        and node.attr in fields
        and _is_of(node, name)
        or isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value in fields
        and _is_of(node, name)
    ]
    if not found:
        found = [n for n in parts if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return min(found, key=lambda node: (node.lineno, node.col_offset), default=None)


def _is_of(node: ast.Attribute | ast.Subscript, name: str) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == name


def _differing(values: Sequence[Value]) -> set[Hashable]:
    """The fields of objects that are not the same in all calls."""
    tables = [told for value in values if isinstance(told := value.guarded(), guarded.Table)]
    found: dict[Hashable, set[Hashable]] = {}
    for table in tables:
        for name, field in table.items:
            found.setdefault(name, set()).add(_shape_of(field))
    return {name for name, keys in found.items() if len(keys) > 1}


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None
