"""TCL119: tensor methods and attributes Dynamo does not support."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import Final

from tclint.events import Attribute, Branch, Call, Event, Operation, Return, Store
from tclint.fixes.recipes import functional_form, plain_while_compiling, skip_while_compiling
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rules import _language, _refused
from tclint.rules._protocols import is_held_by_module
from tclint.rules._storage import fresh_memory, other_half, there_and_back
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import calls as asked
from tclint.torch_facts import facts
from tclint.torch_facts.sizes import ELEMENTWISE
from tclint.values import INPUT, PARAMETER, RAW, SPARSE, ClassValue, External, Scalar, Tensor, Value, tensor_of

# Up to some release the graph ends where the id is asked for; from then on where something is done with it.
_ID: Final = "id() of a tensor"
_IDS: Final = {
    "id as a key": "GB4501",
    "id that is kept": "GB4501",
    "order of ids": "GB9316",
    "comparison of an id": "GB9316",
}
_ANY: Final = tuple(facts.named("is of sparse tensors, and breaks on any"))
_REFUSED: Final = {
    "method of a tensor that is given a function": "GB7489",
    f"{_ANY[0]} of any tensor": "GB0129",
    f"{_ANY[1]} of any tensor": "GB0130",
}
_ELEMENTS: Final = tuple(f"Tensor.{name}{end}" for name in sorted(ELEMENTWISE) for end in ("", "_"))
_NAMES: Final = tuple(name for name in asked.breaking_somewhere() if name.startswith("Tensor."))
# A shape follows values: TCL105 says it. A pointer is nothing until it is compared.
_SHAPE: Final = "GB0036"
# An input as it was handed in: a view of one is a tensor of the region.
_ITSELF: Final = INPUT | RAW
_IN_PLACE_VIEW: Final = "GB0148"  # what a module holds is an input of the graph, too
_OF_SPARSE: Final = facts.named("reads a part of a sparse tensor")


class UnsupportedTensorMethod(Rule):
    """A tensor method that Dynamo does not support, such as `resize_`, `pin_memory`, `share_memory_`, `storage` or `set_`.

    They touch storage, which the graph does not have. Methods that reshape an *input* in place (`unsqueeze_`, `t_`,
    `squeeze_`) break as well; on a tensor made in the region they are fine. Which methods do was measured on every torch from 2.4 on.

    Bad::

        def f(x):
            y = x * 2
            y.resize_(4)
            return y

    Good::

        def f(x):
            y = x * 2
            return y.flatten()[:4]

    Fix: a functional op (`view`, `unsqueeze`, indexing). `--unsafe-fixes` writes `x = x.unsqueeze(0)` for
    `x.unsqueeze_(0)`: wrong where the caller relies on the change. `z = torch.complex(v, z.imag)` for `z.real = v`, a
    new tensor for `resize_` of one that nobody has written, and the tensor itself for a way through dlpack and back.
    """

    code, name = "TCL119", "unsupported-tensor-method"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    subjects = {"branch": (Scalar,)}
    graph_breaks = (
        "GB0148",
        "GB0117",
        "GB0126",
        "GB0107",
        "GB0055",
        "GB0208",
        "GB0001",
        "GB0087",
        "GB0058",
        "GB0242",
        "GB0247",
        "GB4501",
        "GB9316",
        "GB0129",
        "GB0130",
        "GB7489",
    )
    general = True
    owns = (*facts.named("shares memory with another library"), "torch.cov", "torch.corrcoef")
    by_facts = True
    calls = (
        *_NAMES,
        *owns,
        *_ELEMENTS,
        *_ANY,
        "builtins.id",
    )

    def __init__(self) -> None:
        super().__init__()
        # The latest compiled functions that keep an id.
        self._keeping: deque[tuple[object, str]] = deque(maxlen=64)

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name == "builtins.id":
            if _is_id(event.result) and event.args and tensor_of(event.args[0]) is not None:
                yield from self._told(event, _ID)
            return
        if (refused := _refused.of_tensor(event)) is not None:
            yield from self._told(event, refused, self.ids(_REFUSED.get(refused, "")))
            return
        if event.name in _ELEMENTS and event.name not in _NAMES:
            return
        tensor = tensor_of(event.receiver) if event.receiver is not None else None
        method = event.method
        if event.name in _OF_SPARSE and (tensor is None or not tensor.flags & SPARSE):
            return  # asked of sparse tensors; a jagged one has methods of the same names
        if event.name in facts.named("takes a class of tensors") and not self._becomes_plain(event):
            return
        verdict = self.verdict(event)
        made = event.name in facts.at(self.release).named("breaks on a tensor made in the region")
        if made and tensor is not None and not tensor.flags & (INPUT | PARAMETER):
            verdict = None
        if verdict is not None:
            if verdict.breaks != "always" or verdict.id == _SHAPE:
                return
            given = tensor is not None and tensor.flags & (_ITSELF | PARAMETER) == _ITSELF
            if verdict.only_on_input and not given and not (verdict.id == _IN_PLACE_VIEW and is_held_by_module(event)):
                return  # made in the region, also as a view of an input
        yield self._finding(event, f"`.{method}()`", tensor, self.span(event))

    def _becomes_plain(self, event: Call) -> bool:
        """Whether the class is one of torch, as it was asked, or dispatches by itself; another is followed."""
        given = event.args[0] if event.args else None
        if isinstance(given, ClassValue):
            return event.ask.method(given.cls, "__torch_dispatch__") is not None
        return isinstance(given, External) and given.name.startswith("torch.")

    def on_branch(self, event: Branch) -> Iterator[Finding]:
        if _is_address(event.test):
            yield from self._of_address(event, "truth of an address")

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        addresses = _is_address(event.left) + _is_address(event.right)
        if _is_id(event.left) and _is_id(event.right) and _orders(event.node):
            yield from self._of_id(event, "order of ids")
        elif _is_id(event.left) != _is_id(event.right) and event.operator == ast.Compare.__name__:
            yield from self._of_id(event, "comparison of an id")
        elif addresses and event.operator == ast.Compare.__name__:
            both = "comparison of two addresses"
            one = (
                "order of an address and a number" if _orders(event.node) else "comparison of an address with a number"
            )
            yield from self._of_address(event, both if addresses == 2 else one)
        elif addresses and isinstance(event.node, ast.BinOp):
            yield from self._of_address(event, "arithmetic on an address")

    def _of_address(self, event: Branch | Operation | Store, name: str) -> Iterator[Finding]:
        """What is done with an address, where the release traces the call that gave it."""
        read = asked.verdict("Tensor.data_ptr", self.release)
        if read is None or read.breaks == "never":
            yield from self._told(event, name)

    def on_return(self, event: Return) -> Iterator[Finding]:
        """What is kept is written down where the graph ends."""
        function = event.enclosing
        for root, name in self._keeping:
            if function is not None and root is function and root is event.ask.root():
                yield from self._of_id(event, name)
                return

    def _of_id(self, event: Operation | Return, name: str) -> Iterator[Finding]:
        """What is done with an id, where the release traces the call that gave it."""
        if not _language.told(_ID, self.release):
            yield from self._told(event, name, self.ids(_IDS[name]))

    def _told(self, event: Event, name: str, ids: tuple[str, ...] = ()) -> Iterator[Finding]:
        words = _language.told(name, self.release)
        if words:
            yield self.finding(
                event,
                f"{words}; Dynamo does not know it and breaks the graph{whole_frame(event)}",
                confidence=Confidence.HIGH,
                graph_breaks=ids or self.ids(""),
                help=_language.advice(name, self.release)
                or "compare the tensors with `is`, or do it outside the region",
            )

    def on_store(self, event: Store) -> Iterator[Finding]:
        if _is_id(event.index) or _is_id(event.value):
            self._keeping.append((event.ask.root(), "id as a key" if _is_id(event.index) else "id that is kept"))
        elif event.target == "subscript" and event.index is not None and _is_address(event.index):
            yield from self._of_address(event, "address as a key")
        elif event.target == "attribute" and _is_address(event.value):
            yield from self._of_address(event, "address that is kept")
        tensor = tensor_of(event.receiver)
        if tensor is not None and event.target == "attribute" and event.name in ("real", "imag"):
            yield self._finding(event, f"`.{event.name}` is written", tensor)

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Call) and event.method in facts.methods("changes the dimensions in place"):
            return functional_form(event)
        if isinstance(event, Call) and event.name in facts.named("moves memory and leaves the values"):
            what = "the storage stays where it is"
            return skip_while_compiling(event, event.node, what) or plain_while_compiling(event, what)
        if isinstance(event, Call) and event.name in facts.named("asks where memory lies"):
            return skip_while_compiling(event, event.node, "the answer is no")
        if isinstance(event, Store):
            return other_half(event, event.name) if event.name in ("real", "imag") else None
        if isinstance(event, Call) and event.name in facts.named("shares memory with another library"):
            return there_and_back(event)
        if isinstance(event, Call) and event.method == "resize_":
            return fresh_memory(event)
        return None

    def _finding(
        self, event: Branch | Call | Store | Operation | Attribute, what: str, tensor: Tensor | None, span: str = ""
    ) -> Finding:
        return self.finding(
            event,
            f"{what} is not supported by Dynamo; the graph breaks here{whole_frame(event)}{span}",
            about=tensor,
            confidence=None if tensor is not None else Confidence.HIGH,
            help="use a functional op, or do it outside the region",
        )


def _is_address(value: Value | None) -> bool:
    return isinstance(value, Scalar) and value.source == "pointer"


def _orders(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))


def _is_id(value: Value | None) -> bool:
    return isinstance(value, Scalar) and value.source == "id"
