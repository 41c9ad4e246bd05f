"""TCL114: context managers that Dynamo cannot enter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event, With
from tclint.fixes.places import Place
from tclint.fixes.recipes import skip_unread_store
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.program import Function
from tclint.rules import _language
from tclint.rules._scope import of_file
from tclint.rules._spellings import entered_directly
from tclint.ruleset.rule import Rule
from tclint.torch_facts import facts
from tclint.values import External, FunctionValue, Instance, Object, Value

_BAD: Final = facts.named("is a context that Dynamo cannot enter")
_STACKED: Final = "ExitStack.enter_context of an object"
_WATCHES: Final = frozenset(facts.named("is a context that only watches"))


class UnsupportedContextManager(Rule):
    """A `with` block whose context manager Dynamo cannot enter: the graph ends, and the block runs eagerly.

    `torch.backends.cudnn.flags`, `detect_anomaly`, `save_on_cpu`, `fork_rng`, locks, `redirect_stdout` and generators that
    are no real context manager. `torch.no_grad`, `autocast`, `inference_mode`, `contextlib.nullcontext`,
    `contextlib.suppress`, the profiler and your own `@contextmanager` generators are fine; a class of your own and
    `torch.no_grad()` only where they are made in the `with` or before it in the same function, not as `with self.context:`.

    Bad::

        def f(x):
            with torch.backends.cudnn.flags(enabled=False):
                return x * 2

    Good::

        def f(x):
            return x * 2  # the caller enters the context

    Fix: enter it in the eager caller, around the compiled call. `--unsafe-fixes` enters `contextlib.nullcontext()` in
    compiled runs where the context only watches or saves memory (`detect_anomaly`, `save_on_cpu`, `cudnn.flags`, ranges
    for a profiler, `numpy.errstate`, locks): wrong where compiled runs need it, as two threads do a lock. `--fix` enters
    in the `with` itself what the first lines of its block enter into an `ExitStack`.
    """

    code, name = "TCL114", "unsupported-context-manager"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0142", "GB0008", "GB0208", "GB0221", "GB0262", "GB0279")
    calls = _BAD
    owns = (
        *("torch.autograd.graph.*", "torch.autograd.set_detect*"),
        *(name for name in _BAD if name.startswith("torch.cuda.")),
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name not in facts.at(self.release).named("is a context that Dynamo cannot enter"):
            return  # on another release
        if event.name == "contextlib.ExitStack.enter_context" and event.args:
            inner = event.args[0]
            if isinstance(inner, Object) and inner.name == "contextlib.context" and not self._of_generator():
                return  # a generator of the program, which Dynamo follows
            if any(isinstance(o, Instance) for o in inner.options) and not _language.told(_STACKED, self.release):
                return  # an object of the program, which Dynamo follows, too
        yield self._finding(event, f"`{event.name}`")

    def on_with(self, event: With) -> Iterator[Finding]:
        context = event.context
        if isinstance(context, Object) and context.name.startswith(("threading.", "multiprocessing.")):
            yield self._finding(event, f"a `{context.name}`")
        elif _from_outside(event) and _enters_once(context) and not self._entered(context):
            yield self._finding(event, f"`{ast.unparse(event.node)}`, which was made outside,")
        elif isinstance(context, Instance) and (words := self._of_class(event, context)):
            yield self._finding(event, words)
        elif isinstance(context, External) and context.name in ("torch.device", "torch.device()"):
            yield self._finding(event, "a `torch.device`")
        elif isinstance(context, Object) and context.name == "contextlib.context":
            inner = context.args
            if (
                event.ask.is_held(event.node) is True
            ):  # it is entered only once, so that no program asks a release for it
                yield self._finding(event, "a `@contextmanager` that was made outside")
                return
            if isinstance(inner, FunctionValue) and not _is_generator(inner):
                yield self._finding(event, "a `@contextmanager` function that never yields")
            elif words := self._of_generator():
                yield self._finding(event, words)
            elif event.configured("not enable_trace_contextlib"):
                yield self._finding(event, "a `@contextmanager`, with `enable_trace_contextlib` switched off,")

    def _of_generator(self) -> str:
        """A context that `@contextmanager` makes of a generator, in words, where the release does not enter it."""
        return _language.told("with of a @contextmanager", self.release)

    def _of_class(self, event: With, context: Instance) -> str:
        """An object of a class below one of torch's, in words, where the release does not enter it."""
        base = event.ask.external_base(context.cls)
        if base:
            return _language.told(f"with of a class below {base}", self.release)
        nothing = " that holds nothing" if _holds_nothing(event, context) else ""
        return _language.told(f"with of an object{nothing}", self.release)

    def _entered(self, context: Value) -> bool:
        """Whether the release enters what was made outside, where it is an object of the program."""
        return isinstance(context, Instance) and not _language.told("with of an object that is held", self.release)

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        """The context in eager runs only; what an `ExitStack` enters, in the `with` itself."""
        if isinstance(event, Call) and event.name == "contextlib.ExitStack.enter_context":
            return entered_directly(event)
        if isinstance(event, Call):
            node: ast.AST = event.node
            watches = event.name in _WATCHES
        else:
            context = event.context if isinstance(event, With) else None
            watches = isinstance(context, Object) and context.name.startswith(("threading.", "multiprocessing."))
            node = event.node.context_expr if isinstance(event.node, ast.withitem) else event.node
        if watches and (noted := skip_unread_store(event, node)) is not None:
            return noted  # what it guards is not missed either
        place = Place(event, node)
        item = place.parent if len(place.chain) > 1 and isinstance(place.chain[-2], ast.With) else None
        torch, contextlib = place.importing("torch"), place.importing("contextlib")
        if not watches or not isinstance(item, ast.withitem) or item.optional_vars is not None:
            return None
        if torch is None or contextlib is None:
            return None
        text = f"{contextlib[0]}.nullcontext() if {torch[0]}.compiler.is_compiling() else {place.source(node)}"
        edits = (*torch[1], *contextlib[1], place.replace(node, text))
        return Fix("enter it in eager runs only", Applicability.UNSAFE, edits, "compiled runs do without it")

    def _finding(self, event: Call | With, what: str) -> Finding:
        return self.finding(
            event,
            f"{what} is entered in compiled code; Dynamo cannot, and runs the block eagerly",
            confidence=Confidence.HIGH,
            help="enter it in the eager caller, around the compiled call",
        )


