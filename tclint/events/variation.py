"""How arguments vary from call to call, as rules tell it."""

from __future__ import annotations

from collections.abc import Iterable

from tclint.events.kinds import Event
from tclint.model.finding import Confidence
from tclint.timeline.expected import SETTLES
from tclint.values import Scalar, Seq, Value


def burned(event: Event, value: Value) -> tuple[Confidence | None, str]:
    """How sure it is that an argument which an operation writes into the program takes several values, and the evidence.

    None where the calls seen do not say that it does; low where no call is in sight.
    """
    if isinstance(value, Seq) and value.items:
        # `kernel = (2, 3)`: the first number that stands for an argument speaks for all of them.
        value = next((item for item in value.items if isinstance(item, Scalar)), value)
    if not isinstance(value, Scalar):
        return None, ""
    evidence = event.evidence
    if evidence is None or value.ref is None or value.ref[0] not in evidence.values:
        return Confidence.LOW, ""
    varied = evidence.argument(value.ref[0], burned=True)
    return (Confidence.HIGH, varied.said) if varied.hazard else (None, "")


def of_sizes(event: Event, values: Iterable[Value]) -> tuple[Confidence | None, str]:
    """The same for what is computed from sizes: high where the calls in sight pass three or more."""
    sizes = [v for v in values if isinstance(v, Scalar) and v.source == "size"]
    if not sizes:
        return None, ""
    evidence = event.evidence
    if evidence is None:
        return Confidence.LOW, ""
    refs = [value.ref for value in sizes if value.ref is not None]
    seen = [(name, dim, found) for name, dim in refs if (found := evidence.sizes(name, dim))]
    for name, dim, found in seen:
        if len(set(found)) > SETTLES:
            return Confidence.HIGH, f"the calls in sight pass `{name}` with size {dim} = {_shown(found)}"
    # A size that has no name here may be one of any argument.
    for name in evidence.values if len(refs) < len(sizes) else ():
        shapes = set(evidence.shapes(name))
        if len(shapes) > SETTLES:
            return Confidence.HIGH, f"the calls in sight pass `{name}` in {len(shapes)} shapes"
    return (None if seen or evidence.rows else Confidence.LOW), ""


def _shown(numbers: Iterable[int]) -> str:
    some = list(dict.fromkeys(numbers))
    return ", ".join(map(str, some[:3])) + (", …" if len(some) > 3 else "")


def told(said: str) -> str:
    """Evidence in the middle of a message."""
    return f" ({said})" if said else ""


__all__ = ["SETTLES", "burned", "of_sizes", "told"]
