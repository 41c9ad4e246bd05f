"""Dynamo's policy against Dynamo: random sequences of calls, and how many programs torch makes of each (needs torch).

    python benchmarks/policy.py                 # 2,000 sequences: how often `tclint.timeline.policy` says the same
    python benchmarks/policy.py --first 5000 --count 100 --show 5

A sequence has a few arguments of several kinds, drawn anew for every call: tensors (sizes, ranks, dtypes, gradients,
layouts, marks), numbers, strings, flags, None, lists, dicts; a module's attributes, a global and a captured number; and
gradient mode. The compiled code uses each thing in a way that adds no guard of its own.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.testing import CompileCounter

from tclint.timeline import guarded
from tclint.timeline.policy import Policy, programs

DTYPES = {"f": torch.float32, "d": torch.float64, "i": torch.int64, "b": torch.bool}
STEP = 0
"""The global that compiled code reads."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A tensor to be made anew for every call."""

    sizes: tuple[int, ...]
    dtype: str = "f"
    grad: bool = False
    transposed: bool = False
    mark: str = ""
    parameter: bool = False

    def made(self) -> torch.Tensor:
        sizes = self.sizes
        if self.transposed and len(sizes) > 1:
            turned = torch.ones(*sizes[:-2], sizes[-1], sizes[-2], dtype=DTYPES[self.dtype])
            # A tensor of its own, not a view: the base of a view is guarded too.
            made = turned.transpose(-1, -2).clone(memory_format=torch.preserve_format)
        else:
            made = torch.ones(sizes, dtype=DTYPES[self.dtype])
        if self.parameter:
            return torch.nn.Parameter(made, requires_grad=made.is_floating_point())
        if self.grad and made.is_floating_point():
            made.requires_grad_()
        if self.mark == "dynamic":
            torch._dynamo.mark_dynamic(made, 0)
        elif self.mark == "maybe":
            torch._dynamo.maybe_mark_dynamic(made, 0)
        elif self.mark == "unbacked":
            torch._dynamo.decorators.mark_unbacked(made, 0)
        return made

    def guarded(self) -> guarded.Tensor:
        made = self.made()
        marked = frozenset({0}) if self.mark else frozenset()
        return guarded.Tensor(
            tuple(made.shape),
            self.dtype,
            made.requires_grad,
            static=self.parameter,
            strides=tuple(made.stride()),
            marked=marked if self.mark == "dynamic" else frozenset(),
            maybe=marked if self.mark == "maybe" else frozenset(),
            unbacked=marked if self.mark == "unbacked" else frozenset(),
        )


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its arguments, and the state of the world around it."""

    args: tuple[Any, ...]
    grad: bool
    number: int
    factor: float
    flag: bool
    step: int

    def moment(self, module: bool) -> guarded.Moment:
        told: dict[str, guarded.Guarded] = {f"args[{i}]": _guarded(arg) for i, arg in enumerate(self.args)}
        told["grad mode"] = guarded.Exact(self.grad)
        told["STEP"] = guarded.Number(self.step, "global")
        if module:
            told["self.number"] = guarded.Number(self.number, "attribute")
            told["self.factor"] = guarded.Number(self.factor, "attribute")
            told["self.flag"] = guarded.Exact(self.flag)
        return told


def _guarded(value: Any) -> guarded.Guarded:
    if isinstance(value, Drawn):
        return value.guarded()
    if isinstance(value, (bool, str, type(None))):
        return guarded.Exact(value)
    if isinstance(value, (int, float)):
        return guarded.Number(value)
    if isinstance(value, (list, tuple)):
        return guarded.Items(type(value).__name__, tuple(_guarded(item) for item in value))
    return guarded.Table("dict", tuple((key, _guarded(item)) for key, item in value.items()))


def _made(value: Any) -> Any:
    if isinstance(value, Drawn):
        return value.made()
    if isinstance(value, (list, tuple)):
        return type(value)(_made(item) for item in value)
    return {key: _made(item) for key, item in value.items()} if isinstance(value, dict) else value


def used(value: Any) -> Any:
    """Read a value without asking anything of its sizes or its number."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if value is None:
        return torch.zeros(1)
    if isinstance(value, bool):
        return torch.ones(1) if value else torch.zeros(1)
    if isinstance(value, (int, float)):
        return torch.ones(3) * value
    if isinstance(value, str):
        return torch.ones(1) if value == "a" else torch.zeros(1)
    return [used(item) for item in (value.values() if isinstance(value, dict) else value)]


def function(*args: Any) -> list[Any]:
    return [*(used(arg) for arg in args), torch.ones(2) * STEP]


class Net(torch.nn.Module):
    number: int = 3
    factor: float = 0.5
    flag: bool = True

    def forward(self, *args: Any) -> list[Any]:
        own = [torch.ones(2) * self.number, torch.ones(2) * self.factor, used(self.flag)]
        return [*(used(arg) for arg in args), torch.ones(2) * STEP, *own]


