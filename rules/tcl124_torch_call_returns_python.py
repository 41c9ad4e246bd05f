"""TCL124: torch calls that answer with a Python value, or change global state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event
from tclint.fixes.recipes import compute_once, skip_unread_store, skip_while_compiling
from tclint.fixes.switches import switch_on
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import calls as asked
from tclint.torch_facts import facts
from tclint.values import NONE, External, Object, Value

_MODULE: Final = "torch.nn.Module."
# Building a module is TCL112's.
_NAMES: Final = tuple(
    name
    for name in asked.breaking_somewhere()
    if name.startswith("torch.")
    and not (name.startswith("torch.nn.") and name[9:10].isupper() and not name.startswith(_MODULE))
)
# A shape follows values: TCL105 says it.
_SHAPE: Final = "GB0036"

# Facts of the process that nobody changes in the middle of a run.
_CONSTANT: Final = facts.named("stays the same in one process")
_QUESTIONS: Final = facts.named("asks for inference mode")
_DRAWS: Final = facts.named("draws from a generator")
_PRICE: Final = (
    "torch calls that support experimental, which is why it is off; the switch holds for everything that the process "
    "compiles, in all processes alike: try it, or let --verify try it"
)


class TorchCallReturnsPython(Rule):
    """A torch function that answers with a Python value, or changes global state, in compiled code.

    `torch.get_num_threads()`, `torch.cuda.memory_allocated()`, `torch.cuda.device_count()`, `torch.manual_seed(0)`,
    `torch.get_rng_state()`, `torch.is_inference_mode_enabled()`, `nn.init.trunc_normal_` … were measured to end the graph
    on torch 2.13. (`torch.cuda.is_available()` is fine.) A `torch.Generator` cannot be made in a graph, and none can be
    handed to `torch.randn` and the like, wherever it comes from.

    Bad::

        def f(x):
            torch.manual_seed(0)
            return x + torch.rand_like(x)

    Good::

        def f(x):
            return x + torch.rand_like(x)  # the caller seeds

    Fix: ask, or seed, outside the region. `--unsafe-fixes` asks once at start-up where the answer does not change, and
    guards what is only noted down or done to the device (`torch.cuda.synchronize()`). What passes between two processes
    (`torch.distributed.P2POp`, `isend`, `irecv`) Dynamo takes where `enable_p2p_compilation` is on: it is set where the program compiles. A question for inference mode is then asked in eager runs alone.
    """

    code, name = "TCL124", "torch-call-returns-python"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    elsewhere = "ask there and pass the answer"
    graph_breaks = ("GB0208", "GB0007", "GB0045", "GB0046", "GB0363", "GB7650", "GB0107", "GB0055")
    general = True
    owns = ("Tensor.is_inference",)
    by_facts = True
    calls = (
        *_NAMES,
        "Tensor.is_inference",
        "torch.Generator",
        "torch.Generator.*",
        "torch.nn.init.*",
        "torch.cuda.memory*",
        "torch.cuda.max_memory*",
        *_DRAWS,
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        if name in _DRAWS:
            if _holds_generator(event.keywords.get("generator")):
                yield self.finding(
                    event,
                    f"`{event.method}` with a torch.Generator; Dynamo cannot put one into a graph and breaks it here"
                    f"{whole_frame(event)}",
                    confidence=Confidence.HIGH,
                    graph_breaks=("GB0055",),
                    help="leave `generator` out and seed the global one in the caller, or draw outside the region",
                )
            return
        verdict = self.verdict(event)
        if verdict is not None and (verdict.breaks != "always" or verdict.id == _SHAPE):
            return
        unswitched = self.unswitched(event)
        if unswitched is not None and event.configured(unswitched.switch):
            answer = facts.at(self.release).call(name)
            if unswitched.switched and answer is not None and answer.mutates:
                yield self.finding(
                    event,
                    f"`{name}` under `{unswitched.switch}`: in the graph, what it writes leads to {unswitched.switched}",
                    confidence=Confidence.MEDIUM,
                    effect=Effect.SILENT,
                    help="say it in one `batch_isend_irecv`, or leave the switch off",
                )
            return
        if name.startswith(_MODULE) and not event.surely:
            return  # a hook that is registered where there is none yet: set-up, done once
        yield self.finding(
            event,
            f"`{name}` in compiled code; Dynamo breaks the graph here{whole_frame(event)}"
            f"{self.span(event) if verdict is not None else ''}",
            confidence=Confidence.HIGH,
            graph_breaks=self.ids(verdict.id if verdict is not None else ""),
            help="call it outside the compiled region",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        assert isinstance(event, Call)
        if event.name in _DRAWS:
            return None
        if (unswitched := self.unswitched(event)) is not None:
            return switch_on(event, unswitched.switch, _PRICE) if not unswitched.switched else None
        if event.name in facts.named("is done to the device, not to the values"):
            return skip_while_compiling(event, event.node, "it is not done")
        if event.name in _QUESTIONS:
            return skip_while_compiling(event, event.node, "the answer is no: wrong where they run in inference mode")
        if not event.name.startswith(_CONSTANT):
            return skip_unread_store(event, event.node)
        return compute_once(event, "the value is the one at start-up: wrong where it changes while the program runs")


def _holds_generator(value: Value | None) -> bool:
    """Whether a generator is handed over; of what is left out where none was given, nobody knows."""
    if value is None or NONE in value.options:
        return False
    return any(map(_is_generator, value.options))


def _is_generator(value: Value) -> bool:
    if isinstance(value, External):
        return value.name == "torch.default_generator"
    return isinstance(value, Object) and value.name == "torch.Generator"
