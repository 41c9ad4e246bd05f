"""TCL216: a compiled optimizer step whose learning rate is a float that changes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Compile, Event
from tclint.fixes.recipes import display
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rules._scope import argument, target_of
from tclint.ruleset.rule import Rule

_BURNT: Final = frozenset({"SGD", "RMSprop", "Adadelta"})
"""Measured (2.13): one compilation for every new float. Adam and its like take it as an input after one recompile."""
_CHANGES: Final = re.compile(rb"lr_scheduler\.\w+\(|\[[\"']lr[\"']\][ \t]*[-+*/]?=(?!=)")


class FloatLearningRate(Rule):
    """`torch.compile(optimizer.step)` with a float learning rate that a scheduler changes: every new value compiles again.

    `SGD`, `RMSprop` and `Adadelta` burn a float `lr` into the graph; `Adam` and its like take it as an input after one
    recompile. A learning rate that is a tensor is an input from the start, and schedulers write into it in place.

    Bad::

        def train(model, batches):
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            scheduler = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)
            step = torch.compile(opt.step)
            for x in batches:
                model(x).sum().backward()
                step()
                scheduler.step()

    Good::

        def train(model, batches):
            opt = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))
            scheduler = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)
            step = torch.compile(opt.step)
            for x in batches:
                model(x).sum().backward()
                step()
                scheduler.step()

    Fix: `lr=torch.tensor(0.1)`. Not applied by itself: whoever assigns `param_groups[…]["lr"]` must then `fill_` it, as a
    float put in its place is burnt in again.

    Versions: measured on 2.13. 2.4 compiles again for every value with any optimizer.
    """

    code, name = "TCL216", "float-learning-rate"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    scope = "any"
    calls = ("?.step", "torch.optim.*")
    triggers = (b"optim",)

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        """`torch.compile(opt.step)`"""
        target = target_of(event)
        if isinstance(target, ast.Attribute) and target.attr == "step":
            yield from self._check(event, target.value)

    def on_call(self, event: Call) -> Iterator[Finding]:
        """`opt.step()` in compiled code."""
        if event.compiled and event.method == "step" and isinstance(event.node, ast.Call):
            if isinstance(event.node.func, ast.Attribute):
                yield from self._check(event, event.node.func.value)

    def _check(self, event: Event, optimizer: ast.expr) -> Iterator[Finding]:
        change = _CHANGES.search(event.module.data)
        if not isinstance(optimizer, (ast.Name, ast.Attribute)) or change is None:
            return
        line = event.module.data.count(b"\n", 0, change.start()) + 1
        kind = event.module.node_index(_optimizers).get(ast.unparse(optimizer))
        if kind:
            yield self.finding(
                event,
                f"`{ast.unparse(optimizer)}` is {kind} with a float learning rate that changes (at {event.module.path}:{line}):"
                " each new value compiles again",
                confidence=Confidence.HIGH,
                help="make it a tensor: lr=torch.tensor(…)",
            )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        return display("make the learning rate a tensor", "lr=torch.tensor(0.1); and fill_ where it is assigned")


def _optimizers(tree: ast.AST) -> dict[str, str]:
    """By name, the optimizers of a file that burn their learning rate in."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            kind = ast.unparse(node.value.func).rpartition(".")[2]
            rate = argument(node.value, "lr", 1)
            if kind in _BURNT and not (isinstance(rate, ast.Call) and "tensor" in ast.unparse(rate.func)):
                for target in node.targets:
                    found.setdefault(ast.unparse(target), kind)
    return found
