"""TCL301: outputs of CUDA graphs kept past the next call."""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Iterator

from tclint.events import Call, CompiledCall, Event, Return, Reuse, Store
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.ruleset.rule import Rule
from tclint.values import DETACHED, OWNED, PARAMETER, Instance, Tensor, Value, contains

_KEEPERS = ("append", "extend", "insert", "add", "appendleft", "update", "setdefault", "put", "push", "store", "write")


class CudagraphOutputEscape(Rule):
    """The output of a callable compiled with CUDA graphs is kept without a copy: the next call overwrites it.

    Under `mode="reduce-overhead"`, `max-autotune`, `options={"triton.cudagraphs": True}` or `backend="cudagraphs"` outputs
    live in memory that the graph reuses. Kept past the next call they raise "accessing tensor output of CUDAGraphs that has
    been overwritten by a subsequent run"; once the graph is in steady replay nothing is raised and the values are silently
    wrong. `cudagraph_mark_step_begin()` alone does not help. Views, `detach`, `contiguous` of a contiguous tensor, `.to` the
    same dtype are all the same memory.

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
    scope = "eager"
    calls = (
        *(f"list.{n}" for n in _KEEPERS),
        *(f"dict.{n}" for n in _KEEPERS),
        *(f"?.{n}" for n in _KEEPERS),
        *(
            "heapq.heappush",
            "builtins.setattr",
            "collections.deque.append",
            "queue.Queue.put",
            "torch.cuda.make_graphed_callables.__call__",
        ),
    )

    def __init__(self) -> None:
        super().__init__()
        self._bound: dict[tuple[str, str, str], Store] = {}
        self._called: dict[tuple[str, str, object], set[int]] = {}

    def on_store(self, event: Store) -> Iterator[Finding]:
        tensor = self._owned(event, event.value)
        if event.target == "name":
            if tensor is not None and not event.augmented:
                self._bound[self._place(event, event.name)] = event
            return
        if tensor is None or event.augmented or event.target == "subscript" and isinstance(event.receiver, Tensor):
            return
        where = {
            "attribute": f"in `.{event.name}`",
            "subscript": "in a container",
            "comprehension": "for every element",
            "global": f"in the global `{event.name}`",
            "nonlocal": f"in `{event.name}`",
        }[event.target]
        yield self._finding(event, tensor, f"kept {where} without a copy")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name == "builtins.setattr":
            return  # a store of its own
        if event.name.endswith(".__call__"):
            return
        for value in (*event.args, *event.keywords.values()):
            tensor = self._owned(event, value)
            if tensor is not None:
                yield self._finding(event, tensor, "kept in a container without a copy")
                return

    def on_reuse(self, event: Reuse) -> Iterator[Finding]:
        if not event.value.flags & DETACHED:
            return
        kept = self._bound.get(self._place(event, event.name))
        at: Event = kept if kept is not None else event
        yield self._finding(
            at, event.value, f"`{event.name}` is read after the graph has run again (line {_line(event)})"
        )

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        """A CUDA-graph output handed straight to the next call, while the graph is still being recorded."""
        if not event.callee.site.cudagraphs:
            return
        key = (event.module.path, _function(event), event.callee.key)
        lines = self._called.setdefault(key, set())
        warmed = any(line < _line(event) for line in lines)
        lines.add(_line(event))
        if warmed:
            return
        for value in (*event.args, *event.keywords.values()):
            if isinstance(value, Tensor) and value.flags & OWNED and value.flags & DETACHED:
                if value.site is not event.callee.site:
                    continue
                kept = next((s for s in self._bound.values() if s.value is value and s.same_call(event)), None)
                yield self._finding(kept or event, value, "fed back into the next call without a copy")
                return

    def on_return(self, event: Return) -> Iterator[Finding]:
        tensor = self._owned(event, event.value)
        if tensor is None:
            return
        if event.yields:
            yield self._finding(event, tensor, "yielded without a copy")
        elif event.cls is not None and _calls_it(event):
            yield self._finding(event, tensor, "returned without a copy")

    def _owned(self, event: Event, value: Value) -> Tensor | None:
        tensor = contains(value, OWNED)
        if tensor is None or tensor.flags & PARAMETER or self._is_helper(event):
            return None
        if not tensor.flags & DETACHED:
            return None  # autograd holds on to it, and the graph waits for the backward pass
        return tensor

    def _is_helper(self, event: Event) -> bool:
        helpers = self.settings.cudagraph.clone_helpers if self.settings is not None else ()
        return any(fnmatch.fnmatch(_function(event), p) or fnmatch.fnmatch(_function(event), f"*.{p}") for p in helpers)

    def _place(self, event: Event, name: str) -> tuple[str, str, str]:
        return (event.module.path, _function(event), name)

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        node = node_at(event, finding.span, (ast.stmt, ast.expr))
        value = self._escaping(node, event)
        if value is None:
            return None
        place = Place(event, value)
        return Fix("clone it", Applicability.SAFE, (place.append(value, ".clone()"),), "")

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
            owned = [n for n, v in values if isinstance(v, Tensor) and self._owned(event, v) is not None]
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
        return self.finding(
            event,
            f"an output of a CUDA graph{where} is {what}; the next run overwrites it",
            confidence=Confidence.HIGH if event.grad is not None else Confidence.MEDIUM,
            help="clone it where it leaves the call",
        )


def _calls_it(event: Return) -> bool:
    """Whether the method itself runs the graph: then it is the place for the copy."""
    value = getattr(event.node, "value", None)
    while isinstance(value, (ast.Subscript, ast.Attribute)):
        value = value.value
    return isinstance(value, ast.Call)


def _line(event: Event) -> int:
    return int(getattr(event.node, "lineno", 0))


def _function(event: Event) -> str:
    return event.enclosing.qualname if event.enclosing is not None else "<module>"


__all__ = ["CudagraphOutputEscape", "Instance"]
