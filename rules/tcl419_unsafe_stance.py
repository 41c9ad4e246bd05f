"""TCL419: guards skipped before there is anything to run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, CompiledCall
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import calls, inside, place, scope
from tclint.ruleset.rule import Rule
from tclint.sources.tree import ancestors, text
from tclint.torch_facts import facts
from tclint.values import Const

_NO_RUN = facts.named("does not run what it is given")


class UnsafeStance(Rule):
    """`set_stance(skip_guard_eval_unsafe=True)` without a warm-up: nothing is compiled yet, and the call raises.

    The stance drops the guards that choose among compiled programs. A call with nothing compiled raises
    "Recompilation triggered with skip_guard_eval_unsafe stance"; a warm-up that misses one kind of input is worse:
    the wrong program runs and the result is silently wrong.

    Bad::

        def run(batches):
            f = torch.compile(lambda x: x * 2)
            with torch.compiler.set_stance(skip_guard_eval_unsafe=True):
                return [f(x) for x in batches]

    Good::

        def run(batches):
            f = torch.compile(lambda x: x * 2)
            for x in batches:
                f(x)
            with torch.compiler.set_stance(skip_guard_eval_unsafe=True):
                return [f(x) for x in batches]

    Fix: call the compiled function with every kind of input (shape, dtype, flags, grad mode) before the stance.

    Only functions compiled in the same function or script are flagged: others may have been warmed up elsewhere.
    Versions: 2.6 and later.
    """

    code, name = "TCL419", "unsafe-stance"
    effect, severity = Effect.ERROR, Severity.HIGH
    torch = ">=2.6"
    scope = "eager"
    calls = ("torch.compiler.set_stance",)

    def __init__(self) -> None:
        super().__init__()
        self._stances: dict[tuple[str, str], dict[int, Call]] = {}

    def on_call(self, event: Call) -> Iterator[Finding]:
        flag = event.keywords.get("skip_guard_eval_unsafe")
        if isinstance(flag, Const) and flag.value is True:
            self._stances.setdefault(place(event), {})[getattr(event.node, "lineno", 0)] = event
        return iter(())

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        stances = self._stances.get(place(event))
        node = event.node
        if not stances or not isinstance(node, ast.Call):
            return
        root = scope(event)
        site = event.callee.site
        first = getattr(root, "lineno", 1) if event.enclosing is not None else 1
        last = getattr(root, "end_lineno", None) or event.module.lines
        if site.path != event.module.path or not first <= site.line <= last:
            return
        for line, stance in stances.items():
            if _holds(root, stance.node, node) and not _warm(root, text(node.func), line):
                yield self.finding(
                    stance,
                    f"guards are skipped before `{text(node.func)}` was ever called; line {node.lineno} raises",
                    confidence=Confidence.HIGH,
                    help="call it with every kind of input first",
                )


def _holds(root: ast.AST, stance: ast.AST, call: ast.Call) -> bool:
    """Whether a call runs under a stance: inside its `with`, or after it."""
    chain = ancestors(root, stance)
    for node in chain:
        if isinstance(node, ast.With) and any(text(i.context_expr) == text(stance) for i in node.items):
            return inside(call, node.body)
    return call.lineno > getattr(stance, "lineno", 0)


def _warm(root: ast.AST, name: str, line: int) -> bool:
    """Whether the function was called, or given to something that may call it, before the line."""
    for node in calls(root):
        if node.lineno >= line:
            continue
        given = (*node.args, *(k.value for k in node.keywords))
        if text(node.func) == name:
            return True
        if any(text(a) == name for a in given) and text(node.func).rpartition(".")[2] not in _NO_RUN:
            return True
    return False
