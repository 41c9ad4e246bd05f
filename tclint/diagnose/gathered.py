"""What the children of one diagnostic have answered so far, as one result and one state."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from tclint.diagnose.measurement import State
from tclint.diagnose.repeats import pooled

NEEDS_CUDA = "needs cuda"


@dataclass
class Gathered:
    """What the parts of one diagnostic have come to, by the name of the part."""

    results: dict[str, Any] = field(default_factory=dict)
    repeats: dict[str, list[Any]] = field(default_factory=dict)
    """What later processes measured of the same."""
    troubles: dict[str, str] = field(default_factory=dict)
    lasted: dict[str, float] = field(default_factory=dict)
    """Seconds of the first time."""
    seconds: float = 0.0
    """Of all times."""
    running: str | None = None
    """The part whose child is at work."""

    def merged(self, parts: tuple[str, ...]) -> Any:
        """One result, in the order of the parts, whenever they ran."""
        first, *others = (self._settled(part) for part in parts if part in self.results)
        for other in others:
            changes: dict[str, Any] = {}
            for each in fields(first):
                mine, theirs = getattr(first, each.name), getattr(other, each.name)
                together = (*mine, *theirs) if isinstance(mine, tuple) else mine if mine is not None else theirs
                changes[each.name] = together
            first = replace(first, **changes)
        return first

    def _settled(self, part: str) -> Any:
        again = self.repeats.get(part)
        return pooled([self.results[part], *again]) if again else self.results[part]

    def state(self, name: str, parts: tuple[str, ...], unfinished: str) -> State:
        known = dict(self.troubles)
        if unfinished:
            # What is missing of a run that was stopped, or is not at its end, is said of each part.
            missing = [part for part in parts if part not in self.lasted and part not in known]
            known |= {part: f"not begun: {unfinished}" for part in missing if part != self.running}
            if self.running is not None:
                known[self.running] = f"not finished: {unfinished}" if self.results else f"not begun: {unfinished}"
        troubles = [(part, known[part]) for part in parts if part in known]
        said = "; ".join(f"{part}: {words}" if part else words for part, words in troubles)
        if self.results:
            return State(name, "done", said, self.seconds)
        if troubles and all(words == NEEDS_CUDA for _, words in troubles):
            return State(name, NEEDS_CUDA, "", self.seconds)
        if troubles and all(words.startswith("not applicable: ") for _, words in troubles):
            return State(name, "not applicable", troubles[0][1].removeprefix("not applicable: "), self.seconds)
        if troubles and all(words == NEEDS_CUDA or words.startswith("not begun: ") for _, words in troubles):
            why = next(words for _, words in troubles if words != NEEDS_CUDA)
            return State(name, "not begun", why.removeprefix("not begun: "), self.seconds)
        return State(name, "failed", said, self.seconds)
