"""TCL301: outputs of CUDA graphs kept past the next call."""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Iterator

from tclint.events import GRADIENTS, Call, CompiledCall, Event, Return, Reuse, Store
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity, Span
from tclint.rules._kept_outputs import KEEPING_CALLS, Kept, KeptOutputs, attribute_reads, function_name, line_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.torch_facts import facts
from tclint.values import HOST, INPUT, PARAMETER, Compiled, External, Instance, Seq, Tensor


class CudagraphOutputEscape(Rule):
    """The output of a callable compiled with CUDA graphs is kept without a copy: the next call overwrites it.

    Under `mode="reduce-overhead"`, `max-autotune`, `options={"triton.cudagraphs": True}` or `backend="cudagraphs"` outputs
    live in memory that the graph reuses. Kept past the next call they raise "accessing tensor output of CUDAGraphs that has
    been overwritten by a subsequent run"; once the graph is in steady replay nothing is raised and the values are silently
    wrong. `cudagraph_mark_step_begin()` alone does not help: it lets the calls of one step keep each other's outputs, and
    frees them at the next mark. Views, `detach`, `contiguous` of a contiguous tensor, `.to` the same dtype are all the same memory.

    All graphs share that memory: an output is gone when another compiled callable runs, also one that it is handed to. In
    training it is kept until the backward pass, and no longer; the gradients which that pass leaves in `.grad` are outputs too, so
    adding them up over several calls fails. Where nothing needs gradients (a plain function, a frozen module) it is as under `no_grad`.

    What compiled code leaves in an attribute (`self.state = new`) is an output as well: reading it in the next call fails. Buffers that
    are written in place (`self.state.copy_(new)`) are not.

    Bad::

        @torch.compile(mode="reduce-overhead")
        def score(x):
            return x.tanh()

        @torch.no_grad()
        def caller(batches):
            kept = []
            for x in batches:
                kept.append(score(x))
            return kept

    Good::

        @torch.compile(mode="reduce-overhead")
        def score(x):
            return x.tanh()

        @torch.no_grad()
        def caller(batches):
            kept = []
            for x in batches:
                kept.append(score(x).clone())
            return kept

    Fix: `.clone()` where the output leaves the call, best in one helper that everybody uses; `.cpu()`, `.item()`,
    `copy_` into a buffer and arithmetic copy as well. `--fix` adds `.clone()` where one tensor is kept. It costs a
    copy; never wrong.

    Configuration: `[tool.tclint.cudagraph] callables = ["*.lensnet"]` names callables that are compiled elsewhere,
    `clone-helpers` the functions that copy.
    """

    code, name = "TCL301", "cudagraph-output-escape"
    effect, severity = Effect.CUDAGRAPH, Severity.HIGH
    scope = "any"
    calls = (*KEEPING_CALLS, "torch.cuda.make_graphed_callables.__call__")

    def __init__(self) -> None:
        super().__init__()
        self._outputs = KeptOutputs(manual=False)
        self._kept_at: dict[tuple[str, Span], tuple[Event, Tensor]] = {}
        """Where the output of each finding is kept, and which, for the fix: it may be told by a later event."""

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.compiled:
            return self._carried(event)
        return self._findings(event, self._outputs.at_store(event))

    def on_call(self, event: Call) -> Iterator[Finding]:
        return self._findings(event, self._outputs.at_call(event)) if not event.compiled else iter(())

    def on_reuse(self, event: Reuse) -> Iterator[Finding]:
        return self._findings(event, self._outputs.at_reuse(event))

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        return self._findings(event, self._outputs.at_compiled_call(event))

    def on_return(self, event: Return) -> Iterator[Finding]:
        return self._findings(event, self._outputs.at_return(event)) if not event.compiled else iter(())

    def _carried(self, event: Store) -> Iterator[Finding]:
        """Compiled code leaves a tensor on an object and reads it in the next call: that is an output, which this call frees."""
        node, value = event.node, event.value
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if not event.cudagraphs or event.site is None or event.augmented or not isinstance(target, ast.Attribute):
            return
        if not isinstance(event.receiver, Instance) or not isinstance(value, Tensor):
            return
        if value.flags & (INPUT | PARAMETER | HOST) or event.enclosing is None or event.unlikely:
            return
        if event.ask.is_made_here(target.value) or _leaves_device(value):
            return  # gone with this call: the next one makes its own
        last = (node.end_lineno or 0, node.end_col_offset or 0)  # type: ignore[attr-defined]
        if any(read < last for read in event.ask.of_scope(attribute_reads).get(text(target), ())):
            yield self.finding(
                event,
                f"the compiled code keeps a tensor in `{text(target)}` and reads it in the next call: it is an output of the CUDA "
                "graph, which that call overwrites",
                # Who calls may hand in another object each time.
                confidence=Confidence.LOW if event.ask.is_given(target.value) else Confidence.HIGH,
                help=f"write it in place: register a buffer, and `{text(target)}.copy_(…)`",
            )

    def _findings(self, event: Event, kept: Iterator[Kept]) -> Iterator[Finding]:
        for at, tensor, what in kept:
            if not self._is_helper(event):
                finding = self._finding(at, tensor, what)
                self._kept_at[finding.path, finding.span] = at, tensor
                yield finding

    def _is_helper(self, event: Event) -> bool:
        helpers = self.settings.cudagraph.clone_helpers if self.settings is not None else ()
        return any(
            fnmatch.fnmatch(function_name(event), p) or fnmatch.fnmatch(function_name(event), f"*.{p}") for p in helpers
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        event, tensor = self._kept_at.get((finding.path, finding.span), (event, None))
        if event.compiled or tensor is None:
            return None  # a copy that the graph makes is the graph's as well
        if self._is_opaque(event, tensor):
            return None
        node = node_at(event, finding.span, (ast.stmt, ast.expr))
        if isinstance(event, Call) and event.name == "builtins.list" and isinstance(node, ast.Call):
            return _each_cloned(event, node)
        value = self._escaping(node, event)
        if value is None:
            value = _bound(event, tensor)
        elif isinstance(value, ast.Name) and (bound := _bound(event, tensor)) is not None:
            # What is fed back must be copied there, and then is a copy here.
            fed_back = any(isinstance(n, ast.Name) and n.id == value.id for n in ast.walk(bound))
            value = bound if fed_back else value
        if value is None:
            return None
        place = Place(event, value)
        return Fix("clone it", Applicability.SAFE, (place.append(value, ".clone()"),), "")

    def _is_opaque(self, event: Event, tensor: Tensor) -> bool:
        """Whether an output is of a library's function that nobody asked: it may be no tensor, but hold some."""
        made = tensor.origin.node
        called = event.ask.evaluate(made.func) if isinstance(made, ast.Call) else None
        target = called.target if isinstance(called, Compiled) else None
        return isinstance(target, External) and facts.at(self.release).call(target.name) is None

    def _escaping(self, node: ast.AST | None, event: Event) -> ast.expr | None:
        """The expression that leaves without a copy, where it is one tensor and no container of several."""
        if isinstance(event, (Reuse, CompiledCall)) and not isinstance(node, (ast.Assign, ast.AnnAssign)):
            return None
        if isinstance(event, (Store, Return)) and not isinstance(event.value, Tensor):
            return None
        if isinstance(node, ast.Expr):
            node = node.value
        if isinstance(event, Call) and isinstance(node, ast.Call):
            values = zip(node.args, event.args, strict=False)
            owned = [n for n, v in values if isinstance(v, Tensor) and self._outputs.owned(v) is not None]
            return owned[0] if len(owned) == 1 and not isinstance(owned[0], ast.Starred) else None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
            return None
        value = (
            getattr(node, "value", None)
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return, ast.Yield))
            else node
        )
        return value if isinstance(value, ast.expr) and not isinstance(value, (ast.Tuple, ast.List, ast.Dict)) else None

    def _finding(self, event: Event, tensor: Tensor, what: str) -> Finding:
        site = tensor.site
        where = f" (compiled at {site.path}:{site.line})" if site is not None else ""
        made = tensor.origin.line
        by = f", made at line {made}," if made and made != line_of(event) else ""
        gradients = isinstance(event, Reuse) and event.name == GRADIENTS
        return self.finding(
            event,
            f"an output of a CUDA graph{where}{by} {what}{'' if gradients else '; the next run overwrites it'}",
            confidence=Confidence.HIGH if event.grad is not None else Confidence.MEDIUM,
            help="zero_grad() before the next call, or give the parameters .grad tensors that no graph made"
            if gradients
            else "clone it where it leaves the call",
        )


def _leaves_device(tensor: Tensor) -> bool:
    """`x.cpu()`: no memory of a graph."""
    made = tensor.origin.node
    return isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "cpu"


def _bound(event: Event, tensor: Tensor) -> ast.expr | None:
    """The call that a name is bound to, where what it gives is fed back or read again: a copy there serves all that read it."""
    given = isinstance(event, CompiledCall) and isinstance(event.result, Tensor)
    call = event.node if given else tensor.origin.node
    statement = Place(event, call).parent if call is not None else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if call is None or not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
        return None
    if not given and not isinstance(event.ask.local(target.id), Tensor):
        return None
    # The node may be another file's.
    return statement.value if ast.dump(statement.value) == ast.dump(call) else None


def _each_cloned(event: Call, node: ast.Call) -> Fix | None:
    """`[each.clone() for each in outputs()]` for `list(outputs())`: each before the next one is made."""
    walked = event.args[0] if len(event.args) == 1 else None
    if not isinstance(walked, Seq) or not isinstance(walked.element(), Tensor):
        return None
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        return None
    place = Place(event, node)
    text = f"[each.clone() for each in {place.source(node.args[0])}]"
    return Fix("clone each of them", Applicability.SAFE, (place.replace(node, text),), "")
