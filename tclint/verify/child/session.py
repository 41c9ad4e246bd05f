"""What Dynamo has compiled by now, and for whom.

Compiling a whole model takes a hundred times as long as running it. A program that is run again finds its code compiled, as
it would in earnest; what was heard while that was done holds for the later runs, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch._dynamo

from tclint.verify.child import compiling
from tclint.verify.child.inputs import Example
from tclint.verify.child.listen import listening
from tclint.verify.trace import Collector


@dataclass
class Session:
    """The compiled code of one example under one backend, and all that was heard of it."""

    example: Example
    backend: str
    heard: Collector
    runs: int = 0
    """How many calls have been made of it, of a program: how often it was run."""


_now: Session | None = None


def anew() -> None:
    """Nothing is compiled any more."""
    global _now
    _now = None
    torch._dynamo.reset()


@contextmanager
def compiled_for(
    example: Example, backend: str, wanted: Callable[[str], bool], runs: int, goes_on: bool = False
) -> Iterator[Session]:
    """Compile sites compile for this example inside the block. With `goes_on` a program that was compiled last is not compiled
    again: its calls are its own, so that what was heard of them is what would be heard."""
    global _now
    before = _now
    if before is None or not goes_on or example.wrap or before.example is not example or before.backend != backend:
        anew()
        before = Session(example, backend, Collector(wanted=wanted))
    _now = before
    before.runs += runs
    with compiling.backend(backend), listening(wanted, before.heard):
        yield before
