"""TCL410: CUDA graphs with dynamic shapes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Compile, CompiledCall, Event, ModuleEvent
from tclint.fixes.places import Place
from tclint.fixes.recipes import quoted
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Label, Severity
from tclint.ruleset.rule import Rule
from tclint.values import CompileSite, Const, Evidence, Tensor, Value

# A mode, and what is left of it without CUDA graphs.
_PLAIN: Final = {"reduce-overhead": "default", "max-autotune": "max-autotune-no-cudagraphs"}


class ReduceOverheadDynamic(Rule):
    """A CUDA graph is recorded for one shape: dynamic shapes under `reduce-overhead` record again for every size.

    With `dynamic=True`, or for an input marked with `mark_dynamic`, one program serves all sizes, but CUDA graphs
    replay fixed sizes and addresses: every new size is warmed up and recorded, and each recording keeps its own
    memory. After 8 sizes torch warns (50 on older releases).

    Bad::

        @torch.compile(mode="reduce-overhead", dynamic=True)
        def f(x):
            return x * 2

        def run(batches):
            for x in batches:
                f(x)

    Good::

        @torch.compile(dynamic=True)
        def f(x):
            return x * 2

        def run(batches):
            for x in batches:
                f(x)

    Fix: pad to one size or a few buckets and drop `dynamic`, or keep dynamic shapes and the default mode
    (`mode="max-autotune-no-cudagraphs"` for autotuning). `--unsafe-fixes` writes the mode without CUDA graphs.

    Ignore it where only a handful of sizes ever occur. Where all calls in sight have the same sizes nothing is said.
    """

    code, name = "TCL410", "reduce-overhead-dynamic"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    scope = "eager"
    triggers = (b"compile",)

    def __init__(self) -> None:
        super().__init__()
        self._sites: dict[tuple[str, int], Compile] = {}
        self._called: set[tuple[str, int]] = set()

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        dynamic = event.keywords.get("dynamic")
        if isinstance(dynamic, Const) and dynamic.value is True and event.begun.cudagraphs:
            self._sites.setdefault((event.module.path, getattr(event.node, "lineno", 0)), event)
        return iter(())

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        site = event.callee.site
        assert isinstance(site, CompileSite)
        if not site.cudagraphs:
            return
        self._called.add((site.path, site.line))
        if _have_one_size(event.evidence):
            return
        if site.dynamic is True:
            labels = (Label(site.line, "compiled with dynamic=True here"),) if site.path == event.module.path else ()
            yield self._finding(event, "dynamic=True", labels)
        elif any(_marked(value) for value in (*event.args, *event.keywords.values())):
            yield self._finding(event, "an input marked dynamic")

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        """The sites whose result nobody in sight calls: said at the site itself."""
        for key, compiled in self._sites.items():
            if key[0] == event.module.path and key not in self._called:
                yield self._finding(compiled, "dynamic=True")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        """The mode without CUDA graphs, at the site."""
        site = event.callee.site if isinstance(event, CompiledCall) else None
        path, line = (site.path, site.line) if isinstance(site, CompileSite) else (event.module.path, finding.line)
        if path != event.module.path:
            return None
        for call in (n for n in ast.walk(event.module.tree) if isinstance(n, ast.Call) and n.lineno == line):
            mode = next((k.value for k in call.keywords if k.arg == "mode"), None)
            plain = _PLAIN.get(mode.value) if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else None
            if mode is not None and plain is not None and any(k.arg == "dynamic" for k in call.keywords):
                edit = Place(event, mode).replace(mode, quoted(plain))
                note = "every kernel is launched by itself: slower where few sizes occur and kernels are small"
                return Fix(f'use mode="{plain}"', Applicability.UNSAFE, (edit,), note)
        return None

    def _finding(self, event: Compile | CompiledCall, what: str, labels: tuple[Label, ...] = ()) -> Finding:
        return self.finding(
            event,
            f"CUDA graphs with {what}: every new size is recorded again",
            confidence=Confidence.HIGH,
            labels=labels,
            help="pad to fixed sizes without `dynamic`, or use a mode without CUDA graphs",
        )


def _marked(value: Value) -> bool:
    return isinstance(value, Tensor) and bool(getattr(value, "marks", ()))


def _have_one_size(evidence: Evidence | None) -> bool:
    """Whether all calls in sight come with tensors of the same sizes: one recording serves them."""
    given = [values for values in evidence.values.values() if values] if evidence is not None else []
    tensors = [[v for v in values if isinstance(v, Tensor)] for values in given]
    shapes = [{value.shape for value in each} for each in tensors if each]
    return bool(shapes) and all(len(each) == 1 and _is_told(next(iter(each))) for each in shapes)


def _is_told(shape: object) -> bool:
    """Whether every size is known."""
    return isinstance(shape, tuple) and None not in shape