def _raises(function: Function) -> bool:
    return any(isinstance(node, ast.Raise) for node in ast.walk(function.node))


def _holds_nothing(event: With, context: Instance) -> bool:
    """Whether no constructor and neither end of the `with` writes an attribute of the object, and nothing is raised in it."""
    if "try" in event.blocks or event.enclosing is None or event.ask.of_function(_raises):
        return False
    methods = [event.ask.method(context.cls, name) for name in ("__enter__", "__exit__")]
    writes = (
        isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) for m in methods if m for n in ast.walk(m.node)
    )
    return event.ask.method(context.cls, "__init__") is None and not any(writes)


def _enters_once(context: Value) -> bool:
    """What Dynamo only follows where it sees it made: contexts of the program, and those that switch gradients."""
    if isinstance(context, Object):
        return context.name in facts.named("is a context that switches gradients")
    return isinstance(context, Instance)


def _from_outside(event: With) -> bool:
    """Whether the context is an attribute, or a name of the file, or what a method of one returns as itself."""
    node = event.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        giver = event.ask.evaluate(node.func.value)
        node = node.func.value if isinstance(giver, Instance) and giver.key == event.context.key else node
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = event.ask.local(node.value.id)
        return isinstance(owner, Instance) and event.ask.is_nn_module(owner.cls)
    return isinstance(node, ast.Name) and of_file(event, node.id)


def _is_generator(value: FunctionValue) -> bool:
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(value.function.node))
