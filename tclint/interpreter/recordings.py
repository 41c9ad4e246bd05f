"""What graphs captured by hand have read, and what the program has bound anew since: a replay does not see that.

A CUDA graph is a list of kernels with the addresses and numbers they had at capture. Eager code that binds a name or an
attribute to another tensor, or to another number, changes nothing of that: `replay()` goes on with what was there.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

from tclint import events
from tclint.interpreter import asides
from tclint.interpreter.bindings import Place, owner_of, root_of
from tclint.interpreter.constructors import names_captures
from tclint.interpreter.frame import Frame
from tclint.interpreter.handles import begins, is_part
from tclint.interpreter.hooked import Hooks
from tclint.interpreter.recorded import Deed, Recorded
from tclint.program import Module
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.torch_facts.kind import NUMBERS, WALKERS
from tclint.values import TRUE, UNKNOWN, Const, FunctionValue, Instance, Object, Tensor, Value, tensor_of
from tclint.values.constant import is_none
from tclint.values.graph import is_graph

_MAX_DEEDS: Final = 256
_BEFORE: Final = frozenset({"capture", "change", "write", "mode", "hook", "unhook", "library"})
"""What matters before anything is captured."""
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ROWS: Final = facts.methods("parts a tensor along a dimension") | WALKERS
_NUMBERS: Final = NUMBERS | {"number", "str"}


class Recordings:
    """Follows captures by hand, what they read, and what is bound between them and their replays."""

    def __init__(self) -> None:
        self._recorded: dict[Hashable, Recorded] = {}
        self._open: list[Hashable] = []
        self._captured: set[Hashable] = set()
        """The graphs that were captured since the walk entered the program here."""
        self._known_before = 0
        """How much graphs had read and run by then."""
        self._names: set[str] = set()
        """The names of what graphs have read."""
        self._ever_read: set[Place] = set()
        self._ever_ran: set[Hashable] = set()
        """What some graph has read, and which modules one has run, whether it is still there or not."""
        self._bound: dict[Place, Deed] = {}
        """What was bound since, by place: the last one counts."""
        self._written: set[ast.AST] = set()
        """The tensors that were written in place since the last capture, by the node that made them."""
        self._changed: dict[ast.AST, Deed] = {}
        """The tensors that eager code has changed, starting from what they held, and that nobody has put back."""
        self._modes: dict[Hashable, Deed] = {}
        """By module, the last call of `train()` or `eval()`."""
        self._scheduled: Deed | None = None
        """Where a learning rate was changed."""
        self._dropped: Deed | None = None
        self.hooks = Hooks()
        """The hooks that modules have."""
        self._set_up = False
        """Whether a library may have made its handles: something was called that does, or that nobody knows."""
        self._log: list[Deed] = []

    def begin(self) -> None:
        """Another entry into the program. What was captured in another one may have been captured before this one."""
        self._bound.clear()
        self._written.clear()
        self._changed.clear()
        self._modes.clear()
        self._open.clear()
        self.hooks.begin()
        self._captured.clear()
        self._known_before = len(self._ever_read) + len(self._ever_ran)
        self._dropped = self._scheduled = None
        self._set_up = False
        # Whoever remembers what a call did has it by himself. The rest would hold frames, and all that stands in them.
        self._log.clear()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What a constructor gives is found out, whenever somebody asks: what it calls was not called just now."""
        set_up = self._set_up
        try:
            yield
        finally:
            self._set_up = set_up

    @property
    def seen(self) -> Hashable:
        """What a call that is remembered depends on: which graphs there are, and what they have read.

        Not how often they were captured: a loop that captures the same ones again tells nothing new in its later turns.
        """
        hooked = len(self.hooks) if self._open else 0
        read = len(self._ever_read) + len(self._ever_ran) - self._known_before
        return (len(self._captured), read, len(self._open), hooked, self._set_up and bool(self._open))

    @property
    def length(self) -> int:
        return len(self._log)

    def since(self, begun: int) -> tuple[Deed, ...]:
        """What has been done since then."""
        done = self._log[begun : begun + _MAX_DEEDS]
        # A capture that is begun again must be ended again.
        return tuple(self._log[begun:] if any(deed.kind == "capture" for deed in done) else done)

    def repeat(self, deeds: Sequence[Deed]) -> None:
        """A call that is remembered does again what it did."""
        for deed in deeds:
            self._do(deed)

    # -- what happens -------------------------------------------------------------------------------------------

    def do(self, kind: str, of: Hashable, frame: Frame, node: ast.AST, value: Value = UNKNOWN) -> None:
        """Note it, where there is a graph that it can matter to."""
        if frame.region is None and (self._recorded or kind in _BEFORE):
            self._do(Deed(kind, of, value, frame, node, asides.branched(frame)))

    def read(self, frame: Frame, place: Place | None, node: ast.AST, value: Value) -> None:
        """A capture reads something."""
        if place is not None and self._open:
            self.do("read", place, frame, node, value)

    def make(self, node: ast.AST, result: Value) -> None:
        """A capture calls something: the tensor that comes out may be a new one."""
        tensor = tensor_of(result)
        if tensor is not None and tensor.origin.node is node:
            for recorded in self._capturing():
                recorded.made.add(node)

    def use_library(self, frame: Frame, node: ast.AST, name: str) -> None:
        """A library is called, or, where there is no name, may have been."""
        if not self._set_up and (self._recorded or _near_capture(frame)):
            self.do("library", name, frame, node)

    def run(self, frame: Frame, module: Hashable | None, node: ast.AST) -> None:
        """A capture runs a module."""
        if module is not None and self._open:
            self.do("run", module, frame, node)

    def bind(self, frame: Frame, place: Place | None, node: ast.AST, value: Value) -> None:
        """Something is bound to a place. What a constructor binds belongs to a new object."""
        if place is not None and not frame.constructing and (self._open or self._concerns(place)):
            self.do("bind", place, frame, node, value)

    def forget(self, frame: Frame, held: Value | None, node: ast.AST) -> None:
        """What held a graph is bound to None, or to another graph: the old one is replayed no more."""
        if held is not None and is_graph(held) and isinstance(held, Object) and held.origin in self._recorded:
            self.do("lose", held.origin, frame, node)

    @property
    def concerned(self) -> bool:
        """Whether there is a graph that somebody may have to do with."""
        return bool(self._recorded or self._open)

    def may_concern(self, name: str, value: Value) -> bool:
        """Whether a graph may have read something of this name: asked before it is known whose it is."""
        if self._open:
            return True
        return bool(self._recorded) and (name in self._names or name == "data" or tensor_of(value) is not None)

    def recorded(self, graph: Hashable) -> Recorded | None:
        return self._recorded.get(graph)

    def _concerns(self, place: Place) -> bool:
        # Asked at every assignment, and a large program captures hundreds of graphs: first whether any of them ever did.
        if place not in self._ever_read and place.owner not in self._ever_ran:
            return False
        return any(place in each.reads or place.owner in each.ran for each in self._recorded.values())

    def write(self, frame: Frame, node: ast.expr, call: ast.AST, keeps: bool) -> None:
        """A tensor is written in place; `keeps` where what comes out depends on what it held."""
        if frame.region is not None or not (self._recorded or _near_capture(frame)):
            return
        tensor = root_of(frame, node)
        made = tensor.origin.node if tensor is not None else None
        if made is None:
            return
        # Decided here and not where a remembered call does it again: that makes nothing, and its frame is of another day.
        aside = self._open and (frame.doubtful or all(made in each.made for each in self._capturing()))
        self.do("touch" if keeps and aside else "change" if keeps else "write", made, frame, call, tensor or UNKNOWN)

    def _do(self, deed: Deed) -> None:
        self._log.append(deed)
        getattr(self, f"_{deed.kind}")(deed)

    def _capture(self, deed: Deed) -> None:
        self._recorded[deed.of] = Recorded(deed.frame, begins(deed.node), modes=dict(self._modes))
        if deed.of not in self._open:  # begun in both arms of an `if` it is one capture
            self._open.append(deed.of)
        self._captured.add(deed.of)
        self._bound.clear()
        self._written.clear()
        self._dropped = self._scheduled = None

    def _end(self, deed: Deed) -> None:
        if deed.of in self._open:
            self._open.remove(deed.of)
        recorded = self._recorded.get(deed.of)
        if recorded is None:
            return
        for fork in recorded.forked.values():
            if asides.is_aside(fork, recorded.frame):
                continue  # who comes there may wait for it, too
            fork.frame.interp.emitter.emit(events.Refused, fork.frame, fork.node, "unjoined")
        recorded.warmed = {made: self._changed[made] for made in recorded.changes if made in self._changed}

    def _library(self, deed: Deed) -> None:
        cold = deed.of and self._open and not self._set_up and not deed.frame.doubtful and not is_part(deed.frame.root)
        self._set_up = True
        recorded = self._recorded.get(self._open[-1]) if cold else None
        if recorded is not None and recorded.begun is not None:
            told = recorded.frame.interp.emitter
            told.emit(events.Refused, recorded.frame, recorded.begun, "cold", str(deed.of).removesuffix(".forward"))

    def _read(self, deed: Deed) -> None:
        for recorded in self._capturing():
            if deed.of not in recorded.bound:
                place: Place = deed.of  # type: ignore[assignment]
                recorded.reads.setdefault(place, deed.value)
                self._ever_read.add(place)
                self._names.add(place.name.partition("[")[0])

    def _hook(self, deed: Deed) -> None:
        self.hooks.add(deed)

    def _unhook(self, deed: Deed) -> None:
        self.hooks.remove(deed)

    def _fork(self, deed: Deed) -> None:
        for recorded in self._capturing():
            recorded.forked[deed.of] = deed

    def _join(self, deed: Deed) -> None:
        for recorded in self._capturing():
            if deed.of is None:  # an event, of whichever stream
                recorded.forked.clear()
            recorded.forked.pop(deed.of, None)

    def _use(self, deed: Deed) -> None:
        recorded = self._recorded.get(deed.of)
        if recorded is not None and not recorded.replays and deed.of not in self._open:
            recorded.used.append(deed)

    def _run(self, deed: Deed) -> None:
        for recorded in self._capturing():
            recorded.ran.add(deed.of)
            self._ever_ran.add(deed.of)

    def _bind(self, deed: Deed) -> None:
        place: Place = deed.of  # type: ignore[assignment]
        if not self._open:
            self._bound[place] = deed
        for recorded in self._capturing():
            if place in recorded.reads and _lasts(place, recorded.frame):
                recorded.carried[place] = deed
            recorded.bound[place] = deed

    def _lose(self, deed: Deed) -> None:
        self._recorded.pop(deed.of, None)
        if deed.of in self._open:
            self._open.remove(deed.of)

    def _mode(self, deed: Deed) -> None:
        self._modes[deed.of] = deed

    def _write(self, deed: Deed) -> None:
        made: ast.AST = deed.of  # type: ignore[assignment]
        self._written.add(made)
        if not self._open:
            self._changed.pop(made, None)
            for recorded in self._recorded.values():
                recorded.warmed.pop(made, None)
        for recorded in self._capturing():
            if made not in recorded.changes and isinstance(deed.node, ast.Call):
                recorded.made.add(made)  # `copy_` and the like: what it held before does not matter

    def _change(self, deed: Deed) -> None:
        made: ast.AST = deed.of  # type: ignore[assignment]
        self._written.add(made)
        if not self._open:
            self._changed.setdefault(made, deed)
        for recorded in self._capturing():
            recorded.changes.setdefault(made, deed)

    def _touch(self, deed: Deed) -> None:
        self._written.add(deed.of)  # type: ignore[arg-type]

    def _backward(self, deed: Deed) -> None:
        for recorded in self._capturing():
            recorded.backward = True
        if not self._open:
            self._dropped = None

    def _step(self, deed: Deed) -> None:
        for recorded in self._capturing():
            recorded.stepped = True
            recorded.rated |= _rate_is_number(deed.value)

    def _rate(self, deed: Deed) -> None:
        if not self._open:
            self._scheduled = deed

    def _drop(self, deed: Deed) -> None:
        if not self._open:
            self._dropped = deed if is_none(deed.value) else None

    def _replay(self, deed: Deed) -> None:
        recorded = self._recorded.get(deed.of)
        if recorded is None or self._open:
            return
        recorded.replays += 1
        for use in recorded.used:
            _tell(use, "empty", deed)
        recorded.used.clear()
        for place, bound in self._bound.items():
            what = self._stale(recorded, place, bound)
            if what:
                aside = asides.is_aside(bound, recorded.frame, deed.frame) or asides.is_any(place, recorded.frame)
                _tell(bound, what, deed, aside)
        if recorded.replays > 1:
            for place, bound in recorded.carried.items():
                read = tensor_of(recorded.reads[place])
                if place not in self._bound and isinstance(bound.value, Tensor) and read is not None:
                    if read.origin.node not in self._written:
                        _tell(bound, "carried", deed, asides.is_aside(bound, recorded.frame))
        if self._dropped is not None and recorded.backward and not recorded.stepped:
            aside = asides.is_aside(self._dropped, recorded.frame, deed.frame)
            _tell(_seen_from(self._dropped, deed.frame), "dropped", deed, aside)
        if self._scheduled is not None and recorded.rated:
            _tell(self._scheduled, "rate", deed, asides.is_aside(self._scheduled, recorded.frame, deed.frame))
        for mode in self._other_modes(recorded) if _depends_on_mode(recorded) else ():
            _tell(mode, "mode", deed, asides.is_aside(mode, recorded.frame, deed.frame))
        for change in recorded.warmed.values():
            _tell(_seen_from(change, recorded.frame), "warmed", deed, asides.is_aside(change, recorded.frame))
        recorded.warmed.clear()

    def in_other_mode(self, recorded: Recorded) -> bool:
        """Whether a module that was captured is trained now, and was not then, or the other way round."""
        return any(True for _ in self._other_modes(recorded))

    def _other_modes(self, recorded: Recorded) -> Iterator[Deed]:
        for module, mode in self._modes.items():
            before = recorded.modes.get(module)
            trained = before.value.key if before is not None else TRUE.key  # as modules are made
            if module in recorded.ran and mode.value.key != trained:
                yield mode

    # -- what that means ----------------------------------------------------------------------------------------

    def _capturing(self) -> list[Recorded]:
        return [self._recorded[graph] for graph in self._open]

    def _stale(self, recorded: Recorded, place: Place, bound: Deed) -> events.Stale | Literal[""]:
        """What the graph still has of a place that was bound anew; nothing where it never read it, or has the same."""
        old = recorded.reads.get(place)
        if _is_another_call(place, bound.frame, recorded.frame):
            return ""
        if old is None:
            ran = place.kind == "attribute" and place.owner in recorded.ran
            return "parameter" if ran and (place.name == "*" or tensor_of(bound.value) is not None) else ""
        if old.python_type in _NUMBERS:
            if place in recorded.bound:
                return ""  # the capture sets it for its own time, and what it has read is what it puts back
            return "" if isinstance(old, Const) and old.key == bound.value.key else "number"
        tensor = tensor_of(old)
        if tensor is not None:
            new = tensor_of(bound.value)
            made = tensor.origin.node
            if made in self._written:
                return ""
            if new is not None and new.origin.node is made and not _makes_several(made, bound.frame, recorded.frame):
                return ""
            return "parameter" if place.of_module else "input"
        if isinstance(old, (Instance, Object)):
            ran = owner_of(old) in recorded.ran and isinstance(bound.value, (Instance, Object))
            return "module" if ran and not _of_itself(bound.node) else ""
        if _is_function(old) or _is_function(bound.value):
            return ""  # a graph holds what a function did, and reads no function
        named = place.kind == "name" and bound.frame.function is recorded.frame.function
        return "input" if named or tensor_of(bound.value) is not None else ""


