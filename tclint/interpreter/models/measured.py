"""Results of calls as they were measured: the value of what the facts say comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.results import Args, Keywords, first_tensor
from tclint.torch_facts import calls
from tclint.torch_facts.form import Form
from tclint.torch_facts.kind import Kind
from tclint.values import (
    ARRAY,
    DATA_SIZED,
    HOST,
    NONE,
    PROVEN,
    SIZE,
    UNKNOWN,
    USED,
    Dict,
    External,
    Object,
    Origin,
    Scalar,
    Seq,
    Tensor,
    Value,
)
from tclint.values.kinds import kinds_of
from tclint.values.scalar import SCALARS

# The letters of the facts, and those of a tensor's `dtype`.
_DTYPES: Final = {"f": "f", "d": "f", "h": "f", "i": "i", "j": "i", "b": "b", "c": "c"}
_SINGLE: Final[dict[str, Value]] = {**SCALARS, "none": NONE}


def measured(frame: Frame, name: str, receiver: Value | None, args: Args, keywords: Keywords, origin: Origin) -> Value:
    """What a call was seen to return for such arguments; unknown where it was not asked, or not always the same."""
    seen = ways(frame, name, receiver, args, keywords)
    kind = joined(seen)
    if kind is None:
        return UNKNOWN
    first = first_tensor([receiver, *args] if receiver is not None else args, keywords)
    if kind.is_tensor or kind.name == "ndarray":
        return _array(kind, seen, first, origin)
    if kind.alike and not fits(frame, name, receiver, args, keywords):
        kind = Kind(kind.name)  # what was given decides what is in it
    if kind.is_number and any(form.reads_values for form in seen):
        return Scalar(kind.name, "data", origin)
    if kind.is_number and any(form.unsteady and (frame.region is None or not form.breaks) for form in seen):
        return Scalar(kind.name, "random", origin)
    return value_of(kind, origin, any(form.reads_values for form in seen))


def fits(frame: Frame, name: str, receiver: Value | None, args: Args, keywords: Keywords) -> bool:
    """Whether such arguments were tried."""
    key = calls.key_of(name)
    release = frame.interp.options.release
    return key is not None and bool(calls.forms(key, release, *kinds_of(receiver, args, keywords)))


def ways(frame: Frame, name: str, receiver: Value | None, args: Args, keywords: Keywords) -> Sequence[Form]:
    """The ways of calling that fit, or all that were tried where none does."""
    key = calls.key_of(name)
    if key is None:
        return ()
    release = frame.interp.options.release
    seen = calls.forms(key, release, *kinds_of(receiver, args, keywords))
    if seen:
        return seen
    answer = calls.answer(key, release)
    return answer.forms if answer is not None else ()


def varies(frame: Frame, name: str) -> bool:
    """Whether what comes out is a tensor in one way of calling and several in another."""
    key = calls.key_of(name)
    return key is not None and calls.varies(key, frame.interp.options.release)


def joined(seen: Sequence[Form]) -> Kind | None:
    """What all ways of calling return."""
    joined: Kind | None = None
    for place, form in enumerate(seen):
        joined = form.result if place == 0 else joined.joined(form.result) if joined is not None else None
    return joined


def _array(kind: Kind, seen: Sequence[Form], first: Tensor | None, origin: Origin) -> Tensor:
    flags = DATA_SIZED if all(form.shape_follows_values for form in seen) else 0
    if kind.name == "ndarray":
        flags |= ARRAY | HOST if first is None else ARRAY | first.flags & HOST
    dtype = _DTYPES.get(kind.dtype or "", "")
    if all(_keeps_dtype(form) for form in seen):
        dtype = first.dtype if first is not None else ""
    elif dtype != "b" and not all(any(a.kind.dtype for a in form.arguments) for form in seen):
        dtype = ""  # what numbers were given decides
    return Tensor(PROVEN if kind.name != "ndarray" else USED, dtype, -1, flags, origin)


def _keeps_dtype(form: Form) -> bool:
    """Whether the result has the type of the first tensor given."""
    first = next((a.kind.dtype for a in form.arguments if a.kind.dtype), None)
    return first is not None and first == form.result.dtype


def value_of(kind: Kind, origin: Origin, reads: bool = False) -> Value:
    """A value of a kind."""
    single = _SINGLE.get(kind.name)
    if single is not None:
        return single
    if kind.is_tensor:
        return Tensor(PROVEN, _DTYPES.get(kind.dtype or "", ""), -1, 0, origin)
    if kind.name == "ndarray":
        return Tensor(USED, _DTYPES.get(kind.dtype or "", ""), -1, ARRAY | HOST, origin)
    if kind.name == "scalar":
        return Tensor(USED, _DTYPES.get(kind.dtype or "", ""), 0, ARRAY | HOST, origin)
    if kind.name == "size":
        return Seq("size", None, SIZE)
    if kind.name in ("list", "tuple", "set"):
        if kind.members and not kind.alike:
            return Seq(kind.name, tuple(value_of(member, origin) for member in kind.members))
        inner = value_of(kind.members[0], origin) if kind.members else UNKNOWN
        if isinstance(inner, Tensor):
            inner = inner.with_(dtype="")  # that of the argument, mostly
        return Seq(kind.name, None, inner, "data" if reads else "")
    if kind.name == "dict":
        return Dict({}, UNKNOWN)
    if kind.name in ("dtype", "device"):
        return External(f"torch.{kind.name}()")
    if kind.name == "object" and kind.type_name is not None:
        return Object(_PUBLIC.get(kind.type_name, kind.type_name), origin)
    return UNKNOWN


# Classes by the names under which programs know them.
_PUBLIC: Final = {
    "numpy.random._generator.Generator": "numpy.random.Generator",
    "numpy.random.mtrand.RandomState": "numpy.random.RandomState",
    "torch._C.Generator": "torch.Generator",
}
