"""What one call does: eagerly, and under Dynamo."""

from __future__ import annotations

import ast
import logging
import random
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import inputs
import torch
import torch._dynamo
from kinds import kind, numpy

SECONDS = 10


class Late(Exception):
    """A call took too long."""


def alarm(seconds: int) -> None:
    """Raise Late in this process after so many seconds; 0 calls it off."""

    def ring(*_: object) -> None:
        raise Late

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)


class Enough(BaseException):
    """A break was heard: what Dynamo would make of the rest need not be waited for."""


class Ear(logging.Handler):
    """Hears Dynamo's `graph_breaks` log, which names every break; `explain` and the counters do not."""

    def __init__(self) -> None:
        super().__init__()
        self.stops = False
        self.heard: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if "graph break" in text.lower():
            lines = re.findall(rf'{HOME}"?[:,](?: line )?(\d+)', text)
            self.heard.append((int(lines[-1]) if lines else 0, reason(text)))
            if self.stops:
                raise Enough


def reason(text: str) -> str:
    """`GB0123 what`; `GB? what` on releases that print no id."""
    told = re.search(r"/gb(\d{4,5})\.html", text)
    said = re.search(r"(.*)\n\s*Explanation:", text) or re.search(r"Reason:\s*(.*)", text)
    said = said or re.search(r"Graph break: (.*?) from user code at", text, re.DOTALL)
    line = said.group(1) if said else text.strip().splitlines()[-1]
    line = re.sub(r"^.*?Reason:\s*|^Unsupported:\s*", "", line.strip())
    line = re.sub(r"0x[0-9a-f]+", "0x", line).strip()[:90]
    return f"GB{told.group(1)} {line}" if told else f"GB? {line}"


def listen() -> Ear:
    """Attach an ear to this process's Dynamo; silence the rest of torch."""
    import torch._logging

    ear = Ear()
    torch._logging.set_logs(graph_breaks=True)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and "graph_breaks" in name:
            logger.handlers, logger.propagate = [ear], False
        elif isinstance(logger, logging.Logger) and name.startswith("torch"):
            logger.handlers = [logging.NullHandler()]
    return ear


class Question:
    """An expression, and the names that its program must be given."""

    def __init__(self, source: str, space: dict[str, Any]) -> None:
        self.source = source
        self.space = space
        self.tree = ast.parse(source, mode="eval").body
        self.code = compile(ast.Expression(self.tree), "asked", "eval")
        self.used = [n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name) and n.id in inputs.PARAMETERS]

    def arguments(self, method: bool) -> list[tuple[str, ast.expr]]:
        """The argument expressions by label: `self` for a receiver, a position, a keyword."""
        tree = self.tree
        if method and isinstance(tree, ast.Attribute):
            return [("self", tree.value)]
        if isinstance(tree, ast.Subscript):
            return [("self", tree.value), ("0", tree.slice)]
        if isinstance(tree, (ast.BinOp, ast.Compare)):
            right = tree.right if isinstance(tree, ast.BinOp) else tree.comparators[0]
            return [("self", tree.left), ("0", right)]
        if not isinstance(tree, ast.Call):
            return []
        found: list[tuple[str, ast.expr]] = []
        if method and isinstance(tree.func, ast.Attribute):
            found.append(("self", tree.func.value))
        found += [(str(i), node) for i, node in enumerate(tree.args) if not isinstance(node, ast.Starred)]
        found += [(keyword.arg, keyword.value) for keyword in tree.keywords if keyword.arg]
        return found

    def run(self, given: dict[str, Any], seed: int = 0) -> Any:
        """The value of the expression, with every source of chance set."""
        torch.manual_seed(seed)
        random.seed(seed)
        if numpy is not None:
            numpy.random.seed(seed)
        return eval(self.code, {**self.space, **given})


CACHE: dict[int, dict[str, Any]] = {}


def given(turn: int, used: Iterable[str]) -> dict[str, Any]:
    """Fresh copies of the arguments that a question uses."""
    if turn not in CACHE:
        CACHE[turn] = inputs.make(turn)
    fresh = {}
    for name in used:
        value = CACHE[turn][name]
        if isinstance(value, torch.Tensor):
            fresh[name] = value.detach().clone().requires_grad_(value.requires_grad)
        else:
            fresh[name] = value.copy() if hasattr(value, "copy") else value
    return fresh


def works(question: Question) -> str | None:
    """The kind of the result where the expression can be evaluated at all."""
    try:
        alarm(3)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = kind(eval(question.code, {**question.space, **given(0, question.used)}))
        return None if any("overload of" in str(warning.message) for warning in said) else found
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return None
    finally:
        signal.alarm(0)


def leaves(value: Any, depth: int = 0) -> list[Any]:
    """The tensors and arrays of a result."""
    if isinstance(value, torch.Tensor) or (numpy is not None and isinstance(value, numpy.ndarray)):
        return [value]
    if isinstance(value, (tuple, list)) and depth < 3 and len(value) < 65:
        return [leaf for member in value for leaf in leaves(member, depth + 1)]
    return []


def address(value: Any) -> int:
    """Where the storage of a tensor or array begins; 0 where it has none."""
    try:
        if isinstance(value, torch.Tensor):
            return value.untyped_storage().data_ptr()
        while isinstance(getattr(value, "base", None), type(value)):
            value = value.base
        return value.__array_interface__["data"][0]
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0


def told(value: Any) -> tuple[str, str]:
    """The shapes and the contents of a result, as text to compare."""
    shapes = repr([tuple(leaf.shape) for leaf in leaves(value)])
    if isinstance(value, torch.Tensor) and value.is_sparse:
        value = value.to_dense()
    return shapes, re.sub(r"0x[0-9a-f]+", "0x", repr(value)[:2000])


