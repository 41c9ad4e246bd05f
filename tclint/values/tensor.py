"""A tensor and what is known of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from tclint.timeline import guarded
from tclint.values.class_value import ClassValue
from tclint.values.constant import Const
from tclint.values.external import External
from tclint.values.flags import (
    ARRAY,
    DATA_SIZED,
    GRADIENT_UNKNOWN,
    HOST,
    INPUT,
    NEEDS_GRAD,
    NO_GRADIENT,
    OWNED,
    PARAMETER,
    PENDING,
    RAW,
    REPLAYED,
    SPARSE,
    STALE,
    STATIC_OUT,
    STEADY,
    STRIDED,
)
from tclint.values.library import MODELS
from tclint.values.origin import NOWHERE, Origin
from tclint.values.types import TENSOR_TYPES, is_python
from tclint.values.value import TENSOR, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.program import Class
    from tclint.timeline.guarded import Guarded
    from tclint.values.region import CompileSite

# How strong the evidence is that a value is a tensor.
NAMED: Final = 1  # only its name says so
USED: Final = 2  # it is used, or passed by a caller, as one
PROVEN: Final = 3  # produced by torch, or annotated

UNBACKED: Final = 1000
"""Added to a dimension among a tensor's marks where it is marked unbacked: no special case for sizes 0 and 1."""

FIXED: Final = 3000
"""Added where it is marked static: its sizes never become dynamic."""

# What survives an operation that returns fresh storage.
_DERIVED_KEEP: Final = DATA_SIZED | HOST | ARRAY | STEADY | NO_GRADIENT | GRADIENT_UNKNOWN