def _is_function(value: Value) -> bool:
    return all(isinstance(option, FunctionValue) for option in value.options)


def _lasts(place: Place, frame: Frame) -> bool:
    """Whether a place outlives the capture: an attribute, a global, or a name of the function that captures."""
    function = frame.function
    return place.kind != "name" or function is not None and place.owner == (function.module.path, function.qualname)


def _makes_several(made: ast.AST | None, *frames: Frame | None) -> bool:
    """Whether one place of the program makes several tensors: in a loop, or as the rows of another one."""
    if isinstance(made, ast.Call) and isinstance(made.func, (ast.Name, ast.Attribute)):
        name = made.func.id if isinstance(made.func, ast.Name) else made.func.attr
        if name in _ROWS:
            return True
    for frame in frames:
        while frame is not None:
            if made in frame.module.index(_in_loops):
                return True
            frame = frame.parent
    return False


def _in_loops(module: Module) -> frozenset[ast.AST]:
    """The calls of a file that run once for every turn of a loop."""
    loops = (node for node in nodes(module.tree) if isinstance(node, _LOOPS))
    return frozenset(node for loop in loops for node in nodes(loop) if isinstance(node, ast.Call))


def _is_another_call(place: Place, bound: Frame, captured: Frame | None) -> bool:
    """Whether a name is bound by a later call of a function that the capture has called: that one has names of its own."""
    function = bound.function
    if place.kind != "name" or function is None or place.owner != (function.module.path, function.qualname):
        return False
    while captured is not None:
        if captured.function is function:
            return False
        captured = captured.parent
    return True


