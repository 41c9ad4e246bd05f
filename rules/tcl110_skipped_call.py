"""TCL110: calls that Dynamo does not trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event, GraphBreak
from tclint.fixes.places import Place
from tclint.fixes.recipes import compute_once, skip_unread_store, skip_while_compiling
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules import _language
from tclint.rules._spellings import counted, own_name
from tclint.ruleset.rule import Rule, sure, whole_frame
from tclint.torch_facts import calls, facts, features, index_groups
from tclint.values import ARRAY, NONE, UNKNOWN, Const, Object, Scalar, Tensor, Value, tensor_of

# A property is made while a class is defined, and that is what breaks the graph. Tensors are others' business.
_NAMES: Final = tuple(
    name
    for name in calls.breaking_somewhere()
    if name.partition(".")[0] not in facts.named("is of tensors and arrays") and name != "builtins.property"
)
# `int.from_bytes(…)` is called on the class.
_OF_CLASSES: Final = tuple(
    f"builtins.{name}" for name in _NAMES if facts.canonical(f"builtins.{name}") != f"builtins.{name}"
)
# Attributes of the standard library that are classes: an instance's methods break as well.
_OBJECTS: Final = facts.named("makes objects whose methods break")

# What other libraries do in Python that Dynamo traces into, and cannot trace.
_INSIDE: Final = facts.named("breaks the graph in its own code")
# Nobody hands these an image or an array: what is not known is a tensor, too.
_OF_TENSORS: Final = tuple(name.removesuffix("*") for name in facts.named("takes tensors alone"))
_LEFT_OUT: Final = frozenset(facts.named("is told to leave out what breaks"))

_OF_PROCESS: Final = facts.named("is done to the process, not to the values")

_SWITCH: Final = "capture_scalar_outputs"

_CONSTANT: Final = facts.named("gives the same answer to the same arguments")


_COMPARED: Final = "GB9316"
"""The asking compares what comes out: the call itself is traced, and TCL119 tells what is done with an id."""


class SkippedCall(Rule):
    """A call into the standard library, or into compiled third-party code, that Dynamo skips.

    `time.time()`, `datetime.now()`, `os.getpid()`, `uuid.uuid4()`, `hashlib.md5()`, `pickle.dumps()`, `importlib`,
    `inspect.stack()`, locks, queues, `copy.copy` … are marked as skipped: the graph ends, Python runs the call, another
    graph begins. Which calls do was measured by compiling each on every torch from 2.4 on; `target-torch` chooses.
    Some transforms of torchvision and torchaudio (`Normalize`, `MelSpectrogram`, `Resample`, the random ones) are traced into,
    and ask tensors for their values on the way; so do layers of torch_geometric that add self-loops or take them away (`GCNConv`,
    `GATConv`, `ChebConv`), and what pools or normalises by a `batch` without being told how many graphs it holds. With `--python` the libraries of an environment are read: a function of theirs in which every run
    comes to a break is told at the call.

    Bad::

        def f(x):
            started = time.perf_counter()
            y = x * 2
            return y, time.perf_counter() - started

    Good::

        def f(x):
            return x * 2  # time it in the caller

    Fix: move the call to the caller or to `__init__`; wrap a kernel of your own with `torch.library.custom_op`.
    `--unsafe-fixes` computes it once, in `__init__` or at the top of the file, where all arguments are constants or
    attributes set once; what is only noted down, and read by nothing that is compiled, goes under an `is_compiling()` guard,
    and so does what is done to the process or the disk alone (`gc.collect()`, `os.makedirs("out")`). A module that `__init__` hands to
    TorchScript stays as it is.
    Wrong where the answer changes while the program runs.
    """

    code, name = "TCL110", "skipped-call"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    elsewhere = "call it there and pass what it gives"
    graph_breaks = ("GB0007", "GB0008", "GB0147", "GB0156", "GB0059", "GB0142", "GB4695", "GB0357")
    general = True
    by_facts = True
    calls = (
        *_NAMES,
        *_OF_CLASSES,
        *(p + "*" for p in _OBJECTS),
        *_INSIDE,
        *index_groups.CALLS,
        "re.Pattern.finditer",
        "torch.jit.ScriptModule.__call__",
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        if name in _INSIDE:
            yield from self._inside(event)
            return
        if name in index_groups.CALLS:
            yield from self._grouped(event, index_groups.CALLS[name])
            return
        if _language.of_call(event) in features.table().features:
            return  # asked of an object of the program: TCL120 knows on which releases
        verdict = self.verdict(event)
        if verdict is not None and (verdict.breaks != "always" or verdict.reads_tensor or verdict.id == _COMPARED):
            return
        short = name.removeprefix("builtins.")
        if isinstance(event.receiver, Object) and event.receiver.kind == "elsewhere":
            short = short.removesuffix(".__call__")  # it is called by the name it has in the program
        raised = verdict.raises if verdict is not None else ""
        skipped = f"`{short}` is skipped by Dynamo; the graph breaks here{whole_frame(event)}"
        yield self.finding(
            event,
            f"{f'`{short}` raises {raised} under torch.compile, and not without it' if raised else skipped}"
            f"{self.span(event) if verdict is not None else ''}",
            confidence=Confidence.HIGH if verdict is not None else Confidence.MEDIUM,
            graph_breaks=self.ids(verdict.id if verdict is not None else ""),
            help="call it outside the compiled region",
        )

    def on_graph_break(self, event: GraphBreak) -> Iterator[Finding]:
        """A function of a library that was read, in which every run comes to a break."""
        called = event.function.function if event.function is not None else None
        if called is None or not called.module.library or event.module.library or not event.at.sure:
            return
        where = f"{called.module.name.partition('.')[0]}/…/{event.at.path.rpartition('/')[2]}:{event.at.line}"
        yield self.finding(
            event,
            f"Dynamo traces into `{called.module.name}.{called.qualname}`, whose code breaks the graph at {where}"
            f"{whole_frame(event)}",
            graph_breaks=(),
            help="call it outside the compiled region, and pass what it gives",
        )

    def _inside(self, event: Call) -> Iterator[Finding]:
        """A call of a library whose code breaks the graph where it gets tensors."""
        given = (*event.args, *event.keywords.values())
        tensor = next((t for value in given if (t := tensor_of(value)) is not None), None)
        of_tensors = event.name.startswith(_OF_TENSORS)
        if _is_told_otherwise(event.receiver) if of_tensors else tensor is None:
            return
        if tensor is None or not tensor.flags & ARRAY:
            yield self.finding(
                event,
                f"Dynamo traces into `{event.name.removesuffix('.__call__')}`, whose code breaks the graph{whole_frame(event)}",
                about=tensor,
                confidence=Confidence.MEDIUM if of_tensors and not sure(tensor) else None,
                graph_breaks=(),
                help="call it outside the compiled region, on the batch before it is handed to the model",
            )

    def _grouped(self, event: Call, by: index_groups.Grouped) -> Iterator[Finding]:
        """A call of a library that asks an index for the number of groups which nobody tells it."""
        index = event.arg(*by.asked)
        tensor = index if isinstance(index, Tensor) else None
        # Where it may be left out, what nobody knows may be nothing.
        given = (
            tensor is not None or by.assumed or (index is UNKNOWN and not event.receiver and not _has_optional(event))
        )
        bounds = event.arg(*by.bounds) if by.bounds is not None else None
        missing = next((each for each in by.sizes if event.arg(*each) in (None, NONE)), None)
        if _is_spread(event.node) or not given or bounds not in (None, NONE) or missing is None:
            return
        if _is_told_otherwise(event.receiver) or self.captured(event, _SWITCH):
            return
        name = event.name.removesuffix(".__call__")
        yield self.finding(
            event,
            f"Dynamo traces into `{name}`, which asks `{by.asked.keyword}` for the number of groups; the graph breaks there"
            f"{whole_frame(event)}",
            about=tensor,
            confidence=None if sure(tensor) else Confidence.MEDIUM,
            graph_breaks=(),
            help=f"tell it: `{missing.keyword}=`",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if not isinstance(event, Call):
            return None
        if event.name in _OF_PROCESS or _only_done(event):
            return skip_while_compiling(event, event.node, "it is not done")
        if event.name == "torch.jit.ScriptModule.__call__":
            return _unscripted(event)
        if event.name == "inspect.currentframe":
            return own_name(event)
        if not event.name.startswith(_CONSTANT) or event.method == "finditer":
            return skip_unread_store(event, event.node)
        note = "the value is the one at start-up: wrong where it changes while the program runs"
        once = compute_once(event, note) or (counted(event) if event.name.startswith("bisect.") else None)
        return once or skip_unread_store(event, event.node)


def _is_spread(node: ast.AST) -> bool:
    """Whether a call has arguments that its text does not name."""
    return isinstance(node, ast.Call) and (
        any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords)
    )


def _has_optional(event: Call) -> bool:
    """Whether a call hands on a parameter of its function that is nothing by default."""
    function = event.enclosing
    if function is None or not isinstance(event.node, ast.Call):
        return False
    known = function.node.args
    placed = [*known.posonlyargs, *known.args]
    defaults = [
        *zip(reversed(placed), reversed(known.defaults), strict=False),
        *zip(known.kwonlyargs, known.kw_defaults, strict=True),
    ]
    nothing = {each.arg for each, default in defaults if isinstance(default, ast.Constant) and default.value is None}
    given = (*event.node.args, *(each.value for each in event.node.keywords))
    return any(isinstance(each, ast.Name) and each.id in nothing for each in given)


def _is_told_otherwise(receiver: Value | None) -> bool:
    """Whether a layer was made with an argument that decides about the step that breaks, or may have been."""
    made = receiver.origin.node if isinstance(receiver, Object) else None
    given = made.keywords if isinstance(made, ast.Call) else ()
    return any(
        (each.arg is None or each.arg in _LEFT_OUT)
        and not (isinstance(each.value, ast.Constant) and each.value.value is True)
        for each in given
    )


def _only_done(event: Call) -> bool:
    """Whether a function of a module, or a lock, is asked to do something that gives nothing to anybody.

    With numbers and texts alone: another argument may be what is changed.
    """
    given = (*event.args, *event.keywords.values())
    owner = event.receiver
    lock = isinstance(owner, Object) and owner.name.startswith(("threading.", "multiprocessing."))
    taken = not isinstance(Place(event).parent, ast.Expr)
    return (owner is None or lock) and not taken and all(isinstance(value, (Const, Scalar)) for value in given)


def _unscripted(event: Call) -> Fix | None:
    """The module itself, where `__init__` has TorchScript compile it."""
    place = Place(event)
    node, cls = place.node, place.cls
    owner = node.func if isinstance(node, ast.Call) else None
    if not isinstance(owner, ast.Attribute) or not isinstance(owner.value, ast.Name) or cls is None:
        return None
    inits = [s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"]
    held = [
        statement.value
        for init in inits
        for statement in ast.walk(init)
        if isinstance(statement, ast.Assign)
        and any(isinstance(t, ast.Attribute) and t.attr == owner.attr for t in statement.targets)
    ]
    if len(held) != 1 or not isinstance(held[0], ast.Call) or not isinstance(held[0].func, ast.Attribute):
        return None
    made = held[0]
    of_torch = isinstance(made.func, ast.Attribute) and place.source(made.func).startswith("torch.jit.")
    if not of_torch or not made.args or isinstance(made.args[0], ast.Starred):
        return None
    note = "the module runs as it is written: wrong where tracing has left a branch out, or where it is saved as TorchScript"
    return Fix(
        "leave it to torch.compile", Applicability.UNSAFE, (place.replace(made, place.source(made.args[0])),), note
    )
