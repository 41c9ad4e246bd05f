"""Outputs of CUDA graphs that are kept past the next run, followed from the call to where they are read too late."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from tclint.events import GRADIENTS, Call, CompiledCall, Event, Return, Reuse, Store
from tclint.program import Module
from tclint.rules._reads import kept_by_caller, read_in_files
from tclint.rules._refilled import is_refilled
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import (
    NONE,
    OWNED,
    PARAMETER,
    PENDING,
    STALE,
    STATIC_OUT,
    Dict,
    Instance,
    Seq,
    Tensor,
    Value,
    contains,
)
from tclint.values.graph import holds_graph

MATERIALISE = facts.named("holds all values of an iterable")
KEEPING_CALLS = (
    *(f"{kind}.{name}" for kind in ("list", "dict", "?") for name in facts.named("puts a value into a container")),
    *facts.named("keeps its argument"),
    *MATERIALISE,
)
Kept = tuple[Event, Tensor, str]
"""Where an output is kept, the output, and what happens to it."""


class KeptOutputs:
    """Follows the outputs of graphs that Inductor records or, if `manual`, of graphs captured by hand."""

    def __init__(self, manual: bool) -> None:
        self._manual = manual
        self._kept: dict[tuple[str, str, str], list[Event]] = {}
        """The stores that put an output where a name of a function (or `self.name`) still holds it."""
        self._kept_on: dict[str, list[Event]] = {}
        """The stores that put an output into an attribute of that name, told where it is read too late."""
        self._yielded: dict[object, Event] = {}
        """By the call that made it, where a generator hands an output out."""
        self._called: dict[object, dict[ast.AST, bool]] = {}
        """By site, the calls in the order in which they came, and whether they are in a loop."""
        self._last_run: tuple[str, int] = ("", 0)
        self._returned: dict[object, Event] = {}
        """By the call that made it (or the graph that was captured), where a method hands an output out."""
        self._gathered_in: dict[object, Event] = {}
        """By the call that made it, where an output goes into a container that its function made, and may hand out."""
        self._told: set[object] = set()
        """The calls whose outputs were told."""

    def at_store(self, event: Store) -> Iterator[Kept]:
        tensor = self.owned(event.value)
        if event.target == "name":
            self._bind(event, tensor or self._pending(event.value))
            return
        if tensor is None and event.target == "subscript" and self._pending(event.value) is not None:
            self._in_local(event, event.receiver.with_item(event.index or NONE, event.value))
            return
        if tensor is None or event.target == "subscript" and _copied_into(event):
            return
        if event.augmented and (isinstance(event.value, Tensor) or event.target == "subscript"):
            return  # in place, or a list that already has it
        if event.target == "subscript" and self._entry_read_in_step(event, tensor):
            return
        if event.target == "subscript" and self._in_local(
            event, event.receiver.with_item(event.index or NONE, event.value)
        ):
            return
        if event.target == "attribute" and self._read_in_step(event, tensor):
            self._kept_on[event.name] = [event]
            return
        if event.target in ("global", "nonlocal"):
            # Followed where the walk knows what is around: who reads it too late tells.
            if event.ask.holds_outside(event.name) or _name_read_in_step(event, tensor):
                self._kept_on[event.name] = [event]
                return
        where = {
            "attribute": f"in `.{event.name}`",
            "subscript": "in a container",
            "comprehension": "for every element",
            "global": f"in the global `{event.name}`",
            "nonlocal": f"in `{event.name}`",
            "default": "as the default of a lambda's parameter",
        }[event.target]
        yield from self._told_of((event, tensor, f"is kept {where} without a copy"))

    def at_call(self, event: Call) -> Iterator[Kept]:
        if event.name == "builtins.setattr":
            return  # a store of its own
        if event.name.endswith(".__call__"):
            return
        if event.name in MATERIALISE:
            yield from self._materialised(event)
            return
        if event.method in facts.named("takes one container") and len(event.args) > 1:
            return  # a method of something else, which has the name of a dict's
        grows = event.name.startswith("list.") and event.method in facts.named("adds a value to a sequence")
        joined = event.method in facts.named("puts a value into a container") and _is_of_dict(event)
        for value in (*event.args, *event.keywords.values()):
            tensor = self.owned(value)
            if tensor is None and grows and self._pending(value) is not None:
                self._in_local(event, Seq("list", tuple(event.args)))
            if tensor is not None:
                if grows and is_refilled(event):
                    return
                if (grows or joined) and self._in_local(event, Seq("list", tuple(event.args))):
                    return
                at = self._gathered(event, value) or event
                where = f" (line {line_of(event)})" if at is not event else ""
                yield from self._told_of((at, tensor, f"is kept in a container{where} without a copy"))
                return

    def _gathered(self, event: Call, value: Value) -> Event | None:
        """Where an output was put into a tuple or list that is kept as a whole: `item = (loss, output)`; there it is copied."""
        arguments = event.node.args if isinstance(event.node, ast.Call) else []
        for node, each in zip(arguments, event.args, strict=False):
            if each is value and isinstance(node, ast.Name) and not isinstance(value, Tensor):
                return next(iter(self._kept.get(self._place(event, node.id), ())), None)
        return None

    def at_reuse(self, event: Reuse) -> Iterator[Kept]:
        tensor = event.value
        if not self._mine(tensor):
            return
        if event.name == GRADIENTS:
            run = f"the run at line {self._last_run[1]}" if self._last_run[0] == event.module.path else "another run"
            what = (
                f"is a gradient that parameters still hold; {run} has overwritten it, and this backward pass adds to it"
            )
            yield from self._told_of((event, tensor, what))
            return
        kept = self._kept.get(self._place(event, event.name), [])
        if not kept:
            stores = self._kept_on.get(event.name.rpartition(".")[2], [])
            kept = [store for store in stores if isinstance(store, Store) and _same(store.value, tensor)]
        if not kept and tensor.origin.node in self._told:
            return  # an element of what was told, under another name
        for at in [each for each in kept if not self._is_of_last_run(each)] or kept or [event]:
            for value in at.args if isinstance(at, Call) else (at.value,) if isinstance(at, Store) else ():
                held = value.contains(OWNED)
                if held is not None:
                    self._told.add(held.origin.node)
            read = f"is still read at line {line_of(event)} (`{event.name}`)"
            yield from self._told_of((at, tensor, f"{read}{self._after(event)}"))

    def _is_of_last_run(self, at: Event) -> bool:
        """Whether what was put into a container is what the last run gave: nothing has overwritten that."""
        values = at.args if isinstance(at, Call) else (at.value,) if isinstance(at, Store) else ()
        held = next((tensor for value in values if (tensor := value.contains(OWNED)) is not None), None)
        if self._manual or held is None or held.site is None or held.origin.node is None:
            return False
        if self._called.get(held.site.key, {}).get(held.origin.node, True):
            return False  # each turn of a loop puts one there
        return (held.origin.path, held.origin.line) == self._last_run

    def _after(self, event: Event) -> str:
        return f", after the run at line {self._last_run[1]}" if self._last_run[0] == event.module.path else ""

    def at_compiled_call(self, event: CompiledCall) -> Iterator[Kept]:
        """A CUDA-graph output handed to the next run, which frees it first while graphs are still being recorded."""
        site = event.callee.site
        if not site.cudagraphs:
            return
        if event.overwrites:
            self._last_run = (event.module.path, line_of(event))
        self._called.setdefault(site.key, {}).setdefault(event.node, any(b in ("for", "while") for b in event.blocks))
        for value in (*event.args, *event.keywords.values()) if event.overwrites else ():
            tensor = self.owned(value)
            if tensor is None or tensor.flags & STALE or tensor.site is None or tensor.site.alone:
                continue
            if self._warmed(tensor.site.key, tensor.origin.node, event.node):
                continue
            kept = next((s for s in self._stores() if _same(s.value, tensor) and s.same_call(event)), None)
            what = "fed back into the next call" if tensor.site is site else "handed to another CUDA graph"
            yield from self._told_of((kept or event, tensor, f"is {what} (line {line_of(event)}) without a copy"))
            return

    def _warmed(self, site: object, made: ast.AST | None, fed: ast.AST) -> bool:
        """Whether the graph that made an output was recorded before, in a loop or by two calls: then it is replayed."""
        calls = self._called.get(site, {})
        earlier = list(itertools.takewhile(lambda node: node is not made, calls)) if made in calls else list(calls)
        earlier = [node for node in earlier if node is not fed]
        return len(earlier) > 1 or any(calls[node] for node in earlier)

    def at_return(self, event: Return) -> Iterator[Kept]:
        tensor = self.owned(event.value)
        if tensor is None:
            return
        if event.yields:
            self._yielded[tensor.origin.node] = event
        elif event.enclosing is not None and any(_caches(d) for d in event.enclosing.decorators):
            yield from self._told_of((event, tensor, "is kept in the function's cache without a copy"))
        elif event.cls is not None or event.enclosing is not None and event.enclosing.parent is not None:
            if self._manual or _calls_it(event):
                self._returned[tensor.origin.node] = event
                function, cls = event.enclosing, event.cls
                kept = kept_by_caller(event, function, cls) if function is not None and cls else None
                if kept is not None:
                    self._told.add(tensor.origin.node)
                    yield event, tensor, f"is returned without a copy and kept by the caller ({kept})"

    def _bind(self, event: Store, tensor: Tensor | None) -> None:
        """A name of a function is bound: to an output, or to something else that takes its place."""
        place = self._place(event, event.name)
        if tensor is None or not isinstance(event.node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            if not event.augmented:  # a loop variable holds what it is given, no longer than a turn
                self._kept.pop(place, None)
        elif event.value.contains(STALE) is not None:
            return  # what it holds was kept before
        elif not event.augmented:
            self._kept[place] = [event]
        elif not isinstance(event.value, Tensor):
            self._add(place, event)

    def _add(self, place: tuple[str, str, str], event: Event) -> None:
        events = self._kept.setdefault(place, [])
        if all(e.node is not event.node for e in events):
            events.append(event)

    def _in_local(self, event: Store | Call, holds: Value) -> bool:
        """Whether a container gets an output that only names of this function hold: reading it too late tells (`Reuse`)."""
        target = _container(event.node)
        if target is None or event.enclosing is None or holds.contains(OWNED) is None:
            return False
        if target.id not in event.ask.of_scope(_own_containers):
            return False
        self._add(self._place(event, target.id), event)
        put = event.value if isinstance(event, Store) else event.args[0]
        held = self.owned(put)
        if held is not None:
            self._gathered_in[held.origin.node] = event
        return True

    def _read_in_step(self, event: Store, tensor: Tensor) -> bool:
        """Whether an attribute is read only where it is stored, and there before the graph runs again."""
        function, made = event.enclosing, tensor.origin.node
        target = _attribute_target(event.node, event.name)
        if (
            function is None
            or target is None
            or not isinstance(made, ast.Call)
            or not isinstance(target.value, ast.Name)
        ):
            return False
        reads = read_in_files(event, event.name, event.receiver)
        followed = isinstance(event.receiver, Instance) and target.value.id == _first_parameter(function.node)
        first, last = function.node.lineno, function.node.end_lineno or 0
        stored = (event.node.lineno, event.node.col_offset) if isinstance(event.node, ast.stmt) else (0, 0)
        if not reads:
            return True
        if not first <= made.lineno <= last:
            return followed
        if any(isinstance(a, ast.Attribute) and a.attr == event.name for a in made.args):
            return False  # fed back into the next call
        for path, line, column in reads:
            if path != event.module.path or not first <= line <= last:
                if followed:
                    continue  # the walk tells whether a run comes between
                return False
            if (made.end_lineno, made.end_col_offset) <= (line, column) < stored:
                return False  # what an earlier step left there, after this step's run
        self._kept[self._place(event, ast.unparse(target))] = [event]
        return True

    def _entry_read_in_step(self, event: Store, tensor: Tensor) -> bool:
        """The same for `self.state["key"]`: what only this function reads, after it has stored it."""
        function, made = event.enclosing, tensor.origin.node
        target = event.node.targets[0] if isinstance(event.node, ast.Assign) else None
        if function is None or not isinstance(made, ast.Call) or not isinstance(target, ast.Subscript):
            return False
        holder = target.value
        if not isinstance(target.slice, ast.Constant) or not isinstance(holder, ast.Attribute):
            return False
        first, last = function.node.lineno, function.node.end_lineno or 0
        stored = (target.lineno, target.col_offset)
        owner = event.ask.evaluate(holder.value)
        reads = read_in_files(event, holder.attr, owner)
        later = [(line, column) for path, line, column in reads if path == event.module.path and first <= line <= last]
        if not first <= made.lineno <= last:
            return False
        begun = event.ask.of_scope(_emptied).get(ast.unparse(holder))
        if begun is not None and begun < stored and isinstance(owner, Instance):
            self._kept_on[holder.attr] = [
                event
            ]  # it holds what this step puts there, and the walk tells who reads that too late
            return True
        return len(later) == len(reads) and all(place >= stored for place in later)

    def _materialised(self, event: Call) -> Iterator[Kept]:
        """`list(…)` of a generator: every output is made before one is read."""
        for value in event.args[:1]:
            if not isinstance(value, Seq) or value.ready:
                continue
            tensor = self.owned(value)
            if tensor is not None:
                at = self._yielded.get(tensor.origin.node, event)
                yield from self._told_of(
                    (at, tensor, f"is collected by `{event.method}` at line {line_of(event)} without a copy")
                )

    def _stores(self) -> Iterator[Store]:
        return (e for events in self._kept.values() for e in events if isinstance(e, Store))

    def owned(self, value: Value) -> Tensor | None:
        """The output of a graph in a value, if nothing but its reader keeps it alive."""
        tensor = contains(value, OWNED)
        if tensor is not None and self._manual and holds_graph(value):
            return None
        return tensor if tensor is not None and not tensor.flags & PARAMETER and self._mine(tensor) else None

    def _pending(self, value: Value) -> Tensor | None:
        """The output of a graph in a value that is kept until the backward pass, and no longer."""
        return contains(value, PENDING) if not self._manual else None

    def _mine(self, tensor: Tensor) -> bool:
        return bool(tensor.flags & STATIC_OUT) is self._manual and not tensor.flags & PENDING

    def _told_of(self, kept: Kept) -> Iterator[Kept]:
        """What is kept, and where the callee handed it out or put it into what it hands out: a copy there serves every caller."""
        event, tensor, _ = kept
        self._told.add(tensor.origin.node)
        handed = self._returned.get(tensor.origin.node)
        gathered = self._gathered_in.get(tensor.origin.node)
        if gathered is not None and gathered.enclosing is not event.enclosing:
            where = _seen_from(gathered, event)
            yield gathered, tensor, f"is put into a container without a copy and kept by the caller ({where})"
        if handed is not None and handed.node is not event.node:
            yield handed, tensor, f"is returned without a copy and kept by the caller ({_seen_from(handed, event)})"
        yield kept

    def _place(self, event: Event, name: str) -> tuple[str, str, str]:
        return (event.module.path, function_name(event), name)


def _is_of_dict(event: Call) -> bool:
    """Whether a method is that of a dict, or of what is one as far as it is known: `metrics.update(…)`."""
    target = _container(event.node)
    held = event.ask.local(target.id) if target is not None and event.name.startswith("?.") else None
    return event.name.startswith("dict.") or held is not None and any(isinstance(each, Dict) for each in held.options)


def _copied_into(event: Store) -> bool:
    """Whether an item assignment copies: a tensor takes it. No dict has a slice for a key, and a list has no rows."""
    if isinstance(event.receiver, Tensor):
        return True
    target = event.node.targets[0] if isinstance(event.node, ast.Assign) else None
    if isinstance(event.receiver, Seq) or not isinstance(target, ast.Subscript):
        return False
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    return any(isinstance(part, ast.Slice) for part in parts)


def _first_parameter(node: ast.AST) -> str:
    arguments = getattr(node, "args", None)
    return arguments.args[0].arg if isinstance(arguments, ast.arguments) and arguments.args else ""


def _own_containers(root: ast.AST) -> frozenset[str]:
    """The names of a function that hold containers made there, and that no function inside it reads."""
    made: set[str] = set()
    foreign: set[str] = set()
    for node in ast.walk(root):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets: list[ast.expr] = [*node.targets] if isinstance(node, ast.Assign) else [node.target]
            for target, value in _pairs(targets, node.value):
                if isinstance(target, ast.Name) and isinstance(
                    value, (ast.List, ast.Dict, ast.Set, ast.Call, ast.Tuple)
                ):
                    made.add(target.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            foreign.update(node.names)
        elif node is not root and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            foreign.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    arguments = getattr(root, "args", None)
    if isinstance(arguments, ast.arguments):
        foreign.update(a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))
    return frozenset(made - foreign)


def _pairs(targets: list[ast.expr], value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment with what each gets: `kept, log = [], {}` too."""
    for target in targets:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from zip(target.elts, value.elts, strict=True)
        else:
            yield target, value