def state(value: Any) -> Any:
    """What a mutation would change."""
    if isinstance(value, torch.Tensor):
        return value._version, tuple(value.shape), value.requires_grad, value.dtype, tuple(value.stride())
    return repr(value)[:2000]


def eager(question: Question, method: bool, follows: bool = True) -> dict[str, Any]:
    """Kinds, aliases, mutations, and what follows the values of the arguments."""
    values = given(0, question.used)
    before = {name: state(value) for name, value in values.items()}
    labels = question.arguments(method)
    arguments = {}
    for label, node in labels:
        try:
            code = compile(ast.Expression(node), "argument", "eval")
            arguments[label] = kind(eval(code, {**question.space, **given(0, question.used)}))
        except Exception:
            arguments[label] = "unknown"
    by_name = {node.id: label for label, node in reversed(labels) if isinstance(node, ast.Name)}
    result = question.run(values)
    found: dict[str, Any] = {"arguments": arguments, "result": kind(result)}
    found["mutates"] = sorted(by_name.get(n, n) for n, value in values.items() if state(value) != before[n])
    members = leaves(result)
    found["same"] = sorted(by_name.get(n, n) for n, value in values.items() if any(m is value for m in members))
    if result is not None and not members and not isinstance(result, (int, float, str, bool)):
        found["same"] = sorted(by_name.get(n, n) for n, value in values.items() if result is value)
    places = {address(member) for member in members} - {0}
    found["aliases"] = sorted(
        by_name.get(n, n) for n, value in values.items() if leaves(value) and address(value) in places
    )
    if follows:
        follow(question, result, found)
    return found


def follow(question: Question, result: Any, found: dict[str, Any]) -> None:
    """Run again: the same values under another seed, then other values."""
    first = told(result)
    try:
        again = told(question.run(given(0, question.used), seed=1))
    except BaseException:
        return
    found["unsteady"] = again[1] != first[1]
    found["follows"] = found["reads"] = False
    for turn in (1, 2):
        try:
            other = question.run(given(turn, question.used))
        except BaseException:
            continue
        seen = told(other)
        if seen[0] != first[0] and again[0] == first[0]:
            found["follows"] = True
        if not found["unsteady"] and seen[1] != first[1]:
            found["reads"] = True


MARK = 7777
HOME = "asked.py"


class Counter:
    """A backend that counts the graphs it is given, and the marks in them."""

    def __init__(self) -> None:
        self.graphs = self.marks = 0

    def __call__(self, graph: Any, _: object) -> Callable[..., Any]:
        self.graphs += 1
        self.marks += sum(MARK in node.args for node in graph.graph.nodes)
        return graph.forward  # type: ignore[no-any-return]


def program(sources: list[str], space: dict[str, Any], used: bool = False) -> Any:
    """One function that evaluates every source on its own line, with a marked operation before and after each."""
    lines = "".join(f"    r = {source}; y = y + {MARK}\n" for source in sources)
    text = f"def f({inputs.SIGNATURE}):\n    y = x + {MARK}\n{lines}    return y * 2{', r' if used else ''}\n"
    scope = sys.modules["asked"].__dict__  # where releases up to 2.12 look for the globals of a function
    scope.update(space)
    exec(compile(text, HOME, "exec"), scope)
    return scope["f"]


@dataclass
class Heard:
    """What was heard of a program: the first break, by its line; an exception; whether every mark was in a graph."""

    breaks: dict[int, list[str]] = field(default_factory=dict)
    raises: str = ""
    whole: bool = True

    @property
    def clean(self) -> bool:
        return not self.breaks and not self.raises and self.whole


def compiled(sources: list[str], space: dict[str, Any], ear: Ear, full: bool = False) -> Heard:
    """How Dynamo fares with all sources in one function, up to the first break."""
    torch._dynamo.reset()
    re.purge()  # a program's first call has no pattern in the cache yet, and that one is traced
    ear.heard.clear()
    backend = Counter()
    found = Heard()
    torch.manual_seed(0)
    try:
        alarm(SECONDS + 5 * len(sources))
        values = given(0, inputs.PARAMETERS)
        ear.stops = True
        torch.compile(program(sources, space), backend=backend, fullgraph=full)(**values)
    except Enough:
        pass
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        text = str(error).strip().splitlines()
        line = re.sub(r"0x[0-9a-f]+", "0x", text[0] if text else "")
        found.raises = f"{type(error).__name__}: {line}"[:110]
    finally:
        ear.stops = False
        signal.alarm(0)
    found.whole = backend.marks == len(sources) + 1
    for line, why in ear.heard:
        place = line - 3
        told = found.breaks.setdefault(place if 0 <= place < len(sources) else -1, [])
        if why not in told:
            told.append(why)
    return found


def numbers(source: str, space: dict[str, Any], ear: Ear) -> dict[str, Any]:
    """Three calls whose Python numbers differ: does each compile again, does a later one break?"""
    torch._dynamo.reset()
    ear.heard.clear()
    backend = Counter()
    function = torch.compile(program([source], space, used=True), backend=backend)
    counts = []
    try:
        alarm(SECONDS * 3)
        for turn in (0, 3, 4):
            function(**given(turn, inputs.PARAMETERS))
            counts.append(backend.graphs)
    except BaseException as error:
        return {"again": f"raises {type(error).__name__}"}
    finally:
        signal.alarm(0)
    return {"again": "breaks" if ear.heard else "burned" if counts[2] > counts[1] else "settles"}
