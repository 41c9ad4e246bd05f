"""What the parent asks of one child: one diagnostic, or one part of it, on one target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Order:
    diagnostic: str
    root: str
    name: str
    """The class or function, qualified within its file."""
    path: str = ""
    """Its file, absolute; empty where only the child's interpreter can find the module."""
    module: str = ""
    """The dotted name to import where there is no path."""
    part: str = ""
    """Of a diagnostic that runs in several children: which mode, which option."""
    also: tuple[str, ...] = ()
    """Diagnostics to answer as well, with the step that this one compiles."""
    again: bool = False
    """Measured before in this run: only what differs from process to process is of interest."""
    device: str = "cpu"
    seed: int = 0
    threads: int = 1
    turn: str = ""
    """A file whose lock says who measures, where several children of a run are at work. Empty: there is one."""
    ahead: bool = False
    """Compiles and measures before the others begin to."""
    batch: int = 0
    """Rows of every input; 0: as the inputs come."""
    quick: bool = False
    budget: float = 60.0
    """Seconds after which the child begins nothing more. The parent's limit, which kills, is above it."""
    factories: Mapping[str, str] = field(default_factory=dict)
