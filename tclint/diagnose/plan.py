"""The diagnostics: their names, what they need, how long they may take, and which of them a run makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tclint.model.errors import UserError, did_you_mean

AUTOTUNE = "max-autotune-no-cudagraphs"
MODES = ("default", "reduce-overhead", AUTOTUNE)
REENTRY = "re-entry"
FORWARD = "forward"
STEPS = (FORWARD, "forward+backward")
"""What is timed, eager and compiled."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    name: str
    title: str
    budget: float
    """Seconds after which its child begins nothing more; a third of it with --quick."""
    parts: tuple[str, ...] = ("",)
    """Each runs in a child of its own."""
    cuda_parts: tuple[str, ...] = ()
    """Those that need CUDA."""
    last: tuple[str, ...] = ()
    """Those that may take minutes: they get what time the others leave."""
    repeats: int = 0
    """How many more times it may be measured, in processes of their own, until two of them agree."""
    shares: str = ""
    """The diagnostic whose compiled step will do for this one, where --quick is in a hurry."""
    quick: tuple[str, ...] | None = None
    """The parts that --quick measures, where these are not all."""
    apart: tuple[str, ...] = ()
    """The parts on a machine that has cores for all of them at the same time."""
    turns: bool = False
    """Its children may run beside others: they measure in turns, or nothing that others could disturb."""


# In the order of what is asked first: the verdict comes from the first two, and a run that is out of time lacks the last.
DIAGNOSTICS = (
    Diagnostic("breaks", "graph breaks and recompiles", 60, turns=True),
    Diagnostic("speed", "eager against compiled", 90, repeats=5, apart=STEPS, turns=True),
    Diagnostic(
        "modes",
        "compile modes and CUDA graphs",
        30,
        (*MODES, REENTRY),
        ("reduce-overhead", REENTRY),
        (AUTOTUNE,),
        # What the default mode does is told by `speed`.
        quick=("reduce-overhead",),
        turns=True,
    ),
    Diagnostic("guards", "guard overhead", 20, shares="speed"),
    Diagnostic("numerics", "eager against compiled values", 45, shares="speed", turns=True),
    Diagnostic("latency", "whole against regional compilation", 60, quick=()),
    Diagnostic("shapes", "varying batch and sequence", 60, quick=()),
    Diagnostic("ablate", "Inductor options one by one", 30),
)
NAMES = tuple(each.name for each in DIAGNOSTICS)
TOTAL = 240.0
QUICK_TOTAL = 120.0
"""Seconds that a run takes at most, unless it is told otherwise."""


@dataclass(frozen=True, slots=True)
class Task:
    """What one child is asked for."""

    diagnostic: Diagnostic
    part: str
    again: bool = False


def schedule(
    diagnostics: Sequence[Diagnostic], parts: Callable[[Diagnostic], Sequence[str]], quick: bool
) -> list[Task]:
    """All tasks, in their order: last what may take minutes, and before that the repeats.

    But the first repeat comes in the middle: a run that is out of time has seen the host at two moments.
    """
    once = [Task(each, part) for each in diagnostics for part in parts(each)]
    last = [task for task in once if task.part in task.diagnostic.last]
    tasks = [task for task in once if task not in last]
    repeated = [] if quick else [task for task in tasks if task.diagnostic.repeats]
    rest = [replace(task, again=True) for task in repeated for _ in range(task.diagnostic.repeats - 1)]
    for task in repeated:
        place = tasks.index(task) + 1
        tasks.insert(place + (len(tasks) - place) // 2, replace(task, again=True))
    return tasks + rest + last


def selected(skip: Sequence[str], only: Sequence[str]) -> tuple[str, ...]:
    """The names of the diagnostics to run, in order."""
    for option, names in (("--skip", skip), ("--only", only)):
        for name in names:
            if name not in NAMES:
                raise UserError(
                    f"{option} {name}: no such diagnostic{did_you_mean(name, NAMES)}; there are {', '.join(NAMES)}"
                )
    return tuple(name for name in NAMES if (not only or name in only) and name not in skip)


def ablations(text: str) -> tuple[str, ...]:
    """`epilogue_fusion;max_autotune=False` as `name=value` parts; a name alone is tried both ways."""
    parts: list[str] = []
    for item in text.replace(",", ";").split(";"):
        name, given, value = (piece.strip() for piece in item.partition("="))
        if not name and not given:
            continue
        if not name or (given and not value):
            raise UserError(f"--ablate {item.strip()!r}: write NAME or NAME=VALUE, separated by semicolons")
        parts.extend([f"{name}={value}"] if given else [f"{name}=True", f"{name}=False"])
    if not parts:
        raise UserError("--ablate names no option: write for example --ablate 'epilogue_fusion;max_autotune=False'")
    return tuple(dict.fromkeys(parts))
