"""TCL403: the order of compile and a distributed wrapper."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Effect, Finding, Severity
from tclint.rules._scope import target_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import own, text
from tclint.values import Object

_WRAPPERS = ("DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP")


class CompileAfterDdp(Rule):
    """The model is wrapped in DDP or FSDP first and compiled afterwards.

    For information only, and off by default: advice differs. PyTorch's guide and torchtitan compile the model or
    its blocks before wrapping; others compile the wrapped model, so that DDPOptimizer can split the graph at the
    gradient buckets. Measure both.

    Bad::

        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
        model = torch.compile(model)

    Good::

        model = torch.compile(torch.nn.Linear(4, 4))
        model = torch.nn.parallel.DistributedDataParallel(model)

    Fix: compile first, then wrap; with FSDP compile the blocks. Neither order changes the results.

    Ignore it where you measured that this order is the faster one. Turn it on with `extend-select = ["TCL403"]`.
    """

    code, name = "TCL403", "compile-after-ddp"
    effect, severity = Effect.SLOW, Severity.LOW
    default = False
    scope = "eager"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        wrapper = _wrapper(event)
        if wrapper:
            yield self.finding(
                event,
                f"compiled after it was wrapped in `{wrapper}`; PyTorch's guide compiles first",
                help="compile the model or its blocks, then wrap; measure both orders",
            )


def _wrapper(event: Compile) -> str:
    if isinstance(event.target, Object) and event.target.name.rpartition(".")[2] in _WRAPPERS:
        return event.target.name.rpartition(".")[2]
    target = target_of(event)
    if isinstance(target, ast.Call):
        name = text(target.func).rpartition(".")[2]
        return name if name in _WRAPPERS else ""
    assigned = event.ask.of_scope(_assigned).get(text(target), [])
    before = bisect_left(assigned, (getattr(event.node, "lineno", 0), ""))
    return assigned[before - 1][1] if before else ""


def _assigned(root: ast.AST) -> dict[str, list[tuple[int, str]]]:
    """By name, the lines where it is bound, and the wrapper that it is bound to there, or nothing."""
    found: dict[str, list[tuple[int, str]]] = {}
    for node in own(root):
        if isinstance(node, ast.Assign):
            name = text(node.value.func).rpartition(".")[2] if isinstance(node.value, ast.Call) else ""
            place = (node.lineno, name if name in _WRAPPERS else "")
            found.setdefault(text(node.targets[0]), []).append(place)
    return found
