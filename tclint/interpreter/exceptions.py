"""Exceptions as a way of going on: which are surely raised and caught, and what of the language that takes."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.program import Function, Module
from tclint.sources.tree import Position, nodes, position, text
from tclint.torch_facts import facts
from tclint.values import ClassValue, Const, External, Instance, Object, Scalar, Seq, Tensor, Value
from tclint.values.moments import Call

HANDLER: Final = "handler"
"""The block of a handler that is surely reached; one that may not be is `except`."""
LEAVES: Final = "exception that leaves the compiled function"
"""What is told of a `raise` that a call in sight gets to and that nothing in the region catches."""
_IN_PLACE: Final = facts.named("writes its receiver")
_ENDING: Final = facts.methods("ends the process")
_BEYOND: Final = frozenset(
    f"builtins.{name}" for name in ("BaseException", "KeyboardInterrupt", "SystemExit", "GeneratorExit")
)


def caught(frame: Frame) -> bool:
    """Whether this place is surely reached, and what is raised here surely meets a `try`."""
    current: Frame | None = frame
    while current is not None and current.region is not None and not current.maybe and "except" not in current.blocks:
        if "try" in current.blocks:
            return True
        current = current.parent
    return False


def may_be_caught(frame: Frame) -> bool:
    """Whether there is a `try` around this place, in this function or in one that calls it."""
    return any("try" in each.blocks for each in _frames(frame))


def gives_up(frame: Frame, body: Sequence[ast.stmt]) -> bool:
    """Whether a block of compiled code ends the run, with the process or with what nothing in the region catches: a program
    that works does not get there."""
    if frame.region is None or may_be_caught(frame):
        return False
    last = body[-1]
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        return isinstance(last, ast.Raise)
    func = last.value.func
    if getattr(func, "attr", getattr(func, "id", "")) not in _ENDING:
        return False
    with frame.interp.emitter.silence:
        value = evaluate(frame, func)
    return isinstance(value, External) and value.name in facts.named("ends the process")


def reached(frame: Frame) -> bool:
    """Whether every run of the region gets here."""
    return not any(each.maybe or set(each.blocks) - {HANDLER, "with"} for each in _frames(frame))


def _frames(frame: Frame) -> Iterator[Frame]:
    current: Frame | None = frame
    while current is not None and current.region is not None:
        yield current
        current = current.parent


def swallows(frame: Frame, context: Instance) -> bool:
    """Whether the `__exit__` of a context may say that an exception ends there."""
    leaves = frame.interp.classes.find_method(context.cls, "__exit__")
    given = (each.value for each in nodes(leaves.node) if isinstance(each, ast.Return)) if leaves is not None else ()
    return any(value is not None and getattr(value, "value", True) not in (None, False) for value in given)


def fails(frame: Frame, node: ast.AST, feature: str) -> None:
    """Something that surely fails here, by its name in the facts: told where a `try` is around it, here or around the calls."""
    if frame.interp.emitter.quiet:
        return  # somebody asks what an expression is, where it stands or later: nothing happens
    if frame.region is not None and caught(frame):
        frame.interp.emitter.feature(frame, node, feature)
        for each in _frames(frame):  # the handler is next
            each.dead = True
            if "try" in each.blocks:
                break
    elif frame.region is not None:
        leaves(frame, node)


def fails_to_unpack(frame: Frame, node: ast.AST, value: Value, feature: str) -> None:
    """A number behind a star, or before one: there is nothing in it to go through."""
    if frame.region is not None and isinstance(value, Const) and isinstance(value.value, (int, float)):
        fails(frame, node, feature)


def leaves(frame: Frame, node: ast.AST) -> None:
    """An exception that surely leaves the compiled function here: told where the calls in sight wait for it, with a `try`."""
    evidence = frame.region.evidence if frame.region is not None else None
    calls = evidence.calls if evidence is not None else ()
    if calls and reached(frame) and not may_be_caught(frame) and all(_is_awaited(frame, call) for call in calls):
        frame.interp.emitter.feature(frame, node, LEAVES)


def _is_awaited(frame: Frame, call: Call) -> bool:
    """Whether a call of the compiled function stands in a `try` of the same file."""
    if call.path != frame.module.path:
        return False
    at = position(call.node)
    return any(first <= at[0] <= last for first, last in frame.module.index(_tries))


def _tries(module: Module) -> tuple[tuple[int, int], ...]:
    """From which line to which the blocks go that are tried in a file."""
    found = (each for each in nodes(module.tree) if isinstance(each, ast.Try) and each.handlers)
    return tuple((each.body[0].lineno, each.body[-1].end_lineno or 0) for each in found)


def ends_type_errors(frame: Frame, node: ast.AST) -> bool:
    """Whether a `TypeError` of a call is caught in its function: elsewhere a call that does not fit ends the program, so it is
    another function that is called."""
    return frame.function is not None and position(node) in frame.function.index(_where_type_errors_end)


def _where_type_errors_end(function: Function) -> frozenset[Position]:
    return frozenset(
        position(call)
        for block in nodes(function.node)
        if isinstance(block, ast.Try) and any(map(_catches_type_errors, block.handlers))
        for statement in block.body
        for call in nodes(statement)
        if isinstance(call, ast.Call)
    )


def _catches_type_errors(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(issubclass(TypeError, getattr(builtins, text(kind), ())) for kind in kinds)


def lacks(frame: Frame, node: ast.Attribute, receiver: Value) -> bool:
    """Whether an object surely has no such attribute: nothing else in its file has the name."""
    if isinstance(receiver, Tensor):
        known = facts.at(frame.interp.options.release)
        if f"Tensor.{node.attr}" in _IN_PLACE:
            return False
        return known.attribute("tensor", node.attr) is None and known.method("tensor", node.attr) is None
    if not isinstance(receiver, Instance) or not caught(frame):
        return False
    classes = frame.interp.classes
    if classes.external_base(receiver.cls) not in ("", "torch.nn.Module"):
        return False
    if any(classes.find_method(receiver.cls, method) is not None for method in ("__getattr__", "__getattribute__")):
        return False
    return len(re.findall(rb"\b%s\b" % node.attr.encode(), receiver.cls.module.data)) == 1


def tell_imports(frame: Frame, node: ast.Try) -> None:
    """Imports of packages from elsewhere of which the program itself says, by its handlers, that they may not be there."""
    imports = _from_elsewhere(frame, node)
    handled = [c for handler in node.handlers for c in _caught_by(frame, handler) if c is not None]
    if any(issubclass(ImportError, c) or issubclass(c, ImportError) for c in handled):
        for statement in imports:
            fails(frame, statement, "import of a package that is not there")


def is_without_package(frame: Frame, node: ast.Try, handler: ast.ExceptHandler) -> bool:
    """Whether compiled code gets to a handler only where a package is missing: then the import has broken the graph before, and
    the function around it runs eagerly."""
    if frame.region is None or not _from_elsewhere(frame, node):
        return False
    caught_here = _caught_by(frame, handler)
    return bool(caught_here) and all(c is not None and issubclass(c, ImportError) for c in caught_here)


def _from_elsewhere(frame: Frame, node: ast.Try) -> list[ast.stmt]:
    """The imports in a `try` of packages that are not the program's."""
    found: list[ast.stmt] = []
    for statement in node.body:
        if isinstance(statement, ast.Import):
            named = [each.name for each in statement.names]
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            named = [statement.module or ""]
        else:
            continue
        if any(_is_elsewhere(frame, name.partition(".")[0]) for name in named):
            found.append(statement)
    return found


