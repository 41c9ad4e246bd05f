"""Dynamo's policy: how many programs a sequence of calls costs.

A call runs the first program whose guards hold. Where none holds, Dynamo compiles: what changed since an earlier
compilation of this code (a size, an int, a float) becomes dynamic, everything else is written in. The state that decides
it is kept by source and updated only when something is compiled.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tclint.timeline.guarded import Exact, Guarded, Items, Moment, Number, Table, Tensor, Unknown, Varies
from tclint.torch_facts.layouts import UNKNOWN_STRIDES, contiguous

LIMIT: Final = 8
"""Programs of one code object before Dynamo gives up and runs it eagerly (`recompile_limit`)."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of torch and of the compile site that decide what becomes dynamic."""

    dynamic: bool | None = None
    """`torch.compile(dynamic=…)`: None makes dynamic what changed, True everything, False nothing."""
    automatic: bool = True
    """`automatic_dynamic_shapes`."""
    specialize_int: bool = False
    specialize_float: bool = False
    dynamic_attributes: bool = False
    """`allow_unspec_int_on_nn_module`."""
    limit: int = LIMIT

    @staticmethod
    def of(dynamic: object, settings: Collection[str] = ()) -> Policy:
        """The policy of a compile site; `settings` are the switches of Dynamo that are on, or off as `not name`."""
        asked = dynamic if isinstance(dynamic, bool) else None
        return Policy(
            True if asked is None and "not assume_static_by_default" in settings else asked,
            "not automatic_dynamic_shapes" not in settings,
            "specialize_int" in settings,
            "specialize_float" in settings,
            "allow_unspec_int_on_nn_module" in settings,
        )


@dataclass(frozen=True, slots=True)
class Program:
    """One compilation: the number of the call that made it, and the places that no earlier program fitted."""

    call: int
    because: tuple[str, ...] = ()


def programs(moments: Sequence[Moment], policy: Policy = Policy()) -> tuple[Program, ...]:  # noqa: B008
    """The programs that a sequence of calls of one code object costs, in the order in which they are made."""
    made: list[tuple[Program, Mapping[str, _Guard]]] = []
    state = _State()
    before: Moment | None = None
    for number, moment in enumerate(moments):
        if moment == before and not any(map(_varies, moment.values())):
            continue  # what ran once runs again
        before = moment
        atoms = dict(_atoms(moment, number))
        wrong = [_differences(atoms, guards) for _, guards in made]
        if not all(wrong):
            continue
        because = min(reversed(wrong), key=len) if wrong else ()
        made.append((Program(number, tuple(because)), _compile(atoms, state, policy)))
        if len(made) >= policy.limit:
            break
    return tuple(program for program, _ in made)


def _varies(guarded: Guarded) -> bool:
    if isinstance(guarded, Items):
        return any(map(_varies, guarded.items))
    if isinstance(guarded, Table):
        return any(_varies(item) for _, item in guarded.items)
    return isinstance(guarded, Varies) or (isinstance(guarded, Tensor) and bool(guarded.varied))


# --- one call as single facts -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Size:
    value: int
    mark: str  # "", "dynamic", "unbacked" or "static"


@dataclass(frozen=True, slots=True)
class _Strides:
    value: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Marks:
    value: tuple[frozenset[int], ...]


_Atom = Exact | Number | _Size | _Strides | _Marks


def _atoms(moment: Moment, call: int) -> Iterator[tuple[str, _Atom]]:
    for place, guarded in moment.items():
        yield from _parts(place, guarded, call)


def _parts(place: str, guarded: Guarded, call: int) -> Iterator[tuple[str, _Atom]]:
    if isinstance(guarded, Unknown):
        return
    if isinstance(guarded, Varies):
        # Any numbers will do that differ from each other, and are none of the special ones.
        value = call + 2 if guarded.type == "int" else call + 2.5
        if guarded.type == "bool":
            value = _thrown(place, call)
        guarded = Number(value, guarded.place, guarded.burned)
    if isinstance(guarded, Exact):
        # Its key may be a tuple, which it is not.
        yield f"type({place})", Exact(("one", type(guarded.key).__name__))
        yield place, guarded
    elif isinstance(guarded, Number):
        yield f"type({place})", Exact(type(guarded.value).__name__)
        yield place, guarded
    elif isinstance(guarded, Tensor):
        yield from _tensor_parts(place, guarded, call)
    elif isinstance(guarded, Items):
        yield f"type({place})", Exact(guarded.kind)
        yield f"len({place})", Exact(len(guarded.items))
        for index, item in enumerate(guarded.items):
            yield from _parts(f"{place}[{index}]", item, call)
    else:
        yield f"type({place})", Exact(guarded.kind)
        if not guarded.some:
            yield f"keys({place})", Exact(tuple(key for key, _ in guarded.items))
        for key, item in guarded.items:
            yield from _parts(f"{place}[{key!r}]", item, call)


