"""The base of all abstract values: the operations that every kind answers, and Unknown, which answers as the base does.

A value is immutable and small. Two values that an analysis need not tell apart have the same `key`, which is what call
memoisation compares. Unknown is a value of its own and stays unknown: nothing is ever guessed from it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tclint.timeline import guarded
from tclint.values.flags import GRAPHED, OWNED, PENDING, REPLAYED
from tclint.values.library import MODELS

if TYPE_CHECKING:
    from typing_extensions import Self

    from tclint.interpreter.frame import Frame
    from tclint.timeline.guarded import Guarded
    from tclint.values.origin import Origin
    from tclint.values.region import CompileSite
    from tclint.values.tensor import Tensor

# Which side of `left + right` or `left < right` decides what comes out: the one of the higher rank.
NUMBER: Final = 1  # a constant or a scalar
OBJECT: Final = 2  # an object, of the program or not
SEQUENCE: Final = 3
ONE_OF: Final = 4  # a union
TENSOR: Final = 5

MAX_NESTING: Final = 8
"""`f = compose(f, f)` in a row doubles with every step: what nests deeper is not told apart by what it holds."""


class Value:
    """Base of all abstract values: nothing is known, so every operation gives what is safe to say of anything."""

    __slots__ = ()
    depth: int = 0
    """How deep containers nest in it."""
    key: Any = ()
    rank: ClassVar[int] = 0
    source: str = ""
    """Where a scalar's value comes from."""
    identity: int = 0
    """The number of an object that eager code has made, 0 for all else."""
    maker: str = ""
    """The name of what made it, where that says more than its kind: the class of an object, `zip` of an iterator."""
    ref: tuple[str, int] | None = None
    """The parameter (and dimension) a scalar comes from."""
    is_definition: ClassVar[bool] = False
    """A class, a function or a name outside the program: as a dict key it stands for itself."""
    is_code: ClassVar[bool] = False
    """Calling it runs code that the value itself decides."""
    is_outside: ClassVar[bool] = False
    """Calling it runs code of a library."""

    @property
    def options(self) -> tuple[Value, ...]:
        return (self,)

    @property
    def python_type(self) -> str:
        """`int`, `float`, `bool`, `str`, `number` or `other` for a scalar or a constant, else nothing."""
        return ""

    def nesting(self) -> int:
        """How deep callables and objects nest in it: closures over closures, layers in layers."""
        return 0

    # -- what Python does with it -------------------------------------------------------------------------------

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        """The value of `self.name`; `quiet` where the reading itself is no event."""
        return MODELS.tensors.attribute_of_unknown(name)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        """The value of `self(*args, **keywords)`; `open_ended` where there may be more arguments than are known."""
        frame.interp.emitter.call(frame, node, "?", args, keywords, None, UNKNOWN)
        return UNKNOWN

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        """The value of `self.name(*args, **keywords)`."""
        return MODELS.tensors.method_of_unknown(frame, node, self, name, args, keywords)

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        """The value of `self[index]`."""
        return UNKNOWN

    def with_item(self, index: Value, value: Value) -> Value:
        """The container after `self[index] = value`."""
        return self

    def iterate(self, frame: Frame, node: ast.AST) -> Value:
        """What iterating over it gives."""
        return UNKNOWN

    def turns(self, frame: Frame, node: ast.AST, most: int, later: int) -> tuple[Sequence[Value], bool]:
        """What a loop over it binds turn by turn, and whether these are all of its turns.

        Of a sequence that is known these are its first items, `most` at most; of any other one what its turns have in
        common, `later` times.
        """
        return [self.iterate(frame, node)] * later, False

    @property
    def length_source(self) -> str:
        """Where its length comes from: `size`, `data`, `arg` …, or nothing."""
        return ""

    def known_length(self) -> int | None:
        """What `len` gives, where that is certain."""
        return None

    def known_items(self, frame: Frame) -> tuple[Value, ...] | None:
        """Its items, where their number is known."""
        return None

    def has(self, element: Value) -> bool | None:
        """`element in self`, where that is certain."""
        return None

    def equals(self, other: Value) -> bool | None:
        """Whether it is equal to another plain value, where that is certain."""
        return None

    def unary(self, frame: Frame, node: ast.AST, operator: str) -> Value:
        """The value of `-self`, `+self`, `~self` (the operator by the name of its node) or `abs(self)` (`Abs`)."""
        return UNKNOWN

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        """The value of `left operator right`, of which it is the side of the higher rank."""
        return UNKNOWN

    def compare(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value | None:
        """The value of `left < right` and its like, None where it is just a bool."""
        return None

    # -- what is known of it ------------------------------------------------------------------------------------

    def truth(self) -> bool | None:
        """True or False where the truth of the value is certain, else None."""
        return None

    def is_none(self) -> bool | None:
        """Whether it is None, where that is certain."""
        return None

    def may_be_none(self) -> bool:
        return False

    def without_none(self) -> Value:
        """The value once `is None` is known to be false."""
        return self

    def types(self) -> tuple[Value, ...]:
        """The types it stands for as the second argument of isinstance."""
        return (self,)

    def is_a(self, wanted: Value) -> bool | None:
        """Whether it is an instance of one type, where it can be told."""
        return None

    def instance_of(self, wanted: Value) -> bool | None:
        """`isinstance(self, wanted)`, where it can be told."""
        answers = [self.is_a(t) for t in wanted.types()]
        if any(a is True for a in answers):
            return True
        if all(a is False for a in answers) and answers:
            return False
        return None

    def narrow(self, wanted: Value) -> Value | None:
        """The value once `isinstance(self, wanted)` is known to be true, None where only the type tells what it is."""
        return self

    # -- what it holds ------------------------------------------------------------------------------------------

    def contains(self, flag: int, depth: int = 3) -> Tensor | None:
        """The first tensor with the flag inside it, containers looked into."""
        return None

    def holds_compiled(self) -> bool:
        """Whether it is, or holds, what `torch.compile` returned."""
        return False

    def decides_code(self) -> bool:
        """Whether it decides, as a constructor's argument, which code runs later."""
        return self.is_code

    def bound_to(self, receiver: Value) -> Value:
        """A method taken from a class, bound to an object."""
        return self

    def owned(self, flags: int, site: CompileSite | None, origin: Origin) -> Value:
        """The value as eager code gets it from a compiled call: fresh tensors, owned by the CUDA graph if there is one.

        A tensor that the region only passed through from its arguments stays the caller's.
        """
        return self

    def sized(self, like: Value) -> Value:
        """The value with the sizes and dtypes of another one that is the same but for what is known of it."""
        return self

    def held_items(self) -> tuple[Value, ...]:
        """What a list or a dict holds, one by one, where that is known."""
        return ()

    def holding_items(self, items: Sequence[Value]) -> Value:
        """The same container with other things in the places of `held_items`."""
        return self

    def fresh(self) -> Value:
        """The value as another object: a container that is equal, and not the same."""
        return self

    def mapped(self, of: int, change: Callable[[Tensor], Tensor]) -> Value:
        """The value with every tensor in it that has one of the flags `of` changed."""
        return self

    def overwritten(self, graph: object = None) -> Value:
        """The value once a CUDA graph has run again: what the graph owns of it holds another run's numbers.

        `graph` is the one that ran where its memory is its own; all others share one pool of memory.
        """
        return self.mapped(GRAPHED, lambda tensor: tensor.after_run(graph))

    def released(self) -> Value:
        """The value once the backward pass has run that kept graphs from writing over it."""
        return self.mapped(PENDING, lambda tensor: tensor.with_(flags=tensor.flags & ~PENDING))

    def taken(self) -> Value:
        """The value as a reader takes it: what a replayed graph wrote is there until the next replay."""
        return self.mapped(REPLAYED, lambda tensor: tensor.with_(flags=tensor.flags | OWNED))

    def with_fields(self, fields: Mapping[str, Value]) -> Value:
        """The object with other values in some of its fields, where it is one that is known by them."""
        return self

    def guarded(self) -> Guarded:
        """What of it Dynamo holds against the next call, as far as that is known."""
        return guarded.UNKNOWN

    def as_input(self, name: str, origin: Origin) -> Value:
        """The value as the compiled callable sees it that gets it for a parameter."""
        return self

    # -- several values as one ----------------------------------------------------------------------------------

    def join_alike(self, other: Self) -> Value | None:
        """One value that covers it and another of its kind, None where only a union does."""
        return self if self.key == other.key else None

    def widen(self) -> Value:
        """A coarser value, for a function that has been called in too many different ways."""
        return self


class Unknown(Value):
    """A value of which nothing is known."""

    __slots__ = ()
    key = ("?",)

    def __repr__(self) -> str:
        return "?"

    def narrow(self, wanted: Value) -> Value | None:
        return None


UNKNOWN: Final = Unknown()