class Tensor(Value):
    """A tensor and what is known of it. `dtype` is one of b i f c or empty; `ndim` is -1 where unknown.

    Of tensors that eager code makes more is known: `exact`, the name of the dtype, and how it lies in memory. `cls` is the
    class of the program below `torch.Tensor` that it is of, where that is known.
    """

    __slots__ = (
        "base",
        "cls",
        "conf",
        "dtype",
        "exact",
        "flags",
        "key",
        "marks",
        "ndim",
        "origin",
        "shape",
        "site",
        "strides",
        "varied",
    )
    rank = TENSOR

    def __init__(
        self,
        conf: int = PROVEN,
        dtype: str = "",
        ndim: int = -1,
        flags: int = 0,
        origin: Origin = NOWHERE,
        base: str = "",
        site: Any = None,
        shape: Any = None,
        marks: frozenset[int] = frozenset(),
        exact: str = "",
        strides: tuple[int, ...] | None = None,
        cls: Class | None = None,
        varied: frozenset[int] = frozenset(),
    ) -> None:
        self.shape: tuple[int | None, ...] | frozenset[tuple[int | None, ...]] | None = shape  # of an example
        self.marks = marks  # dimensions marked dynamic in eager code
        self.conf = conf
        self.dtype = dtype
        self.ndim = ndim
        self.flags = flags
        self.origin = origin
        self.base = base  # name of the root parameter it aliases
        self.site = site  # the compile site that owns its storage
        # A floating and an unknown type are called alike: a function is not interpreted for each of them.
        self.key: Any = ("t", conf, dtype if dtype != "f" else "", ndim if ndim == 0 else -1, flags, site)
        self.exact = exact
        self.strides = strides  # None where it is contiguous, () where nobody knows
        if shape is not None or marks:
            self.key = (*self.key, shape, marks, strides)
        if exact:
            self.key = (*self.key, exact)
        self.varied = varied  # dimensions of which nobody knows the size, but that it is another one each time
        if varied:
            self.key = (*self.key, "varied", varied)
        self.cls = cls
        if cls is not None:
            self.key = (*self.key, cls.qualname, cls.module.path)

    @property
    def is_known_number(self) -> bool:
        """Whether it is a number of numpy's that Dynamo is given: its value is known while tracing."""
        return self.ndim == 0 and self.flags & (ARRAY | RAW) == ARRAY | RAW

    @property
    def is_whole_input(self) -> bool:
        """Whether it is a single whole number that is handed in: where numbers may be in the graph, Dynamo has its value."""
        return self.ndim == 0 and self.dtype == "i" and self.flags & (INPUT | RAW) == INPUT | RAW

    def with_(self, **changes: Any) -> Tensor:
        return Tensor(**{**dict(zip(_TENSOR_FIELDS, _FIELDS_OF(self), strict=True)), **changes})

    def derived(self, origin: Origin, dtype: str = "", ndim: int = -1) -> Tensor:
        """Fresh storage computed from this tensor."""
        return Tensor(self.conf, dtype, ndim, self.flags & _DERIVED_KEEP, origin)

    def view(self, origin: Origin, ndim: int = -1, flags: int = 0) -> Tensor:
        """A tensor that shares this one's storage."""
        kept = self.flags & ~RAW
        return Tensor(self.conf, self.dtype, ndim, kept | flags, origin, self.base, self.site, exact=self.exact)

    def __repr__(self) -> str:
        return f"Tensor({self.conf},{self.dtype},{self.ndim},{self.flags})"

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return MODELS.tensors.attribute(frame, node, self, name, quiet)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return MODELS.tensors.call_method(frame, node, self, name, args, keywords)

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        return MODELS.tensors.index(frame, node, self, index)

    @property
    def length_source(self) -> str:
        return "size"

    def iterate(self, frame: Frame, node: ast.AST) -> Value:
        if frame.region is None and isinstance(self.shape, tuple) and self.shape and not self.flags & ARRAY:
            return self.item(frame, node, Const(0))
        return self.view(frame.origin(node), self.ndim - 1 if self.ndim > 0 else -1)

    def turns(self, frame: Frame, node: ast.AST, most: int, later: int) -> tuple[Sequence[Value], bool]:
        many = self.shape[0] if isinstance(self.shape, tuple) and self.shape else None
        if many is None or self.flags & ARRAY:
            return super().turns(frame, node, most, later)
        row = self.item(frame, node, Const(0))
        return [row] * min(many, most), many <= most

    def unary(self, frame: Frame, node: ast.AST, operator: str) -> Value:
        return MODELS.tensors.unary(frame, node, self, operator)

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        return MODELS.tensors.arithmetic(frame, node, operator, left, right)

    def compare(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value | None:
        return MODELS.tensors.compare(frame, node, operator, left, right)

    def is_none(self) -> bool | None:
        # Named like a tensor is not enough to say that it is there.
        return False if self.conf > NAMED else None

    def is_a(self, wanted: Value) -> bool | None:
        if self.flags & ARRAY:
            return None
        name = wanted.name if isinstance(wanted, External) else ""
        if name in TENSOR_TYPES:
            return True if self.conf > NAMED else None
        if self.cls is not None and isinstance(wanted, ClassValue):
            return True if wanted.cls is self.cls else None
        if (is_python(name) or isinstance(wanted, ClassValue)) and self.conf > NAMED:
            return False
        return None

    def narrow(self, wanted: Value) -> Value | None:
        names = {t.name for t in wanted.types() if isinstance(t, External)}
        # Of what was only called a tensor, `isinstance` has shown that it is one.
        return self.with_(conf=max(self.conf, USED)) if names and names <= TENSOR_TYPES else self

    def contains(self, flag: int, depth: int = 3) -> Tensor | None:
        return self if self.flags & flag else None

    def owned(self, flags: int, site: CompileSite | None, origin: Origin) -> Value:
        if self.flags & (INPUT | PARAMETER):
            return Tensor(self.conf, self.dtype, self.ndim, self.flags & ~INPUT, origin)
        return Tensor(self.conf, self.dtype, self.ndim, flags, origin, "", site)

    def sized(self, like: Value) -> Value:
        if not isinstance(like, Tensor) or not isinstance(like.shape, tuple):
            return self
        told = GRADIENT_UNKNOWN | like.flags & (NEEDS_GRAD | DATA_SIZED)
        flags = self.flags | told
        return self.with_(shape=like.shape, exact=like.exact, strides=like.strides, flags=flags, varied=like.varied)

    def mapped(self, of: int, change: Callable[[Tensor], Tensor]) -> Value:
        return change(self) if self.flags & of else self

    def after_run(self, graph: object) -> Tensor:
        """An output of a CUDA graph after a run: of the one that is given, or of any that shares its memory."""
        if self.flags & STATIC_OUT:
            if self.site != graph:
                return self
            return self.with_(flags=self.flags | (STALE if self.flags & OWNED else REPLAYED))
        memory = self.site if self.site is not None and self.site.alone else None
        if memory is not graph or self.flags & (PENDING | STALE):
            return self
        return self.with_(flags=self.flags | STALE)

    def guarded(self) -> Guarded:
        shape = self.shape if isinstance(self.shape, tuple) else None
        made = self.conf == PROVEN and shape is not None and not self.flags & GRADIENT_UNKNOWN
        made &= self.flags & (PARAMETER | NO_GRADIENT) != PARAMETER  # parameters may be frozen, or buffers
        rank = len(shape) if shape else 1
        return guarded.Tensor(
            shape,
            self.exact or ("bool" if self.dtype == "b" else ""),
            True if self.flags & NEEDS_GRAD else False if made else None,
            bool(self.flags & PARAMETER),
            self.strides,
            marked=frozenset(dim % rank for dim in self.marks if dim < UNBACKED // 2),
            unbacked=frozenset((dim - UNBACKED) % rank for dim in self.marks if UNBACKED // 2 <= dim < FIXED // 2),
            fixed=frozenset((dim - FIXED) % rank for dim in self.marks if dim >= FIXED // 2),
            varied=self.varied,
        )

    @property
    def is_unbacked(self) -> bool:
        """Whether a dimension is marked unbacked: its sizes 0 and 1 are no special cases."""
        return any(UNBACKED // 2 <= dim < FIXED // 2 for dim in self.marks)

    def as_input(self, name: str, origin: Origin) -> Value:
        flags = self.flags & ~(STEADY | OWNED | STALE | PENDING | NO_GRADIENT | GRADIENT_UNKNOWN) | INPUT | RAW
        return self.with_(flags=flags, base=name, origin=origin, site=None, exact="", strides=None, varied=frozenset())

    def join_alike(self, other: Tensor) -> Value | None:
        if (
            self.key == other.key
            and self.dtype == other.dtype
            and self.ndim == other.ndim
            and self.exact == other.exact
            and self.base == other.base
            and self.cls is other.cls
            and self.origin.line
        ):
            return self
        either, both = self.flags | other.flags, self.flags & other.flags
        if any(t.flags & (OWNED | PENDING) == OWNED for t in (self, other)):
            either &= ~PENDING  # one of them no backward pass keeps
        return Tensor(
            min(self.conf, other.conf),
            self.dtype if self.dtype == other.dtype else "",
            self.ndim if self.ndim == other.ndim else -1,
            either & ~_IN_BOTH | both & _IN_BOTH,
            self.origin if self.origin.line else other.origin,
            self.base or other.base,
            self.site or other.site,
            _join_shapes(self.shape, other.shape),
            self.marks & other.marks,
            self.exact if self.exact == other.exact else "",
            self.strides if self.strides == other.strides else (),
            self.cls if self.cls is other.cls else None,
            self.varied & other.varied,
        )

    def widen(self) -> Value:
        return Tensor(min(self.conf, USED), self.dtype, -1, self.flags & (INPUT | OWNED), self.origin, self.base)


_TENSOR_FIELDS: Final = (
    "conf",
    "dtype",
    "ndim",
    "flags",
    "origin",
    "base",
    "site",
    "shape",
    "marks",
    "exact",
    "strides",
    "cls",
    "varied",
)
_FIELDS_OF: Final = attrgetter(*_TENSOR_FIELDS)
# What a join keeps only where both have it.
_IN_BOTH: Final = RAW | STEADY | STRIDED | NO_GRADIENT | SPARSE


def _join_shapes(a: Any, b: Any) -> Any:
    """The shapes an example takes: one tuple, or a frozenset of several."""
    if a is None or b is None:
        return None
    both = (a if isinstance(a, frozenset) else frozenset({a})) | (b if isinstance(b, frozenset) else frozenset({b}))
    return next(iter(both)) if len(both) == 1 else both


def is_tensor(value: Value) -> bool:
    return type(value) is Tensor


def by_name(receiver: Value, index: Value) -> Value:
    """What is indexed: no tensor has a key that is a text, so what a torch function made of such things is no tensor either.

    `torch.stack(steps)["reward"]`: a TensorDict, or whatever else answers torch's functions with its own kind.
    """
    named = type(receiver) is Tensor and isinstance(index, Const) and isinstance(index.value, str)
    return UNKNOWN if named else receiver