def _is_elsewhere(frame: Frame, package: str) -> bool:
    """Whether a package is neither the program's, nor Python's, nor one that torch itself needs."""
    known = package in sys.stdlib_module_names or facts.knows_package(package)
    return not known and frame.module.program.find(frame.module, package) is None


def _caught_by(frame: Frame, handler: ast.ExceptHandler) -> list[type[BaseException] | None]:
    """The exceptions that a handler names; None for one that is not Python's own."""
    if handler.type is None:
        return [BaseException]
    with frame.interp.emitter.silence:
        caught_here = evaluate(frame, handler.type)
    kinds = caught_here.items or () if isinstance(caught_here, Seq) else (caught_here,)
    names = (kind.name.removeprefix("builtins.") if isinstance(kind, External) else "" for kind in kinds)
    classes = (getattr(builtins, name, None) for name in names)
    return [c if isinstance(c, type) and issubclass(c, BaseException) else None for c in classes]


def tell_handler(frame: Frame, node: ast.Try) -> None:
    """A first handler that names what is no exception: Python asks it for every exception, and raises another."""
    handler = node.handlers[0] if node.handlers else None
    if handler is None or handler.type is None:
        return
    with frame.interp.emitter.silence:
        named = evaluate(frame, handler.type)
    if not isinstance(named, Seq):
        if _is_no_exception(frame, named):
            frame.interp.emitter.feature(frame, handler.type, "except of what is no exception")
        return
    for each in named.items or ():
        if isinstance(each, Seq) or _is_no_exception(frame, each):
            feature = "except of a tuple with what is no exception"
            frame.interp.emitter.feature(frame, handler.type, feature)
            return
        if not _passes_by(frame, node, each):
            return