class Draw:
    """Draws sequences of calls; the seed decides all of it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def tensor(self) -> Drawn:
        draw = self.random
        rank = draw.choice([1, 2, 2, 3]) if draw.random() < 0.15 else 2
        sizes = tuple(draw.choice([0, 1, 2, 3, 4, 4, 5]) if draw.random() < 0.5 else 3 for _ in range(rank))
        dtype = draw.choice("ffffdib") if draw.random() < 0.3 else "f"
        return Drawn(sizes, dtype, draw.random() < 0.15, draw.random() < 0.12)

    def marked(self) -> Drawn:
        """A marked tensor: marks and sizes below 2 contradict each other, which torch tells as an error or not at all."""
        mark = self.random.choice(["dynamic", "maybe", "unbacked", ""])
        least = 2 if mark in ("dynamic", "maybe") else 0
        return Drawn((self.random.randint(least, 6), self.random.choice([3, 3, 4])), mark=mark)

    def parameter(self) -> Drawn:
        return Drawn((self.random.choice([2, 3, 3, 4]), 3), parameter=True)

    def items(self) -> list[Any] | tuple[Any, ...]:
        kind = self.random.choice([list, tuple])
        return kind(self.value(self.random.choice("it")) for _ in range(self.random.choice([1, 2, 2, 3])))

    def table(self) -> dict[str, Any]:
        names = self.random.sample(["a", "b", "c"], self.random.choice([2, 2, 3]))
        return {name: self.tensor() for name in names}

    def value(self, kind: str) -> Any:
        kinds: dict[str, Callable[[], Any]] = {
            "t": self.tensor,
            "m": self.marked,
            "p": self.parameter,
            "i": lambda: self.random.choice([0, 1, 2, 3, 4, 7, -2, 5]),
            "x": lambda: self.random.choice([0.0, 1.0, 0.5, 0.25, 2.0, 3.5]),
            "s": lambda: self.random.choice("abcd"),
            "n": lambda: self.random.choice([None, None, 1, 2, 0.5]),
            "o": lambda: self.random.random() < 0.5,
            "l": self.items,
            "d": self.table,
        }
        return kinds[kind]()

    def calls(self) -> tuple[list[Call], bool | None, bool]:
        """The calls, what `dynamic=` says, and whether a module is compiled."""
        draw = self.random
        kinds = [draw.choice("tttmpiixsnold") for _ in range(draw.choice([1, 1, 2, 3]))]
        pools = [[self.value(kind) for _ in range(draw.choice([1, 2, 3, 4]))] for kind in kinds]
        dynamic = draw.choice([None, None, None, None, True, False])
        module, grad, step = draw.random() < 0.25, draw.random() < 0.15, draw.random() < 0.15
        calls = [
            Call(
                tuple(draw.choice(pool) for pool in pools),
                not (grad and draw.random() < 0.5),
                draw.choice([3, 3, 4, 5]),
                draw.choice([0.5, 0.5, 0.75, 1.5]),
                draw.random() < 0.8,
                draw.choice([0, 1, 2, 3]) if step else 0,
            )
            for _ in range(draw.choice([3, 4, 5, 6]))
        ]
        return calls, dynamic, module


@dataclass(frozen=True, slots=True)
class Answer:
    """What torch did with one sequence, and what the policy says."""

    seed: int
    torch: int
    policy: int
    calls: tuple[Call, ...]
    dynamic: bool | None
    because: tuple[tuple[str, ...], ...]


def ask(seed: int) -> Answer:
    """Run one sequence under Dynamo and count the programs."""
    global STEP
    calls, dynamic, module = Draw(seed).calls()
    torch._dynamo.reset()
    counter = CompileCounter()
    net = Net()
    compiled = torch.compile(net if module else function, backend=counter, dynamic=dynamic)
    for call in calls:
        net.number, net.factor, net.flag, STEP = call.number, call.factor, call.flag, call.step
        with torch.set_grad_enabled(call.grad):
            compiled(*(_made(arg) for arg in call.args))
    told = programs([call.moment(module) for call in calls], Policy(dynamic=dynamic))
    return Answer(seed, counter.frame_count, len(told), tuple(calls), dynamic, tuple(p.because for p in told))


def answers(first: int, count: int) -> Iterator[Answer]:
    for seed in range(first, first + count):
        yield ask(seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--show", type=int, default=3, help="how many disagreements to show")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    wrong: list[Answer] = []
    counts: Counter[int] = Counter()
    for answer in answers(options.first, options.count):
        counts[answer.torch] += 1
        if answer.torch != answer.policy:
            wrong.append(answer)
    for answer in wrong[: options.show]:
        print(f"seed {answer.seed}: torch {answer.torch}, policy {answer.policy} {answer.because}, {answer.dynamic=}")
        for call in answer.calls:
            print("   ", call)
    agreed = options.count - len(wrong)
    spread = ", ".join(f"{many} sequences make {programs}" for programs, many in sorted(counts.items()))
    print(f"torch {torch.__version__}: {agreed} of {options.count} the same ({agreed / options.count:.1%}); {spread}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