def _emptied(root: ast.AST) -> dict[str, tuple[int, int]]:
    """Where a function begins with an empty container in an attribute, whatever happens: `self.metrics = {}`."""
    found: dict[str, tuple[int, int]] = {}
    for node in getattr(root, "body", ()):
        value = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        empty = isinstance(value, ast.Dict) and not value.keys or isinstance(value, ast.List) and not value.elts
        if empty and isinstance(node.targets[0], ast.Attribute):
            found[ast.unparse(node.targets[0])] = (node.lineno, node.col_offset)
    return found


def _container(node: ast.AST) -> ast.Name | None:
    """`kept` in `kept.append(x)` and in `kept[i] = x`."""
    if isinstance(node, ast.Expr):
        node = node.value
    inner: ast.expr | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inner = node.func.value
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        inner = node.targets[0].value
    return inner if isinstance(inner, ast.Name) else None


def _attribute_target(node: ast.AST, name: str) -> ast.Attribute | None:
    """`self.name` in `self.name = …`."""
    for target in node.targets if isinstance(node, ast.Assign) else ():
        if isinstance(target, ast.Attribute) and target.attr == name:
            return target
    return None


def _name_read_in_step(event: Store, tensor: Tensor) -> bool:
    """Whether a name of the file, or of the function around, is read only by the function that binds it, and after that."""
    function, made = event.enclosing, tensor.origin.node
    if function is None or not isinstance(made, ast.Call) or not isinstance(event.node, ast.stmt):
        return False
    first, last = function.node.lineno, function.node.end_lineno or 0
    stored = (event.node.lineno, event.node.col_offset)
    reads = event.ask.of_file(_name_reads).get(event.name, [])
    return first <= made.lineno <= last and all(place >= stored and place[0] <= last for place in reads)


