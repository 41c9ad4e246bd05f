"""Statements that only note something down: compiled runs can do without them where nothing compiled reads the notes."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import FunctionNode, Place
from tclint.fixes.purity import has_effects, only_logs
from tclint.fixes.uses import uses_in
from tclint.program import Import
from tclint.sources.tree import holders, kinds, nodes, same, within
from tclint.torch_facts import facts
from tclint.values import Instance, Tensor

if TYPE_CHECKING:
    from tclint.events import Event

_DEEPEST: Final = 4
"""How far local names and the program's own functions are followed."""
_DEFS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_PUTTING: Final = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)
_TOOLS: Final = frozenset(facts.named("makes something that takes notes"))
# Builtins that do something, or use something up.
_DOING: Final = frozenset("next setattr delattr exec eval print input open breakpoint __import__".split())


@dataclass(slots=True)
class _Reads:
    """What the functions of one name mention, and what they read for its value."""

    mentions: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    flows: dict[str, set[str]] = field(default_factory=dict)
    """What is read for a note alone, by what the note is put into."""


@dataclass(slots=True)
class _File:
    """The functions of a file by name; what each of them reads is found out when somebody asks."""

    functions: dict[str, list[FunctionNode]] = field(default_factory=dict)
    unseen: set[int] = field(default_factory=set)
    """The nodes that are not counted, by their identity."""
    known: dict[str, _Reads] = field(default_factory=dict)
    reached: dict[str, frozenset[str]] = field(default_factory=dict)
    """By the name of a root, what the functions read that it may call: asked again for every note below it."""
    functions_from: dict[str, frozenset[str]] = field(default_factory=dict)
    """The same functions, by name."""

    def read_from(self, root: str) -> frozenset[str]:
        """The attributes and names that a function, and those of the file that it may call, read."""
        if root not in self.reached:
            found: set[str] = set()
            flows: dict[str, set[str]] = {}
            # Python calls these by itself.
            waiting = [root, *(name for name in self.functions if name.startswith("__") and name != "__init__")]
            seen = set(waiting)
            while waiting:
                told = self._reads(waiting.pop())
                found |= told.reads
                for owner, given in told.flows.items():
                    flows.setdefault(owner, set()).update(given)
                new = {other for other in told.mentions if other in self.functions} - seen
                seen |= new
                waiting += sorted(new)
            # Who reads a note reads what it was made of.
            flowing = [owner for owner in flows if owner in found]
            while flowing:
                new = flows.pop(flowing.pop(), set()) - found
                found |= new
                flowing += [owner for owner in flows if owner in new]
            self.reached[root] = frozenset(found)
            self.functions_from[root] = frozenset(seen)
        return self.reached[root]

    def _reads(self, name: str) -> _Reads:
        told = self.known.get(name)
        if told is None:
            told = self.known[name] = _Reads()
            for function in self.functions.get(name, ()):
                self._read(function, told)
        return told

    def _read(self, function: FunctionNode, told: _Reads) -> None:
        there = kinds(function)
        noted: set[int] = set()
        for statement in (each for kind in _PUTTING for each in there[kind]):
            if (owner := _owner(statement)) is not None:
                given = [n for n in nodes(statement) if isinstance(n, (ast.Name, ast.Attribute))]
                noted.update(map(id, given))
                told.flows.setdefault(_named(owner), set()).update(_named(n) for n in given if n is not owner)
        noted |= self.unseen
        for kind, name in ((ast.Name, "id"), (ast.Attribute, "attr")):
            told.mentions.update([getattr(n, name) for n in there[kind]])
            told.reads.update([getattr(n, name) for n in there[kind] if type(n.ctx) is ast.Load and id(n) not in noted])


def _file(tree: ast.AST, without: Sequence[ast.AST] = ()) -> _File:
    """What the functions of a file read; what stands in `without` is not counted."""
    file = _File(unseen={id(n) for each in without for n in nodes(each)})
    for function in holders(tree):
        if isinstance(function, _DEFS):
            file.functions.setdefault(function.name, []).append(function)
    return file


