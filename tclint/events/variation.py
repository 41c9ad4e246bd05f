"""How arguments vary from call to call, as rules tell it."""

from __future__ import annotations

from tclint.events.kinds import Event
from tclint.model.finding import Confidence
from tclint.values import Scalar, Value
from tclint.values.evidence import SETTLES


def burned(event: Event, value: Value) -> tuple[Confidence | None, str]:
    """How sure it is that an argument which an operation writes into the program takes several values, and the evidence.

    None where the calls seen do not say that it does; low where no call is in sight.
    """
    if not isinstance(value, Scalar):
        return None, ""
    evidence = event.evidence
    if evidence is None or value.ref is None or value.ref[0] not in evidence.values:
        return Confidence.LOW, ""
    varied = evidence.argument(value.ref[0], burned=True)
    return (Confidence.HIGH, varied.said) if varied.hazard else (None, "")


def told(said: str) -> str:
    """Evidence in the middle of a message."""
    return f" ({said})" if said else ""


__all__ = ["SETTLES", "burned", "told"]