def _name_reads(module: Module) -> dict[str, list[tuple[int, int]]]:
    """Where the names of a file are read."""
    found: dict[str, list[tuple[int, int]]] = {}
    for node in nodes(module.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append((node.lineno, node.col_offset))
    return found


def attribute_reads(root: ast.AST) -> dict[str, list[tuple[int, int]]]:
    """Where a function reads attributes of names, by how that is written: `self.state`."""
    found: dict[str, list[tuple[int, int]]] = {}
    for node in nodes(root):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            found.setdefault(f"{node.value.id}.{node.attr}", []).append((node.lineno, node.col_offset))
    return found


def _same(value: Value, tensor: Tensor) -> bool:
    """Whether a value holds the output that a later one is, a backward pass or a run between them."""
    held = value.contains(OWNED)
    return held is not None and held.origin.node is tensor.origin.node


def _caches(decorator: ast.expr) -> bool:
    """Whether a decorator keeps what the function returns: `functools.lru_cache`, `cache`, `cached_property`."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in facts.methods("remembers its results")


def _calls_it(event: Return) -> bool:
    """Whether the method itself runs the graph: then it is the place for the copy."""
    value = getattr(event.node, "value", None)
    while isinstance(value, (ast.Subscript, ast.Attribute)):
        value = value.value
    return isinstance(value, ast.Call)


def _seen_from(here: Event, event: Event) -> str:
    """The line of an event, as the file of another one would name it."""
    return f"line {line_of(event)}" if event.module is here.module else f"{event.module.path}:{line_of(event)}"


def line_of(event: Event) -> int:
    return int(getattr(event.node, "lineno", 0))


def function_name(event: Event) -> str:
    return event.enclosing.qualname if event.enclosing is not None else "<module>"