def _thrown(place: str, call: int) -> bool:
    """A flag that is drawn anew for each call: one way, the other, and then the same on every machine."""
    return call == 0 if call < 2 else hashlib.blake2b(f"{place} {call}".encode()).digest()[0] < 128


def _tensor_parts(place: str, tensor: Tensor, call: int) -> Iterator[tuple[str, _Atom]]:
    yield f"type({place})", Exact("Parameter" if tensor.static else "Tensor")
    if tensor.dtype:
        yield f"{place}.dtype", Exact(tensor.dtype)
    if tensor.requires_grad is not None:
        yield f"{place}.requires_grad", Exact(tensor.requires_grad)
    if tensor.sizes is None:
        return
    yield f"{place}.dim()", Exact(len(tensor.sizes))
    yield f"marks({place})", _Marks((tensor.marked, tensor.maybe, tensor.unbacked))
    for dim, size in enumerate(tensor.sizes):
        if size is None and dim not in tensor.varied:
            continue
        size = call + 2 if size is None else size  # any numbers will do, as above
        mark = "unbacked" if dim in tensor.unbacked else "dynamic" if dim in tensor.marked | tensor.maybe else ""
        yield f"{place}.size({dim})", _Size(size, "static" if tensor.static or dim in tensor.fixed else mark)
    if None not in tensor.sizes and (tensor.strides != UNKNOWN_STRIDES or not tensor.sizes):
        sizes = tuple(size for size in tensor.sizes if size is not None)
        yield f"{place}.stride()", _Strides(tensor.strides or contiguous(sizes), sizes)


# --- one program --------------------------------------------------------------------------------------------------------


_NOTHING: Final = object()


@dataclass(frozen=True, slots=True)
class _Guard:
    """What a program asks of one fact: to be `exactly` something, or to lie from `least` on; `like` names a twin."""

    exactly: object = _NOTHING
    free: bool = False
    least: int | None = None
    like: str = ""


def _differences(atoms: Mapping[str, _Atom], guards: Mapping[str, _Guard]) -> tuple[str, ...]:
    """The places at which a call does not fit a program."""
    return tuple(
        place for place, guard in guards.items() if place in atoms and not _fits(atoms[place], guard, atoms, guards)
    )


def _fits(atom: _Atom, guard: _Guard, atoms: Mapping[str, _Atom], guards: Mapping[str, _Guard]) -> bool:
    if isinstance(atom, Exact):
        return bool(guard.exactly == atom.key)
    value = atom.value
    if isinstance(atom, _Marks):
        assert isinstance(guard.exactly, tuple)
        # Marks that are missing are no reason to compile again; marks that are new are.
        return all(now <= then for now, then in zip(atom.value, guard.exactly, strict=True))
    if guard.like:
        twin = atoms.get(guard.like)
        return isinstance(twin, (_Size, Number)) and twin.value == value
    if guard.free:
        return guard.least is None or (isinstance(value, int) and value >= guard.least)
    if isinstance(atom, _Strides):
        return _same_layout(atom, guard.exactly)
    return type(guard.exactly) is type(value) and bool(guard.exactly == value)


def _same_layout(atom: _Strides, wanted: object) -> bool:
    """Strides that were written in, dimension by dimension; where a size is dynamic they follow from the sizes."""
    assert isinstance(wanted, tuple)
    rule, written = wanted
    if rule == "exact":
        return bool(atom.value == written)
    if rule == "some":
        if len(atom.value) != len(written):
            return False  # a tensor of another rank
        pairs = zip(atom.value, written, strict=True)
        return all(now > 1 if then is None else now == then for now, then in pairs)
    return bool(_rule(atom.value, atom.sizes) == written)


