"""One way of calling that was tried, and what was seen: the arguments' kinds, the result, and what Dynamo did.

In the table: `arguments>result flags`. Arguments are kinds separated by commas, of a method the receiver first, keywords as
`dim=int`. Flags: `!GB0036` breaks the graph (`!GB?` where the release names no id), `^Error` raises under torch.compile and
not eagerly, `~` the frame is not compiled at all, `%` ends the process; with a break, `F` fullgraph=True accepts it and
`I` only on an input of the graph, not on a tensor made in it. `m:0` writes argument 0, `a:self` shares its storage, `s:self`
returns the very object; `v` the shape follows values, `r` a Python value read from a tensor, `u` not the same twice (random,
time, an address), `B` compiles again for each new Python number among the arguments, `X` breaks once that number varies.
"""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass

from tclint.torch_facts.kind import Kind, split


@dataclass(frozen=True)
class Argument:
    """An argument that was given: `label` is "self", a position ("0") or a keyword."""

    label: str
    kind: Kind


@dataclass(frozen=True)
class Form:
    """What was seen of one way of calling."""

    arguments: tuple[Argument, ...]
    result: Kind
    #: traced, breaks, raises, skipped (the frame runs eagerly), crashes
    outcome: str = "traced"
    #: The id of the break ("GB?" where the release names none), or the exception.
    reason: str | None = None
    #: fullgraph=True accepts what breaks in default mode.
    fullgraph_accepts: bool = False
    #: Breaks on an input of the graph, not on a tensor made in it.
    only_on_input: bool = False
    mutates: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    #: The result may be this argument itself.
    same: tuple[str, ...] = ()
    shape_follows_values: bool = False
    #: The result is a Python value that was read from a tensor or array.
    reads_values: bool = False
    #: Not the same twice: random, a clock, an address.
    unsteady: bool = False
    #: A Python number among the arguments compiles again for each value, or breaks once it varies.
    burns_number: bool = False
    breaks_on_new_number: bool = False

    @property
    def breaks(self) -> bool:
        """Whether the graph is broken there; a frame that is not compiled at all counts."""
        return self.outcome in ("breaks", "skipped")

    @property
    def fails(self) -> bool:
        """Whether the graph is broken there, or torch.compile raises what eager code does not."""
        return self.breaks or self.outcome == "raises"


@functools.lru_cache(maxsize=4096)
def parse(text: str, method: bool) -> Form:
    """A form from its line in the table."""
    call, *flags = text.split(" ")
    given, _, result = call.rpartition(">")
    arguments = []
    for place, word in enumerate(split(given)):
        label, equals, kind = word.partition("=")
        if equals:
            arguments.append(Argument(sys.intern(label), Kind.of(kind)))
        else:
            position = place - method
            arguments.append(Argument("self" if position < 0 else str(position), Kind.of(word)))
    return Form(tuple(arguments), Kind.of(result), **_flags(flags))  # type: ignore[arg-type]


def _flags(flags: list[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    places: dict[str, list[str]] = {"m": [], "a": [], "s": []}
    for flag in flags:
        if flag[0] in "!^":
            found["outcome"], found["reason"] = "breaks" if flag[0] == "!" else "raises", flag[1:]
        elif flag[1:2] == ":":
            places[flag[0]].append(flag[2:])
        else:
            name, value = _SINGLE[flag]
            found[name] = value
    for letter, name in (("m", "mutates"), ("a", "aliases"), ("s", "same")):
        if places[letter]:
            found[name] = tuple(places[letter])
    return found


_SINGLE: dict[str, tuple[str, object]] = {
    "~": ("outcome", "skipped"),
    "%": ("outcome", "crashes"),
    "F": ("fullgraph_accepts", True),
    "I": ("only_on_input", True),
    "v": ("shape_follows_values", True),
    "r": ("reads_values", True),
    "u": ("unsteady", True),
    "B": ("burns_number", True),
    "X": ("breaks_on_new_number", True),
}
