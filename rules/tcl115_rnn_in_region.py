"""TCL115: recurrent modules."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import Final, TypeGuard

from tclint.events import Attribute, Call, Event, ProgramCall
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Module
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, Instance, Object, Tensor, Value
from tclint.values.value import MAX_NESTING

_OWN: Final = facts.named("belongs to recurrent networks alone")
_PACKS: Final = facts.named("packs sequences")
_NETWORKS: Final = frozenset(name.removesuffix(".forward") for name in facts.named("runs a recurrent network"))
_WALKS: Final = (
    *facts.named("gives the tensors of a module"),
    *(f"torch.nn.Module.{name}" for name in facts.named("walks the modules in a module")),
)


class RnnInRegion(Rule):
    """`nn.LSTM`, `nn.GRU`, `nn.RNN` and packed sequences send the whole function to eager.

    Dynamo refuses them by default (`torch._dynamo.config.allow_rnn = True` lets them in, at the price of unrolling the
    sequence). Up to torch 2.14 the function that reads one is not compiled at all, whether it calls it, hands it on,
    asks for its `hidden_size` or meets it while it walks a module (`next(self.parameters())`, where nothing before it has any);
    from 2.15 on only the call breaks.

    Bad::

        def f(x, rnn: nn.LSTM):
            return torch.nn.LSTM(8, 8)(x)[0]

    Good::

        def f(x):
            return x.cumsum(0)

    Fix: keep the recurrent part in an eager module and compile what is around it.
    """

    code, name = "TCL115", "rnn-in-region"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0014", "GB0007")
    subjects = {"attribute": (Object,)}
    calls = (*facts.named("runs a recurrent network"), *_PACKS, *_OWN, *_WALKS)
    owns = (
        "torch.nn.utils.rnn.*",
        *(name.replace(".forward", "*") for name in facts.named("runs a recurrent network")),
    )

    def __init__(self) -> None:
        super().__init__()
        # The latest runs of functions that read a network: the rest of such a function is not traced.
        self._eager: deque[object] = deque(maxlen=64)

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.configured("allow_rnn"):
            return
        if event.name in _WALKS:
            deep = 0 if event.method.endswith("children") else MAX_NESTING  # children have children of their own
            met = _met_first(event, event.receiver, deep) if event.receiver is not None else ""
            if met:
                yield from self._read(event, met, event.node)
            return
        packs = event.name in _PACKS
        if event.method == "pad_packed_sequence" and self._is_eager(event):
            return
        if not packs:
            self._eager.append(event.ask.this_run())
        what = event.name.removesuffix(".forward").removeprefix("torch.").removeprefix("?")
        yield self._found(
            event,
            f"`{what}` in compiled code: {'the graph breaks here' if packs else self._consequence()}",
            Confidence.MEDIUM if event.name in _OWN else Confidence.HIGH,
        )

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        if _is_network(event.receiver):
            yield from self._read(event, event.receiver.name, event.node)

    def on_program_call(self, event: ProgramCall) -> Iterator[Finding]:
        """A network that is handed on is read where it is handed on; so is one of a class of the program that is called."""
        node = event.node
        called = event.args[0] if event.args else None
        if isinstance(called, Instance) and event.ask.external_base(called.cls) in _NETWORKS:
            own = event.ask.local("self")
            if own is None or own.key != called.key:
                yield from self._read(event, event.ask.external_base(called.cls), node)
            return
        # Few calls are given an object at all.
        if Object not in map(type, (*event.args, *event.keywords.values())):
            return
        if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
            return
        given = [*zip(node.args, event.args[len(event.args) - len(node.args) :], strict=False)]
        given += [(k.value, event.keywords[k.arg]) for k in node.keywords if k.arg and k.arg in event.keywords]
        for argument, value in given:
            if isinstance(argument, ast.Attribute) and _is_network(value):
                yield from self._read(event, value.name, argument)
                return

    def _read(self, event: Event, network: str, node: ast.AST) -> Iterator[Finding]:
        if self.target >= (2, 15) or event.configured("allow_rnn") or self._is_eager(event):
            return
        self._eager.append(event.ask.this_run())
        what = network.removeprefix("torch.")
        message = f"`{ast.unparse(node)}` reads a `{what}` in compiled code: {self._consequence()}"
        yield self._found(event, message, Confidence.HIGH, node)

    def _found(self, event: Event, message: str, confidence: Confidence, node: ast.AST | None = None) -> Finding:
        return self.finding(
            event,
            message,
            node=node,
            confidence=confidence,
            graph_breaks=self.ids("GB0007" if isinstance(event, Call) and event.name in _PACKS else ""),
            help="isolate the recurrent part in eager code, or set torch._dynamo.config.allow_rnn",
        )

    def _is_eager(self, event: Event) -> bool:
        return self.target < (2, 15) and any(run is event.ask.this_run() for run in self._eager)

    def _consequence(self) -> str:
        return "this function is not compiled" if self.target < (2, 15) else "the graph breaks here"


def _met_first(event: Call, value: Value, deep: int) -> str:
    """The network that a walk through a module meets before any other module; nothing where another may come first."""
    if _is_network(value):
        return value.name
    if not isinstance(value, Instance) or deep < 0 or not event.ask.is_nn_module(value.cls):
        return ""
    held = event.ask.attributes(value)
    if any(isinstance(each, Tensor) for each in held.values()):
        return ""
    called = event.ask.of_file(_called_attributes) if value.cls.module is event.module else None
    for name, each in held.items():
        if isinstance(each, (Instance, Object)) and (found := _met_first(event, each, deep - 1)):
            return found
        # An argument of a constructor that nobody calls is a number, most likely; another may be a module.
        if each.is_outside or isinstance(each, Instance) or (each is UNKNOWN and (called is None or name in called)):
            return ""
    return ""


def _called_attributes(module: Module) -> frozenset[str]:
    """The attributes that code of a file calls, of whatever object: `self.encoder(x)`."""
    called = [node.func for node in nodes(module.tree) if isinstance(node, ast.Call)]
    return frozenset(func.attr for func in called if isinstance(func, ast.Attribute))


def _is_network(value: Value) -> TypeGuard[Object]:
    return isinstance(value, Object) and value.name in _NETWORKS
