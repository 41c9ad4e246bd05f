"""What happens while code is interpreted, and who listens to it."""

from tclint.events.asked import subject
from tclint.events.broken import Apart, Break, GraphBreak
from tclint.events.graphs import GRADIENTS, Rebound, Refusal, Refused, Rerun, Reuse, Stale
from tclint.events.kinds import (
    KINDS,
    Assert,
    Attribute,
    Branch,
    Call,
    Compile,
    CompiledCall,
    Define,
    Enter,
    Event,
    Feature,
    Format,
    Loop,
    ModuleEvent,
    Operation,
    ProgramCall,
    Return,
    SparseUse,
    Store,
    Subscript,
    With,
    span_of,
)
from tclint.events.objects_read import Use

EVENTS: tuple[type[Event], ...] = (*KINDS, Use, GraphBreak, Apart, Reuse, Rerun, Rebound, Refused)

__all__ = [
    "EVENTS",
    "GRADIENTS",
    "Apart",
    "Assert",
    "Attribute",
    "Branch",
    "Break",
    "Call",
    "Compile",
    "CompiledCall",
    "Define",
    "Enter",
    "Event",
    "Feature",
    "Format",
    "GraphBreak",
    "Loop",
    "ModuleEvent",
    "Operation",
    "ProgramCall",
    "Rebound",
    "Refusal",
    "Refused",
    "Rerun",
    "Return",
    "Reuse",
    "SparseUse",
    "Stale",
    "Store",
    "Subscript",
    "Use",
    "With",
    "span_of",
    "subject",
]