def _depends_on_mode(recorded: Recorded) -> bool:
    """Whether what was captured computes something else in training: dropout, batch norm, `if self.training`."""
    layers = facts.named("computes something else in training")
    ran = any(isinstance(module, tuple) and module[0] in layers for module in recorded.ran)
    return ran or any(place.name == "training" for place in recorded.reads)


def _rate_is_number(optimizer: Value) -> bool:
    """Whether an optimizer was made with a number for its learning rate, which `step()` writes into its kernels."""
    made = optimizer.origin.node if isinstance(optimizer, Object) else None
    if not isinstance(made, ast.Call) or any(keyword.arg is None for keyword in made.keywords):
        return False
    given = next((k.value for k in made.keywords if k.arg == "lr"), made.args[1] if len(made.args) > 1 else None)
    return isinstance(given, ast.Constant)


def _near_capture(frame: Frame | None) -> bool:
    """Whether this code, or code that calls it, is in a file that captures graphs by hand."""
    while frame is not None:
        if frame.module.index(names_captures):
            return True
        frame = frame.parent
    return False


def _of_itself(node: ast.AST) -> bool:
    """`self.net = self.net.eval()`: the same object, most likely."""
    if not isinstance(node, ast.Assign):
        return False
    targets = {ast.unparse(target) for target in node.targets}
    return any(isinstance(n, ast.expr) and ast.unparse(n) in targets for n in ast.walk(node.value))


def _seen_from(deed: Deed, where: Frame) -> Deed:
    """What is done in a function that is called, as the function that captures sees it: the call."""
    frame, node = deed.frame, deed.node
    while frame.function is not where.function:
        parent, call = frame.parent, frame.call_node
        if parent is None or call is None:
            return deed
        frame, node = parent, call
    return deed._replace(frame=frame, node=node)


def _tell(bound: Deed, what: events.Stale, replay: Deed, aside: bool = False) -> None:
    line = getattr(replay.node, "lineno", 0)
    bound.frame.interp.emitter.emit(events.Rebound, bound.frame, bound.node, what, bound.value, line, aside)