def _rule(strides: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[object, ...]:
    """Each stride as a product of the sizes of the dimensions inside it, so that it holds for other sizes too."""
    order = sorted(range(len(sizes)), key=lambda dim: (strides[dim], sizes[dim], -dim))
    told: dict[int, object] = {}
    for at, dim in enumerate(order):
        inner = order[:at]
        expected = math.prod(sizes[d] for d in inner)
        told[dim] = tuple(sorted(inner)) if strides[dim] == expected else strides[dim]
    return tuple(told[dim] for dim in range(len(sizes)))


@dataclass(slots=True)
class _State:
    """What Dynamo remembers of earlier compilations of the same code: a value as long as it is the same, else CHANGED."""

    seen: dict[str, object] = field(default_factory=dict)

    kinds: dict[str, str] = field(default_factory=dict)
    """By source: `number`, `tensor`, or `both`, which makes either dynamic at once."""

    def mixed(self, source: str, kind: str) -> bool:
        """Record what kind of thing a source gave; whether it has given both numbers and tensors."""
        before = self.kinds.setdefault(source, kind)
        if before != kind:
            self.kinds[source] = "both"
        return before != kind

    def changed(self, place: str, value: object) -> bool:
        """Record a value; whether more than one has been compiled for."""
        before = self.seen.get(place, value)
        if before is _CHANGED or before != value:
            self.seen[place] = _CHANGED
            return True
        self.seen[place] = value
        return False


_CHANGED: Final = object()


def _compile(atoms: Mapping[str, _Atom], state: _State, policy: Policy) -> dict[str, _Guard]:
    guards: dict[str, _Guard] = {}
    twins: dict[int, str] = {}
    free: set[str] = set()
    # A source that was seen with another rank, or as a number, is dynamic in all its sizes.
    whole = {
        place: state.changed(place, atom.key) | state.mixed(place.removesuffix(".dim()"), "tensor")
        for place, atom in atoms.items()
        if place.endswith(".dim()") and isinstance(atom, Exact)
    }
    for place, atom in atoms.items():
        if isinstance(atom, Exact):
            guards[place] = _Guard(atom.key)
        elif isinstance(atom, _Marks):
            guards[place] = _Guard(atom.value)
        elif isinstance(atom, _Size):
            tensor = place.rpartition(".size(")[0]
            changed = atom.mark != "static" and state.changed(place, atom.value) | whole.get(f"{tensor}.dim()", False)
            guards[place] = _size_guard(place, atom, changed, policy, twins)
            if guards[place].free or guards[place].like:
                free.add(tensor)
        elif isinstance(atom, Number):
            guards[place] = _number_guard(place, atom, state, policy)
        elif isinstance(atom, _Strides):
            tensor = place.removesuffix(".stride()")
            moved = [state.changed(f"{place}[{dim}]", stride) for dim, stride in enumerate(atom.value)]
            if tensor in free:
                guards[place] = _Guard(("rule", _rule(atom.value, atom.sizes)))
            elif any(moved) and policy.automatic and policy.dynamic is None:
                pairs = zip(atom.value, moved, strict=True)
                # As with sizes, what is 0 or 1 is written in.
                guards[place] = _Guard(("some", tuple(None if new and n > 1 else n for n, new in pairs)))
            else:
                guards[place] = _Guard(("exact", atom.value))
    return guards


def _size_guard(place: str, size: _Size, changed: bool, policy: Policy, twins: dict[int, str]) -> _Guard:
    if size.mark == "unbacked":
        return _Guard(free=True)
    if size.mark == "static" or size.value < 2:
        return _Guard(size.value)
    if size.mark == "dynamic" or (changed and policy.automatic and policy.dynamic is not False):
        return _Guard(free=True, least=2)
    if policy.dynamic is True:
        # Sizes that are equal in the call that is compiled are one symbol.
        twin = twins.setdefault(size.value, place)
        return _Guard(free=True, least=2) if twin == place else _Guard(like=twin)
    return _Guard(size.value)


def _number_guard(place: str, number: Number, state: _State, policy: Policy) -> _Guard:
    value = number.value
    if isinstance(value, bool):
        return _Guard(value)
    static = number.place in ("attribute", "global") and not policy.dynamic_attributes
    changed = state.changed(place, value) | state.mixed(place, "number")
    if isinstance(value, int):
        changed = changed and not (static or policy.specialize_int)
    else:
        changed = changed and not policy.specialize_float and math.isfinite(value)
    if number.burned or (static and isinstance(value, int)):
        return _Guard(value)
    if policy.dynamic is True and not (isinstance(value, int) and policy.specialize_int):
        return _Guard(free=True)
    if changed and policy.automatic and policy.dynamic is not False:
        return _Guard(free=True)
    return _Guard(value)