def _made(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """What is bound to each name and each attribute of a file."""
    found: dict[str, list[ast.expr]] = {}
    for node in holders(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, (ast.Name, ast.Attribute)):
                found.setdefault(_named(target), []).append(node.value)
    return found


def _owner(statement: ast.stmt) -> ast.Name | ast.Attribute | None:
    """What a statement puts a value into: `self.times` of `self.times.append(x)` and of `self.times[i] = x`."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        func = call.func if isinstance(call, ast.Call) else None
        puts = isinstance(func, ast.Attribute) and func.attr in facts.methods("puts a value into a container")
        owner: ast.expr | None = func.value if puts and isinstance(func, ast.Attribute) else None
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        owner = statement.targets[0]
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        owner = statement.target
    else:
        return None
    inside = isinstance(statement, ast.Expr)
    while isinstance(owner, ast.Subscript) or (owner is not None and _entry(owner) is not None):
        owner, inside = owner.value if isinstance(owner, ast.Subscript) else _entry(owner), True
    if isinstance(owner, ast.Attribute) or (isinstance(owner, ast.Name) and inside):
        return owner
    return None


def _entry(node: ast.expr) -> ast.expr | None:
    """`self.scalars` of `self.scalars.setdefault(tag, [])`."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.value if isinstance(func, ast.Attribute) and func.attr == "setdefault" else None


def _named(node: ast.Name | ast.Attribute) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


class Notes:
    """The statements of one function that are there for a note alone."""

    def __init__(self, event: Event, node: ast.AST) -> None:
        self.event = event
        self.place = Place(event, node)
        self.file: _File = event.module.node_index(_file)
        self.owners: list[ast.Name | ast.Attribute] = []
        """What the statements write."""
        self.counts: list[ast.stmt] = []
        """What is counted right beside them."""

    def statements(self) -> list[ast.stmt]:
        """What compiled runs leave out together, so that nothing of it is missed; empty where it is more than a note."""
        place = self.place
        first = place.statement
        root = self.event.ask.root()
        if first is None or root is None or place.function is None:
            return []
        found: list[ast.stmt] = []
        if not self._follow(first, found, _DEEPEST):
            return []
        if not self._unread(self.file) and not self._read_by_notes(found):
            return []
        self.counts = [s for s in self._beside(found) if not any(same(s, other) for other in found)]
        found += self.counts
        return [s for s in found if not any(s is not other and within(s, other) for other in found)]

    def in_branch(self, branch: ast.If) -> bool:
        """Whether an `if` only notes something down that nobody but the `if` itself reads."""
        if self.event.ask.root() is None or self.place.function is None or not self._notes(branch, _DEEPEST):
            return False
        return bool(self.owners) and self._unread(_file(self.event.module.tree, [branch]))

    def is_aside(self, statement: ast.stmt) -> bool:
        """Whether a statement among others only notes something down that nobody but itself reads: `stats["clipped"] += 1`."""
        if self.event.ask.root() is None or self.place.function is None or not self._notes(statement, _DEEPEST):
            return False
        return bool(self.owners) and self._unread(_file(self.event.module.tree, [statement]))

    def _read_by_notes(self, found: list[ast.stmt]) -> bool:
        """Whether what reads the notes only notes something down itself: `self.flat = max(self.history) < 1`. It is `found` too."""
        function = self.place.function
        for owner in [o for o in self.owners if isinstance(o, ast.Attribute)]:
            for node in nodes(function) if function is not None else ():
                reads = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr == owner.attr
                if not reads or any(within(node, statement) for statement in found):
                    continue
                statement = Place(self.event, node).statement
                if statement is None or not self._follow(statement, found, _DEEPEST):
                    return False
        return self._unread(_file(self.event.module.tree, found))

    def _unread(self, file: _File) -> bool:
        """Whether nothing that is compiled reads what was written so far."""
        root, function = self.event.ask.root(), self.place.function
        assert root is not None
        assert function is not None
        read = file.read_from(root.name)
        if function.name not in file.functions_from[root.name]:
            read |= file.read_from(function.name)  # the file does not tell how it is reached
        return not any(_named(owner) in read or self._is_state(owner) for owner in self.owners)

    def _beside(self, found: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """The counts right beside a note, on the same object: a meter's number of values goes with their sum."""
        for statement in found:
            at = Place(self.event, statement).index(statement)
            block, number = at if at is not None else ([], 0)
            for each in block[number + 1 : number + 2] + block[max(0, number - 1) : number]:
                owner = _owner(each) if isinstance(each, ast.AugAssign) else None
                held = [ast.dump(o.value) for o in self.owners if isinstance(o, ast.Attribute)]
                if not isinstance(owner, ast.Attribute) or ast.dump(owner.value) not in held:
                    continue
                kept = list(self.owners)
                if self._notes(each, _DEEPEST) and self._unread(self.file):
                    yield each
                else:
                    self.owners = kept

    def here(self) -> list[ast.Name | ast.Attribute]:
        """What the statements of this function write by themselves."""
        return [owner for owner in self.owners if within(owner, self.place.function or self.place.node)]

    def _follow(self, statement: ast.stmt, found: list[ast.stmt], depth: int) -> bool:
        """Whether a statement is a note, or gives a local name that only notes read; it and they are `found` then."""
        if any(same(statement, other) for other in found):
            return True
        name = _bound(statement)
        function = self.place.function
        owner = _owner(statement)
        if isinstance(owner, ast.Name) and owner.id in uses_in(function).bound:
            found.append(statement)
            return self._puts(owner.id, statement, found, depth)
        if name is None:
            found.append(statement)
            return self._notes(statement, depth)
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if depth == 0 or value is None or not self._quiet(value) or len(uses_in(function).stores(name)) != 1:
            return False
        found.append(statement)
        reads = list(uses_in(function).reads(name))
        for read, above in reads:
            around = [n for n in above if isinstance(n, ast.stmt) and not isinstance(n, _DEFS)]
            inner = around[-1] if around else None
            if inner is None or any(isinstance(n, (*_DEFS, ast.Lambda)) for n in above[above.index(around[0]) :]):
                return False
            if isinstance(inner, (ast.With, ast.For, ast.While, ast.Try)) or not self._follow(inner, found, depth - 1):
                return False
            assert within(read, inner)
        return bool(reads)

    def _puts(self, name: str, statement: ast.stmt, found: list[ast.stmt], depth: int) -> bool:
        """Whether something is put into a container of the function that only notes are made of: the parts of a report."""
        stores = uses_in(self.place.function).stores(name)
        made = Place(self.event, stores[0]).statement if len(stores) == 1 else None
        quiet = all(self._quiet(part) for part in _given(statement))
        return depth > 0 and quiet and made is not None and self._follow(made, found, depth - 1)

    def _notes(self, statement: ast.stmt, depth: int) -> bool:
        """Whether a statement does nothing but note something down; what it writes is kept."""
        if depth == 0:
            return False
        if isinstance(statement, ast.Pass) or only_logs(statement):
            return True
        if isinstance(statement, ast.If):
            parts = [*statement.body, *statement.orelse]
            return self._quiet(statement.test) and all(self._notes(s, depth - 1) for s in parts)
        if isinstance(statement, ast.For):
            return self._quiet(statement.iter) and all(self._notes(s, depth - 1) for s in statement.body)
        if isinstance(statement, ast.With):
            if _locks(statement):
                return all(self._notes(s, depth - 1) for s in statement.body)
            return self._writes_file(statement) and all(self._in_file(statement, s, depth) for s in statement.body)
        owner = _owner(statement)
        if owner is not None:
            if isinstance(owner, ast.Name) and owner.id in uses_in(self.place.function).bound:
                return False  # a container of the function: somebody further down has it
            self.owners.append(owner)
            return all(self._quiet(part) for part in _given(statement))
        return isinstance(statement, ast.Expr) and self._noting_call(statement.value, depth)

    def _noting_call(self, call: ast.expr, depth: int) -> bool:
        """`self.meter.update(x)`, where every function of that name in the file does nothing but note."""
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(func, (ast.Attribute, ast.Name)):
            return False
        functions = self.file.functions.get(_named(func), [])
        if not functions and isinstance(func, ast.Attribute) and isinstance(func.value, (ast.Name, ast.Attribute)):
            if self._is_tool(func.value):
                self.owners.append(func.value)
                return all(self._quiet(part) for part in (*call.args, *(k.value for k in call.keywords)))
        if not functions or not all(self._quiet(part) for part in (*call.args, *(k.value for k in call.keywords))):
            return False
        return all(
            not function.decorator_list and all(self._in_function(function, s, depth) for s in function.body)
            for function in functions
        )

    def _is_tool(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether everything of that name in the file is made to take notes: a writer of tables, a queue."""
        made = self.event.module.node_index(_made).get(_named(node), [])
        return bool(made) and all(self._called(value) in _TOOLS for value in made)

    def _called(self, value: ast.expr) -> str:
        """The full name of what a call of a library calls."""
        root: ast.expr = value.func if isinstance(value, ast.Call) else value
        path: list[str] = []
        while isinstance(root, ast.Attribute):
            path.insert(0, root.attr)
            root = root.value
        imported = self.place.module.names.get(root.id) if isinstance(root, ast.Name) else None
        if not isinstance(value, ast.Call) or not isinstance(imported, Import):
            return ""
        return ".".join(filter(None, (imported.target, imported.attribute, *path)))

    def _in_function(self, function: FunctionNode, statement: ast.stmt, depth: int) -> bool:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            return True
        if isinstance(statement, ast.Return):
            return statement.value is None
        if _bound(statement) is not None:
            return isinstance(statement, (ast.Assign, ast.AnnAssign)) and (
                statement.value is None or self._quiet(statement.value)
            )
        owner = _owner(statement)
        if isinstance(owner, ast.Name) and owner.id in uses_in(function).bound:
            return False
        return self._notes(statement, depth - 1)

    def _writes_file(self, statement: ast.With) -> bool:
        """`with open(path, "a") as file:`"""
        call = statement.items[0].context_expr if len(statement.items) == 1 else None
        if not isinstance(call, ast.Call) or not isinstance(statement.items[0].optional_vars, ast.Name):
            return False
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        modes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
        if isinstance(call.func, ast.Attribute) and name == "open" and call.args:
            modes = [*call.args[:1], *modes]  # `path.open("a")`
        plain = [m.value for m in modes if isinstance(m, ast.Constant) and isinstance(m.value, str)]
        return name == "open" and any(mode[:1] in ("w", "a", "x") for mode in plain)

    def _in_file(self, around: ast.With, statement: ast.stmt, depth: int) -> bool:
        """A call that is given the file, or is made of it."""
        target = around.items[0].optional_vars
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(target, ast.Name) and isinstance(call, ast.Call):
            if any(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(call)):
                return all(self._quiet(part) for part in (*call.args, *(k.value for k in call.keywords)))
        return self._notes(statement, depth - 1)

    def _quiet(self, node: ast.AST) -> bool:
        """Whether nobody misses an expression that is not computed, but for its value."""
        return not has_effects(node) and all(self._quiet_call(n) for n in ast.walk(node) if isinstance(n, ast.Call))

    def _quiet_call(self, call: ast.Call) -> bool:
        func = call.func
        names = self.place.module.names
        if isinstance(func, ast.Name):
            return isinstance(names.get(func.id), Import) or (hasattr(builtins, func.id) and func.id not in _DOING)
        if not isinstance(func, ast.Attribute) or func.attr in self.file.functions or func.attr.endswith("_"):
            return False
        root: ast.expr = func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and isinstance(imported := names.get(root.id), Import):
            return "rand" not in f"{imported.target}.{ast.unparse(func)}"  # a draw moves the stream of numbers
        # `self.net(x)` is a module, or what the file does not tell.
        owned = isinstance(func.value, ast.Name) and func.value.id == "self"
        return not owned and func.attr not in facts.methods("makes a container grow or shrink")

    def _is_state(self, owner: ast.Name | ast.Attribute) -> bool:
        """Whether it is a buffer or a parameter: a checkpoint has it."""
        if not isinstance(owner, ast.Attribute) or not isinstance(owner.value, ast.Name):
            return False
        me = self.event.ask.local(owner.value.id)
        return isinstance(me, Instance) and isinstance(self.event.ask.attributes(me).get(owner.attr), Tensor)


def _locks(statement: ast.With) -> bool:
    """`with self.lock:`, a context that gives nothing and is not made here."""
    return all(
        item.optional_vars is None and isinstance(item.context_expr, (ast.Name, ast.Attribute))
        for item in statement.items
    )


def _bound(statement: ast.stmt) -> str | None:
    """The one local name that a statement binds."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return None
    return target.id if isinstance(target, ast.Name) else None


def _given(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement puts there, and under which key."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        assert isinstance(call, ast.Call)
        yield from (*call.args, *(k.value for k in call.keywords))
        return
    if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        if statement.value is not None:
            yield statement.value
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        while isinstance(target, ast.Subscript):
            yield target.slice
            target = target.value


def runs(place: Place, statements: Sequence[ast.stmt]) -> list[tuple[ast.stmt, ast.stmt]]:
    """Neighbours among the statements of a function, each run with its first and its last."""
    found: list[tuple[ast.stmt, ast.stmt]] = []
    for statement in sorted(statements, key=lambda s: s.lineno):
        at = Place(place.event, statement).index(statement)
        if found and at is not None and at[1] > 0 and same(at[0][at[1] - 1], found[-1][1]):
            found[-1] = (found[-1][0], statement)
        else:
            found.append((statement, statement))
    return found
