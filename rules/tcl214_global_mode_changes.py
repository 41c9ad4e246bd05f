"""TCL214: global modes that change around a compiled call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tclint.events import CompiledCall, variation
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.values import Evidence
from tclint.values.moments import Call, Mode, Write


class GlobalModeChanges(Rule):
    """Other dtypes, modes, frozen layers or numbers of threads between calls, or a reset of the compiler.

    Dynamo guards on the autocast state, grad mode, default dtype and number of threads, and on the dtype, mode and
    `requires_grad` of a module and its parameters; `torch.compiler.reset()` throws every program away.

    A mode that comes back runs the program that was made for it. So training and evaluation, with gradients and without, are
    what a program needs, and one setting beside them is not flagged. Flagged is a row of settings of one kind, and several kinds
    that multiply: precisions times modes, layers that are unfrozen one by one, `no_grad` here and `inference_mode` there.

    Bad::

        @torch.compile
        def g(x):
            return x.relu()

        def evaluate(batches):
            for x in batches:
                torch.compiler.reset()
                g(x)

    Good::

        @torch.compile
        def g(x):
            return x.relu()

        def evaluate(batches):
            torch.compiler.reset()
            for x in batches:
                g(x)

    A reset that is followed by another `torch.compile` is the fresh start of a measurement, and not flagged.

    Fix: one mode for all calls; set threads, dtypes and what is frozen once, at start-up.
    """

    code, name = "TCL214", "global-mode-changes"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    scope = "eager"

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        evidence = event.evidence
        path = event.module.path
        if evidence is None or not evidence.is_first(path, event.node):
            return
        resets = [w for w in evidence.resets if w.path == path]
        if resets and evidence.change(resets[0].place).hazard:
            for node in {id(write.node): write.node for write in resets}.values():
                yield self.finding(
                    event,
                    f"`{ast.unparse(node)}` between calls of compiled code ({evidence.places}): every call compiles again",
                    node=node,
                    confidence=Confidence.HIGH,
                    help="do it once, at start-up",
                )
        if not evidence.mode.hazard and not _adds_up(evidence):
            return
        for change in _to_blame(evidence.mode_changes):
            if change.path == path:
                yield self.finding(
                    event,
                    f"`{ast.unparse(change.node)}` puts one of several modes in force, and each compiles again"
                    f" ({evidence.mode.said})",
                    node=change.node,
                    confidence=Confidence.HIGH,
                    help="use one mode for all calls; set threads, dtypes and what is frozen once, at start-up",
                )


_OF_TENSORS = (".requires_grad", ".dtype")


def _adds_up(evidence: Evidence) -> bool:
    """Whether modes cost that much only together with what the tensors are: `no_grad` around one call, and a tensor that
    requires a gradient in another. Sizes are another rule's."""
    if evidence.mode.programs < variation.SETTLES or evidence.together(evidence.values).hazard:
        return False
    costs = evidence.everything(evidence.values)
    blamed = [each for name in evidence.values for each in costs.blames(name)]
    return costs.hazard and bool(blamed) and all(each.endswith(_OF_TENSORS) for each in blamed)


def _to_blame(changes: Sequence[Mode | Write | Call]) -> Sequence[Mode | Write | Call]:
    """What is easiest to do without: a second way to turn gradients off, an autocast; then other contexts, then settings."""
    spare = [c for c in changes if isinstance(c, Mode) and c.name not in ("no_grad", "enable_grad")]
    contexts = [c for c in changes if not isinstance(c, Write)]
    return [c for c in contexts if c in spare or isinstance(c, Call)] or contexts or changes
