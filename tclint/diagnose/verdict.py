"""Whether compiling pays: the 5 % rule."""

from __future__ import annotations

from dataclasses import dataclass

from tclint.diagnose.measurement import Diagnosis, SpeedRow, Steps, Timing

GAIN = 0.05
"""Below this, the compiler's start-up, memory and surprises are not paid for."""
KINDS = {"forward": "inference", "forward+backward": "training"}


@dataclass(frozen=True, slots=True)
class Verdict:
    kind: str
    """inference, training"""
    word: str
    """keep, stay eager"""
    gain: float
    """The share of the eager step that compiling saves; negative where it costs."""
    words: str


def gain_of(eager: Timing, compiled: Timing) -> float:
    return 1 - compiled.median_ms / eager.median_ms if eager.median_ms > 0 else 0.0


def verdict_of(row: SpeedRow) -> Verdict:
    gain = gain_of(row.eager, row.compiled)
    word = "keep" if gain >= GAIN else "stay eager"
    if gain >= GAIN:
        words = f"a warm step is {gain:.0%} shorter compiled"
    elif gain > 0:
        words = f"a warm step is only {gain:.1%} shorter compiled; below {GAIN:.0%} it does not pay"
    else:
        words = f"a warm step is {-gain:.0%} longer compiled"
    noise = max(row.eager.spread_ms, row.compiled.spread_ms)
    if abs(row.eager.median_ms - row.compiled.median_ms) < noise:
        words += "; the difference is within the spread"
    return Verdict(KINDS.get(row.kind, row.kind), word, gain, words)


def verdicts_of(diagnosis: Diagnosis) -> tuple[Verdict, ...]:
    return tuple(verdict_of(row) for row in diagnosis.speed.rows) if diagnosis.speed is not None else ()


def headline(diagnosis: Diagnosis) -> str:
    """One line: keep, stay eager, or what differs; of a program that ran as it is, what it did."""
    if diagnosis.steps is not None:
        return _story(diagnosis, diagnosis.steps)
    verdicts = verdicts_of(diagnosis)
    if not verdicts:
        return "no verdict: eager against compiled was not measured"
    if len({verdict.word for verdict in verdicts}) == 1:
        said = ", ".join(f"{verdict.kind} {verdict.gain:+.0%}" for verdict in verdicts)
        return f"{verdicts[0].word} ({said})"
    return "; ".join(f"{verdict.kind}: {verdict.word} ({verdict.gain:+.0%})" for verdict in verdicts)


def _story(diagnosis: Diagnosis, steps: Steps) -> str:
    """A program has no eager twin to be held against."""
    breaks = diagnosis.breaks
    broken, again = (len(breaks.breaks), len(breaks.recompiles)) if breaks is not None else (0, 0)
    found = f"{broken} graph break{'s' * (broken != 1)}, {again} function{'s' * (again != 1)} compiled again"
    if steps.warm is None:
        return f"{found}; {steps.count} {steps.unit}"
    return f"{found}; a warm step takes {steps.warm.median_ms:.1f} ms, the first ended after {steps.first_s:.1f} s"