def _is_no_exception(frame: Frame, value: Value) -> bool:
    plain = isinstance(value, ClassValue) and all(not each.node.bases for each in frame.interp.classes.mro(value.cls))
    return plain or isinstance(value, (Const, Tensor))


def _passes_by(frame: Frame, node: ast.Try, kind: Value) -> bool:
    """Whether what a `try` raises itself is surely of another class: both are classes of Python's own."""
    raised = next((each.exc for each in node.body if isinstance(each, ast.Raise)), None)
    made = raised.func if isinstance(raised, ast.Call) else raised
    if made is None or not isinstance(kind, External):
        return False
    with frame.interp.emitter.silence:
        value = evaluate(frame, made)
    classes = [_of_python(each.name) for each in (value, kind) if isinstance(each, External)]
    first, second = classes if len(classes) == 2 else (None, None)
    return first is not None and second is not None and not issubclass(first, second)


def _of_python(name: str) -> type | None:
    found = getattr(builtins, name.removeprefix("builtins."), None)
    return found if isinstance(found, type) else None


def features(frame: Frame, node: ast.Raise) -> Iterator[tuple[str, ast.AST]]:
    """What of the language a `raise` uses, by its names in the facts, and where."""
    if node.exc is None:
        yield "raise again", node
        return
    if node.cause is not None:
        none = isinstance(node.cause, ast.Constant) and node.cause.value is None
        yield "raise from None" if none else "raise from", node
    elif HANDLER in frame.blocks:
        yield "raise in a handler", node
    made = isinstance(node.exc, ast.Call)
    with frame.interp.emitter.silence:
        value = evaluate(frame, node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
    yield from _of_class(frame, node, value, made)


def _of_class(frame: Frame, node: ast.Raise, value: Value, made: bool) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(value, ClassValue):
        own = frame.interp.classes.find_method(value.cls, "__init__")
        yield "raise an exception with __init__" if own is not None else "raise an exception of the program", node
        inner = next((part for part in ast.walk(own.node) if _is_super(part)), None) if own is not None else None
        if inner is not None:
            yield "super().__init__() of an exception", inner if value.cls.module is frame.module else node
    elif isinstance(value, External) and value.name in _BEYOND:
        yield "raise what is no Exception", node
    elif isinstance(value, External) and isinstance(node.exc, ast.Call):
        texts = len(node.exc.args) < 2 and all(_may_be_text(frame, each) for each in node.exc.args)
        if node.exc.keywords:
            yield "exception that is made with keywords", node
        elif not texts:
            yield f"{value.name.removeprefix('builtins.')} of no text", node
    elif isinstance(value, (Instance, Object)) and not made and _is_from_outside(frame, node.exc):
        yield "raise an object", node


def _may_be_text(frame: Frame, argument: ast.expr) -> bool:
    with frame.interp.emitter.silence:
        value = evaluate(frame, argument)
    known = isinstance(value, (Const, Scalar, Seq, Tensor))
    return value.python_type == "str" or not known


def _is_from_outside(frame: Frame, raised: ast.expr | None) -> bool:
    """Whether what is raised was there before compiled code ran: an attribute, a name of the file, an argument."""
    if not isinstance(raised, ast.Name) or frame.function is None:
        return isinstance(raised, ast.Attribute)
    if raised.id in frame.function.bound_names() - frame.function.stored_names():
        return frame.parent is None  # what a call in sight hands over, the region may have made
    return raised.id not in frame.env


def is_awaited(handler: ast.ExceptHandler) -> bool:
    """Whether a handler reads what a generator returned: it is meant to be reached, with every generator that ends."""
    if not (isinstance(handler.type, ast.Name) and handler.type.id == "StopIteration" and handler.name):
        return False
    found = (node for statement in handler.body for node in nodes(statement) if isinstance(node, ast.Attribute))
    return any(each.attr == "value" and text(each.value) == handler.name for each in found)


def _is_super(node: ast.AST) -> bool:
    """Whether this is `super().__init__`."""
    inner = node.value if isinstance(node, ast.Attribute) and node.attr == "__init__" else None
    return isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super"


def ends(frame: Frame, body: Sequence[ast.stmt]) -> bool:
    """Whether an arm ends in an error that nobody catches: a program that works goes on behind it."""
    return bool(body) and isinstance(body[-1], ast.Raise) and not caught(frame)
