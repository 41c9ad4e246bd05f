"""What happens to CUDA graphs in eager code: what they gave, what they have read, what they refuse."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, Literal

from tclint.events.kinds import Event
from tclint.values import Tensor, Value

if TYPE_CHECKING:
    from tclint.events.queries import Frame

GRADIENTS: Final = ".grad"
"""The name of a `Reuse` of gradients that a backward pass adds to."""


class Reuse(Event):
    """A name is read that holds the output of a CUDA graph which has run again since."""

    __slots__ = ("name", "value")
    kind = "reuse"

    def __init__(self, frame: Frame, node: ast.AST, name: str, value: Tensor) -> None:
        super().__init__(frame, node)
        self.name = name
        self.value = value


class Rerun(Event):
    """A function is called that runs a CUDA graph, with what it was called with before: its events are not told again."""

    __slots__ = ()
    kind = "rerun"


Stale = Literal["input", "number", "parameter", "module", "mode", "rate", "carried", "dropped", "warmed", "empty"]
"""What a graph captured by hand has of something that is bound anew."""


class Rebound(Event):
    """Something that a graph captured by hand has read is bound anew before a replay, which does not see it.

    `what` says how: an `input`, a `number`, a `parameter` or a `module` is bound; the `mode` of a module or a learning
    `rate` is set; a tensor is `carried` from one replay to the next by a binding within the capture; gradients that a
    captured backward pass writes are `dropped`; a state that the capture changes was changed by its warm-up (`warmed`);
    an output is read before the first replay (`empty`).
    """

    __slots__ = ("aside", "replay", "value", "what")
    kind = "rebound"

    def __init__(
        self, frame: Frame, node: ast.AST, what: Stale, value: Value, replay: int, aside: bool = False
    ) -> None:
        super().__init__(frame, node)
        self.what = what
        self.value = value
        self.replay = replay
        """The line of the replay."""
        self.aside = aside
        """Whether it is behind a branch that may not be taken, in a function that neither captures nor replays, or of an object
        that may be another one than the capture has read."""


Refusal = Literal["hooks", "autocast", "numbers", "unused", "sizes", "keywords", "unjoined", "cold"]
"""Why torch does not capture something, or does not run what it has captured."""


class Refused(Event):
    """torch raises: in a capture, or in a call of what was captured.

    `why` says what is wrong. A module has `hooks`, `autocast` is in force with its cache, samples are `numbers`, a
    parameter is `unused`, a call has other `sizes` than the sample, or `keywords`; a stream is `unjoined` when a capture
    ends; a library is called for the first time in a capture that is `cold`.
    """

    __slots__ = ("about", "why")
    kind = "refused"

    def __init__(self, frame: Frame, node: ast.AST, why: Refusal, about: str = "") -> None:
        super().__init__(frame, node)
        self.why = why
        self.about = about
        """What it is about, in words of the program: a name, two shapes."""
