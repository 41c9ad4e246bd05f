"""What constructors give objects, found out apart from whoever asks: once for all parts that a process interprets.

A library builds the same layers in hundreds of models. What one holds follows from its class, from what its constructor is given
and from what the compile sites told; so each is built in an interpreter of its own that knows nothing else. Whoever asks gets
what came out, with everything that was read for it and learned on the way, as if he had run the constructor himself. It
therefore does not matter who asks first, or in which process.

What such a run would change for others, or what depends on more than that, is not found out apart but where it is asked.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar

from tclint.interpreter import hooked
from tclint.interpreter.frame import Env, Frame
from tclint.interpreter.state import Failure, SiteKnowledge
from tclint.program import Class, Function, Module, Touched
from tclint.values import UNKNOWN, Const, External, FunctionValue, Instance, Origin, Scalar, Union, Value
from tclint.values.origin import NOWHERE

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_DEEPEST: Final = 16
"""Runs that ask for one another. What goes deeper has no end, as a rule."""
_KEPT_PARTS: Final = 64
"""How long it stays what one part alone has asked for: neighbours ask for the same."""
_TOO_DEEP: Final = "too deep"
_NESTED: Final = 24
"""How deep a value is looked into."""
_LEFT_OUT: Final = frozenset({"key", "_nesting"})
"""What of a value follows from the rest of it."""

Given = tuple[Sequence[Value], Mapping[str, Value]]
Made = tuple[Instance, Sequence[Value], Mapping[str, Value]]
_K = TypeVar("_K")
_V = TypeVar("_V")


class Shared(BaseException):
    """A run apart would change what others see, or depends on who asks. No failure of the program: nobody else catches it."""

    def __init__(self, back_to: Hashable = None) -> None:
        self.back_to = back_to
        """Where a run leads back to one that is under way: that one."""


@dataclass(frozen=True, slots=True)
class Built(Generic[_V]):
    """What a run gave, and what was learned and read on the way."""

    value: _V
    constructed: Sequence[tuple[Instance, Given]]
    made_with: Mapping[tuple[str, str, str], Mapping[tuple[str, str], Mapping[Any, str]]]
    frozen: frozenset[tuple[object, ...]]
    thawed: frozenset[tuple[object, ...]]
    failures: Sequence[Failure]
    hooks: hooked.Built
    read: frozenset[Touched]


class Apart:
    """Finds out what constructors give, with what an interpreter knows of the compile sites."""

    def __init__(self, teacher: Interpreter) -> None:
        self._teacher = teacher
        self._learned = _sealed(teacher.learned)
        self.made: dict[int, Made] = {}
        """How objects were made, by their identity: the same for all who hold one."""
        self._built: dict[Hashable, Built[Any] | None] = {}
        self._part = 0
        self._asked: dict[Hashable, int] = {}
        """What one part alone has asked for so far: which one, by its number."""
        self._open: list[Hashable] = []
        """The runs that are under way."""
        self._making: list[Hashable] = []
        """What they build."""

    def begin(self) -> None:
        """Another part begins. What one part asked for and none of the next ones is let go: should somebody ask again, the same is
        found out again."""
        self._part += 1
        long_ago = takewhile(lambda asked: asked[1] <= self._part - _KEPT_PARTS, self._asked.items())
        for sign, _ in [*long_ago]:
            del self._asked[sign], self._built[sign]

    def attributes(self, interp: Interpreter, instance: Instance) -> dict[str, Value] | None:
        """What a constructor gives an object; None where that is to be found out where it is asked."""
        given = interp.learned.constructions.get(instance.key)
        signs = _Signs(interp)
        given = _unplaced(given) if given is not None else None
        try:
            made = signs.of_instance(instance)
            sign = (made, signs.of_given(given))
        except Shared:
            return None

        def build(other: Interpreter) -> dict[str, Value]:
            signs.tell(other, instance, given)
            self._making.append(made)
            try:
                return other.instance_attributes.built(instance)
            finally:
                self._making.pop()

        found = self._found(interp, sign, build)
        return dict(found.value) if found is not None else None

    def held(self, interp: Interpreter, instance: Instance, given: Given) -> dict[str, Value] | None:
        """What a constructor gives an object that has an identity; None where that is to be found out where it is asked."""
        signs = _Signs(interp, self._making)
        given = _unplaced(given)
        try:
            made = signs.of_instance(instance)
            sign = ("held", made, signs.of_given(given))
        except Shared:
            return None

        def hold(other: Interpreter) -> dict[str, Value]:
            args, keywords = signs.tell(other, None, given)
            self._making.append(made)
            try:
                built = other.heap.built(other.heap.allocate(instance.identified(0), args, keywords))
            finally:
                self._making.pop()
            if built is None:
                raise Shared()
            return built

        found = self._found(interp, sign, hold)
        return found.value if found is not None else None

    def result(self, frame: Frame, value: FunctionValue, env: Env) -> Value | None:
        """What a function of a file gives a constructor that calls it; None where that is to be found out there.

        That is so where it is given an object in the making: what it finds in it is the constructor's business.
        """
        interp = frame.interp
        signs = _Signs(interp, self._making)
        env = {name: _nowhere(each) for name, each in env.items()}
        try:
            sign = (value.function, frame.depth, frame.grad, signs.of_env(env))
        except Shared:
            return None

        def call(other: Interpreter) -> Value:
            signs.tell(other)
            caller = Frame(other, value.function.module, value.function, {}, None)
            caller.constructing, caller.depth, caller.grad = True, frame.depth, frame.grad
            node = value.function.node
            given = other.functions.interpreted(
                Frame(other, value.function.module, value.function, env, None, caller, node), value
            )
            if other.heap.is_used or other.graph_memory.length or other.recordings.length or other.account.length:
                raise Shared()
            return given

        found = self._found(interp, sign, call)
        return found.value if found is not None else None

    def _found(self, interp: Interpreter, sign: Hashable, run: Callable[[Interpreter], _V]) -> Built[_V] | None:
        if sign in self._open:
            raise Shared(sign)
        if sign not in self._built:
            self._built[sign] = self._find_out(sign, run)
            self._asked[sign] = self._part
        elif self._asked.get(sign, self._part) != self._part:
            del self._asked[sign]
        built = self._built[sign]
        if built is not None:
            _learn(interp, built)
        return built

    def _find_out(self, sign: Hashable, run: Callable[[Interpreter], _V]) -> Built[_V] | None:
        if len(self._open) >= _DEEPEST:
            raise Shared(_TOO_DEEP)
        teacher = self._teacher
        program = teacher.program
        interp = type(teacher)(program, teacher.options, teacher.emitter.dispatcher, teacher.text, self._copy(), self)
        interp.emitter.quiet += 1
        self._open.append(sign)
        outer, program.touched = program.touched, set()
        try:
            value = run(interp)
            if any(isinstance(failure.error, RecursionError) for failure in interp.results.failures):
                raise Shared()  # how deep it gets depends on where it is asked
            learned, constructed = interp.learned, interp.objects.constructions.constructed
            was = self._learned.frozen
            return Built(
                value,
                [(each, learned.constructions[key]) for key, each in constructed.items()],
                learned.made_with,
                frozenset(learned.frozen - was),
                frozenset(was - learned.frozen),
                tuple(interp.results.failures),
                interp.recordings.hooks.built,
                frozenset(program.touched),
            )
        except Shared as shared:
            if shared.back_to is not None and shared.back_to != sign and len(self._open) > 1:
                # Whoever is entered first, all that lead to each other are found out where they are asked.
                self._built[sign] = None
                raise
            return None
        finally:
            self._open.pop()
            outer |= program.touched
            program.touched = outer
            interp.close()

    def _copy(self) -> SiteKnowledge:
        learned = self._learned
        return SiteKnowledge(
            sites=learned.sites,
            targets=learned.targets,
            compiled_instances=learned.compiled_instances,
            calls_seen=learned.calls_seen,
            walks=learned.walks,
            made_with={},
            counted=learned.counted,
            set_globals=learned.set_globals,
            callees=learned.callees,
            closures=learned.closures,
            constructions=dict(learned.constructions),
            construction_count=dict(learned.construction_count),
            late=learned.late,
            late_within=learned.late_within,
            frozen=set(learned.frozen),
            rebound=learned.rebound,
        )


def _unplaced(given: Given) -> Given:
    """Arguments of which it does not matter which line computes a number: layers are built alike all over a library."""
    args, keywords = given
    return [_nowhere(v) for v in args], {name: _nowhere(v) for name, v in keywords.items()}


def _nowhere(value: Value) -> Value:
    if type(value) is Scalar:
        return Scalar(value.type, value.source, NOWHERE, value.ref) if value.origin is not NOWHERE else value
    if type(value) is Union:
        return Union(tuple([_nowhere(option) for option in value.options]))
    return value


def _learn(interp: Interpreter, built: Built[Any]) -> None:
    """Know what a constructor taught, as if it had been run here."""
    interp.program.touched.update(built.read)
    interp.recordings.hooks.learn(built.hooks)
    for instance, (args, keywords) in built.constructed:
        interp.objects.constructions.elsewhere(instance, args, keywords)
    for key, made in built.made_with.items():
        mine = interp.learned.made_with.setdefault(key, {})
        for maker, told in made.items():
            known = mine.setdefault(maker, {})
            for value, place in told.items():
                interp.objects.constructions.note(known, value, place)
    interp.learned.frozen |= built.frozen
    interp.learned.frozen -= built.thawed
    failures = interp.results.failures
    failures.extend(failure for failure in built.failures if failure not in failures)


class _Signs:
    """What tells the arguments of a constructor apart, all that can be read of them included."""

    def __init__(self, interp: Interpreter, making: Container[Hashable] = ()) -> None:
        self._interp = interp
        self._making = making
        self._numbers: dict[int, int] = {}
        """The objects by their identity, as they come."""
        self._made: dict[int, Made] = {}
        self._given: dict[Any, Given] = {}
        """How the objects that have no identity were built, by their keys."""
        self._depth = 0

    def of_instance(self, instance: Instance) -> Hashable:
        return (instance.cls, self._of(instance.context))

    def of_given(self, given: Given | None) -> Hashable:
        if given is None:
            return None
        args, keywords = given
        return (tuple([self._of(v) for v in args]), tuple([(n, self._of(v)) for n, v in keywords.items()]))

    def of_env(self, env: Env) -> Hashable:
        return tuple([(name, self._of(value)) for name, value in env.items()])

    def tell(self, interp: Interpreter, instance: Instance | None = None, given: Given | None = None) -> Given:
        """Let an interpreter know how the objects were built. They are objects of its own there, also those that are given."""
        constructions = interp.learned.constructions
        renewed: dict[int, Instance] = {}
        for key, (args, keywords) in self._given.items():
            constructions[key] = self._renewed(interp, args, keywords, renewed)
        mine: Given = self._renewed(interp, *given, renewed) if given is not None else ((), {})
        if instance is not None and given is not None:
            constructions[instance.key] = mine
        return mine

    def _renewed(
        self, interp: Interpreter, args: Sequence[Value], keywords: Mapping[str, Value], renewed: dict[int, Instance]
    ) -> Given:
        def anew(value: Value) -> Value:
            identity = value.identity
            if not identity or identity not in self._made:
                return value
            if identity not in renewed:
                made, args, keywords = self._made[identity]
                renewed[identity] = made  # for an object that is made with itself
                renewed[identity] = interp.heap.allocate(
                    made.identified(0), *self._renewed(interp, args, keywords, renewed)
                )
            return renewed[identity]

        return [anew(v) for v in args], {n: anew(v) for n, v in keywords.items()}

    def _of(self, value: Any) -> Hashable:
        kind = type(value)
        # What most arguments are, first.
        if value is None or kind is str:
            return value  # type: ignore[no-any-return]
        if kind is External or (kind is Scalar and value.origin is NOWHERE) or value is UNKNOWN:
            return value.key  # type: ignore[no-any-return]
        if kind is Const:
            return (kind, self._of(value.value))
        if kind in _PLAIN:
            return (kind, value)
        self._depth += 1
        if self._depth > _NESTED:
            raise Shared()
        try:
            if isinstance(value, Value):
                return self._of_value(value)
            if kind is Origin:
                return (value.path, value.line, getattr(value.node, "col_offset", -1))
            if kind is tuple or kind is list:
                return (kind, *[self._of(each) for each in value])
            if isinstance(value, Mapping):
                return (kind, *[(self._of(name), self._of(each)) for name, each in value.items()])
            if isinstance(value, ast.AST):
                return (kind, getattr(value, "lineno", -1), getattr(value, "col_offset", -1))
            return (kind, value) if type(value).__hash__ is not None else _give_up()
        finally:
            self._depth -= 1

    def _of_value(self, value: Value) -> Hashable:
        if type(value) is Instance:
            return self._of_object(value)
        if type(value) is FunctionValue:
            closure = value.closure or {}
            names = sorted(value.function.free_names() & closure.keys()) if closure else ()
            return (value.function, self._of(value.bound), *[(name, self._of(closure[name])) for name in names])
        return (type(value), *[self._of(getattr(value, name, None)) for name in _slots(type(value))])

    def _of_object(self, value: Instance) -> Hashable:
        interp, identity = self._interp, value.identity
        if identity in self._numbers:
            return ("again", self._numbers[identity])
        made = interp.heap.made(identity) if identity else None
        if made is None:
            if value.key in self._given or value.fields is not None:
                given = None
            else:
                given = interp.learned.constructions.get(value.key)
                if given is not None:
                    given = self._given[value.key] = _unplaced(given)
            sign = (value.cls, self._of(value.context))
            if sign in self._making:
                raise Shared()
            return (*sign, self._of(value.fields), bool(identity), self.of_given(given))
        if self._depth > 1 or interp.heap.is_changed(identity):
            raise Shared()  # what it holds, and who else holds it, is the business of the walk
        self._numbers[identity] = len(self._numbers)
        self._made[identity] = made
        depth, self._depth = self._depth, 0
        try:
            return (value.cls, self._of(value.context), self.of_given(made[1:]))
        finally:
            self._depth = depth


def _give_up() -> NoReturn:
    raise Shared()


_PLAIN: Final = frozenset({bool, int, float, complex, bytes, Class, Function, Module})


_SLOTS: Final[dict[type, tuple[str, ...]]] = {}


def _slots(kind: type) -> tuple[str, ...]:
    known = _SLOTS.get(kind)
    if known is None:
        names = [name for each in kind.__mro__ for name in getattr(each, "__slots__", ())]
        known = _SLOTS[kind] = tuple(name for name in names if name not in _LEFT_OUT)
    return known


# -- knowledge that a run apart may read and not change ----------------------------------------------------------------


def _refused(self: object, *args: object, **keywords: object) -> NoReturn:
    raise Shared()


class _SealedDict(dict[_K, _V]):
    __setitem__ = __delitem__ = setdefault = update = pop = popitem = clear = __ior__ = _refused


class _SealedSet(set[_V]):
    add = discard = remove = pop = update = clear = __ior__ = __isub__ = __iand__ = __ixor__ = _refused
    difference_update = intersection_update = symmetric_difference_update = _refused


class _SealedList(list[_V]):
    append = extend = insert = remove = pop = clear = sort = reverse = _refused
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refused


def _sealed(learned: SiteKnowledge) -> SiteKnowledge:
    """What somebody learned, as it is now."""
    return SiteKnowledge(
        sites=_SealedDict(learned.sites),
        targets=_SealedList(learned.targets),
        compiled_instances=_SealedDict(learned.compiled_instances),
        calls_seen=_SealedDict(learned.calls_seen),
        walks=_SealedDict(learned.walks),
        counted=_SealedSet(learned.counted),
        set_globals=_SealedDict(learned.set_globals),
        callees=_SealedDict(learned.callees),
        closures=_SealedDict(learned.closures),
        constructions=dict(learned.constructions),
        construction_count=dict(learned.construction_count),
        late=_SealedDict(learned.late),
        late_within=_SealedDict(learned.late_within),
        frozen=set(learned.frozen),
        rebound=_SealedSet(learned.rebound),
    )


def stands_alone(frame: Frame, function: Function) -> bool:
    """Whether what a constructor calls is a function of a file that nothing around the call matters to."""
    interp = frame.interp
    return (
        interp.apart is not None
        and interp.emitter.quiet > 0
        and function.cls is None
        and function.parent is None
        and not function.module.library
        and not frame.modes
        and not frame.capturing
        and not interp.graph_memory.runs
        and not interp.graph_memory.paused
        and not interp.recordings.concerned
    )
