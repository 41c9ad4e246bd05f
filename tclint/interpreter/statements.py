"""Statements: how names get their values, and in which order things happen.

Importing this module fills the table of `tclint.interpreter.execute`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Final

from tclint import events
from tclint.interpreter import answering, exceptions, expressions, hints, modes, sighted, stores
from tclint.interpreter.contexts import run_with
from tclint.interpreter.execute import handles, run_block
from tclint.interpreter.expressions import comparisons, passed_tests, provisos
from tclint.interpreter.frame import KNOWN, RARE, Env, Frame, join_env
from tclint.program import Class, Function, absolute_name
from tclint.torch_facts import facts
from tclint.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    External,
    FunctionValue,
    ModuleValue,
    Object,
    Scalar,
    Seq,
    Tensor,
    Value,
    tensor_of,
)
from tclint.values.graph import as_handle, holds_graph
from tclint.values.object import CAUGHT
from tclint.values.operators import binary
from tclint.values.place import put_back, rename
from tclint.values.scalar import is_text_of_tensor

_COPIES: Final = facts.methods("copies into memory of its own")
_OTHERS: Final = frozenset(facts.named("is a framework with layers of its own"))


def _expr(frame: Frame, node: ast.Expr) -> None:
    value = node.value
    if type(value) is ast.Constant:
        return
    expressions.evaluate(frame, value)


def _assign(frame: Frame, node: ast.Assign) -> None:
    value = expressions.evaluate(frame, node.value)
    if type(node.value) is ast.YieldFrom:
        frame.interp.emitter.feature(frame, node.value, "value of yield from")
    for target in node.targets:
        if type(target) is not ast.Attribute or not _is_same(target, node.value):
            stores.store(frame, target, value, node)
    if frame.region is not None and len(node.targets) == 1 and type(node.targets[0]) is ast.Name:
        passed_tests.mean(frame, node.targets[0].id, node.value)


def _is_same(target: ast.Attribute, value: ast.expr) -> bool:
    """`self.cache = self.cache` changes nothing."""
    if type(value) is not ast.Attribute or value.attr != target.attr:
        return False
    return ast.dump(target.value).replace("Store()", "Load()") == ast.dump(value.value)


def _ann_assign(frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is None:
        return
    value = expressions.evaluate(frame, node.value)
    if value is UNKNOWN:
        value = hints.evaluate(frame.interp, frame.module, node.annotation, frame.origin(node))
    stores.store(frame, node.target, value, node)


def _aug_assign(frame: Frame, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        old = expressions.lookup(frame, target.id)
        if old.maker and frame.region is not None:
            frame.interp.emitter.use(frame, target, old)
    else:
        old = expressions.evaluate(frame, target)
    memory = frame.interp.graph_memory
    runs = memory.runs
    value = expressions.evaluate(frame, node.value)
    old = memory.later(old, runs)
    if type(node.op) is ast.BitOr and type(old) is Dict and tensor_of(old.element()) is not None:
        frame.interp.emitter.feature(frame, node, "|= of a dict with tensors")
    if type(node.op) is ast.Add and frame.region is not None and (is_text_of_tensor(old) or is_text_of_tensor(value)):
        frame.interp.emitter.feature(frame, node, "text of a tensor that is joined")
    result = binary(frame, node, type(node.op).__name__, old, value)
    tensor = tensor_of(old)
    if tensor is not None and isinstance(result, Tensor):
        # `x += y` writes into x's storage: the result is x.
        result = Tensor(tensor.conf, tensor.dtype, tensor.ndim, tensor.flags, tensor.origin, tensor.base, tensor.site)
    elif frame.region is None and frame.walked and isinstance(result, Scalar) and _counts(node, value):
        # Whatever it was at first, it is another number in every turn.
        result = Scalar(result.type, "counted", result.origin)
    stores.store(frame, target, result, node, augmented=True, old=old)


def _counts(node: ast.AugAssign, step: Value) -> bool:
    """`n += 1`"""
    known = isinstance(step, Const) and type(step.value) in (int, float) and bool(step.value)
    return known and isinstance(node.op, (ast.Add, ast.Sub))


def _return(frame: Frame, node: ast.Return) -> None:
    value = NONE if node.value is None else expressions.evaluate(frame, node.value)
    if frame.region is None and holds_graph(value):
        value = as_handle(value)
    frame.interp.emitter.emit(events.Return, frame, node, value)
    frame.returns.append(value)
    frame.dead = True


def _raise(frame: Frame, node: ast.Raise) -> None:
    # What an exception is built from runs only when things have already gone wrong; Dynamo does not get there
    # in a program that works: unless it is raised for sure, to be caught.
    if frame.region is not None and exceptions.caught(frame):
        for feature, where in exceptions.features(frame, node):
            frame.interp.emitter.feature(frame, where, feature)
    elif frame.region is not None:
        exceptions.leaves(frame, node)
    frame.dead = True


def _if(frame: Frame, node: ast.If) -> None:
    then, otherwise = expressions.branch(frame, node.test, "if")
    if then is not None and otherwise is not None and isinstance(node.body[-1], ast.Raise):
        otherwise = otherwise if not _raises(frame, node, then) else None
    if then is not None and otherwise is not None and isinstance(node.test, ast.BoolOp):
        # What each part comes to differs from call to call, and all of them may agree on the whole.
        ways = sighted.ways(frame, node.test)
        then, otherwise = (None if ways == {False} else then), (None if ways == {True} else otherwise)
    after: Env | None = None
    undecided = then is not None and otherwise is not None
    left = False
    frame.maybe += undecided
    heap = frame.interp.heap
    held = heap.state() if undecided and frame.region is None else None
    memory = frame.interp.graph_memory
    before = memory.branch()
    gradients = memory.gradients
    if then is not None:
        frame.env = then
        trains = undecided and modes.is_training(node.test)
        frame.modal += trains
        _arm(frame, node.body, undecided)
        frame.modal -= trains
        if not frame.dead:
            after = frame.env
        elif otherwise is not None and exceptions.ends(frame, node.body):
            provisos.let_go(otherwise, node.test)
        left |= frame.dead and not exceptions.ends(frame, node.body)
        frame.dead = False
    ends = memory.branch(before) if undecided else {}
    if otherwise is not None:
        frame.env = otherwise
        taken = heap.state() if held is not None else None
        if held is not None:
            heap.restore(held)
        _arm(frame, node.orelse, undecided)
        if taken is not None:
            heap.meet([taken])
        if not frame.dead:
            if after is not None and frame.region is not None:
                _fill_in(frame, node, after, frame.env)
            elif after is not None and undecided:
                _trust_copies(node, after, frame.env)
            after = join_env(after, frame.env)
        if after is not None and frame.dead and exceptions.ends(frame, node.orelse):
            provisos.let_go(after, node.test)
        left |= frame.dead and not exceptions.ends(frame, node.orelse)
        frame.dead = False
    memory.join(ends)
    if undecided and memory.gradients != gradients and any(isinstance(n, ast.Mod) for n in ast.walk(node.test)):
        memory.keep_gradients(gradients)  # `if step % 4 == 0:` is surely not taken in every turn
    if not left:
        # Where one arm returns, what follows is the other arm.
        frame.maybe -= undecided
    if after is None:
        frame.dead = True
        after = frame.env
    frame.env = after


def _arm(frame: Frame, body: Sequence[ast.stmt], undecided: bool) -> None:
    if undecided and body and exceptions.gives_up(frame, body):
        frame.dead = True
    else:
        run_block(frame, body)


def _trust_copies(node: ast.If, after: Env, other: Env) -> None:
    """`if self.compiled: out = out.clone()`: whoever copies behind a flag knows when a copy is wanted."""
    if not isinstance(node.test, (ast.Name, ast.Attribute)) or node.orelse:
        return
    for statement in node.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id in after and target.id in other:
            methods = _methods_of(target.id, statement.value)  # type: ignore[attr-defined]
            if not _COPIES.isdisjoint(methods):
                other[target.id] = after[target.id]


def _methods_of(name: str, node: ast.expr) -> list[str]:
    """The methods of `name.detach().clone()`; none where something else is called."""
    methods = []
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        methods.append(node.func.attr)
        node = node.func.value
    return methods if isinstance(node, ast.Name) and node.id == name else []


def _fill_in(frame: Frame, node: ast.If, after: Env, other: Env) -> None:
    """An attribute that one arm alone writes is, behind the other, what the object held before."""
    if not any("." in path and KNOWN not in path for path in after.keys() ^ other.keys()):
        return
    for place in ast.walk(node):
        if not isinstance(place, ast.Attribute) or not isinstance(place.ctx, ast.Store):
            continue
        if not isinstance(place.value, ast.Name):
            continue
        path = f"{place.value.id}.{place.attr}"
        lacking = other if path in after else after
        if (path in after) == (path in other):
            continue
        held = lacking.get(place.value.id, UNKNOWN).attribute(frame, place, place.attr, quiet=True)
        if held is not UNKNOWN:
            lacking[path] = held


def _raises(frame: Frame, node: ast.If, then: Env) -> bool:
    """Whether every call in sight has sizes for which this raises, and is caught. What leaves the function is told here."""
    if frame.region is None or frame.region.evidence is None:
        return False
    frame.env = then
    ways = sighted.ways(frame, node.test)
    if True in ways and not exceptions.may_be_caught(frame) and exceptions.reached(frame):
        frame.interp.emitter.feature(frame, node.body[-1], exceptions.LEAVES)
    return ways == {True} and exceptions.caught(frame)


def _try(frame: Frame, node: ast.Try) -> None:
    before = dict(frame.env)
    frame.blocks.append("try")
    if frame.region is not None:
        exceptions.tell_imports(frame, node)
    returned, jumped = len(frame.returns), frame.jumps
    run_block(frame, node.body)
    if sighted.tells_refused(frame, node):
        del frame.returns[returned:]
        frame.dead = True
    frame.blocks.pop()
    after_body = frame.env
    works = not frame.dead or len(frame.returns) > returned or frame.jumps > jumped
    after: Env | None = None
    surely = not works and frame.region is not None and not frame.maybe
    if surely and type(node) is not ast.Try:
        frame.interp.emitter.feature(frame, node.handlers[0], "except*")
    elif surely:
        exceptions.tell_handler(frame, node)
    if surely and node.finalbody and not node.handlers and exceptions.caught(frame):
        frame.interp.emitter.feature(frame, node.finalbody[0], "finally of an exception")
    if not frame.dead:
        run_block(frame, node.orelse)
        if not frame.dead:
            after = frame.env
    heap = frame.interp.heap
    held = heap.state() if frame.region is None and node.handlers else None
    for handler in node.handlers:
        merged = join_env(dict(before), dict(after_body))
        assert merged is not None
        frame.env, frame.dead = merged, False
        if handler.name:
            caught = Object("builtins.Exception", frame.origin(handler), CAUGHT)
            frame.env[handler.name] = caught if surely or exceptions.is_awaited(handler) else UNKNOWN
        returns = len(frame.returns)
        frame.blocks.append(exceptions.HANDLER if surely or exceptions.is_awaited(handler) else "except")
        with frame.interp.emitter.silence if exceptions.is_without_package(frame, node, handler) else nullcontext():
            run_block(frame, handler.body)
        frame.blocks.pop()
        if works:
            # A program that works does not get here: what the handler returns or binds says nothing.
            del frame.returns[returns:]
        elif not frame.dead:
            after = join_env(after, frame.env)
    if held is not None and works:
        heap.restore(held)
    frame.dead = after is None
    frame.env = after if after is not None else dict(after_body)
    if node.finalbody:
        dead, frame.dead = frame.dead, False
        run_block(frame, node.finalbody)
        frame.dead = frame.dead or dead


def _function(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    frame.interp.emitter.emit(events.Define, frame, node, "function")
    frame.set(node.name, make_function(frame, node))


def make_function(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
    """The value of a nested `def`, decorated."""
    parent = frame.function
    if parent is None:
        return _of_file(frame, node.name)
    function = parent.nested(node, node.name)
    # The closure sees later assignments of its scope: share the environment, not a copy.
    value: Value = FunctionValue(function, None, frame.env)
    return frame.interp.functions.decorate(frame, function, value)


def _class(frame: Frame, node: ast.ClassDef) -> None:
    frame.interp.emitter.emit(events.Define, frame, node, "class")
    frame.set(node.name, _of_file(frame, node.name) if frame.function is None else UNKNOWN)


def _of_file(frame: Frame, name: str) -> Value:
    """What a `def` or a `class` in a block of a file's top level binds, `if __name__ == "__main__":`: what the file means by that name."""
    if not isinstance(frame.module.named(name), (Function, Class)):
        return UNKNOWN
    value = frame.interp.names.value(frame.module, name)
    return value if value is not None else UNKNOWN


def _import(frame: Frame, node: ast.Import) -> None:
    frame.interp.emitter.emit(events.Define, frame, node, "import")
    _of_another_framework(frame, [alias.name for alias in node.names])
    for alias in node.names:
        dotted = alias.name if alias.asname else alias.name.partition(".")[0]
        module = frame.module.program.find(frame.module, dotted)
        frame.set(alias.asname or dotted, ModuleValue(module) if module is not None else External(dotted))


def _import_from(frame: Frame, node: ast.ImportFrom) -> None:
    frame.interp.emitter.emit(events.Define, frame, node, "import")
    target = absolute_name(frame.module, node.module, node.level)
    _of_another_framework(frame, [target])
    for alias in node.names:
        if alias.name != "*":
            frame.set(alias.asname or alias.name, frame.interp.names.imported(frame.module, target, alias.name))


def _of_another_framework(frame: Frame, imported: Sequence[str]) -> None:
    """A branch that imports another framework is for its arrays: what is compiled is given tensors."""
    packages = {name.partition(".")[0] for name in imported}
    if frame.region is not None and frame.maybe and not packages.isdisjoint(_OTHERS):
        frame.env[RARE] = TRUE


def _global(frame: Frame, node: ast.Global) -> None:
    frame.globals.update(node.names)


def _nonlocal(frame: Frame, node: ast.Nonlocal) -> None:
    frame.nonlocals.update(node.names)


def _assert(frame: Frame, node: ast.Assert) -> None:
    value = expressions.assert_test(frame, node)
    frame.interp.emitter.emit(events.Assert, frame, node, value)
    if frame.region is None or not (value.truth() is False or sighted.ways(frame, node.test) == {False}):
        return
    if not exceptions.caught(frame):
        exceptions.leaves(frame, node)
    else:
        by = "" if value.truth() is False else " by a size"
        frame.interp.emitter.feature(frame, node, f"assert that fails{by}")
        frame.dead = True


def _delete(frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.env.pop(target.id, None)
            if target.id in frame.globals:
                frame.interp.emitter.feature(frame, node, "del of a global")
        elif isinstance(target, ast.Attribute):
            owner = expressions.evaluate(frame, target.value)
            answering.tell_deleted(frame, node, target.value, owner, target.attr)
        elif isinstance(target, ast.Subscript):
            receiver = expressions.evaluate(frame, target.value)
            expressions.evaluate(frame, target.slice)
            if isinstance(receiver, Dict):
                _drop(frame, target.value, receiver, expressions.evaluate(frame, target.slice))
            elif isinstance(receiver, Seq):
                part = "a slice" if isinstance(target.slice, ast.Slice) else "an item"
                frame.interp.emitter.feature(frame, node, f"del of {part} of a {receiver.kind}")


def _drop(frame: Frame, place: ast.expr, held: Dict, key: Value) -> None:
    """`del kwargs["mask"]`: it is there no more."""
    _, changed = held.method("pop", [key], {})
    if changed is not None:
        put_back(frame, place, changed)
        rename(frame, held, changed)


def _match(frame: Frame, node: ast.Match) -> None:
    subject = expressions.evaluate(frame, node.subject)
    tensor = tensor_of(subject)
    literal = any(isinstance(p, ast.MatchValue) for case in node.cases for p in ast.walk(case.pattern))
    if tensor is not None and literal:
        for case in node.cases:
            if any(isinstance(p, ast.MatchValue) for p in ast.walk(case.pattern)):
                frame.interp.emitter.emit(events.Branch, frame, case.pattern, tensor, "match")
                break
    of_class = next((p for c in node.cases for p in ast.walk(c.pattern) if isinstance(p, ast.MatchClass)), None)
    if of_class is not None and of_class is node.cases[0].pattern:
        frame.interp.emitter.feature(frame, of_class, "match of a class")
    elif isinstance(node.cases[0].pattern, ast.MatchMapping):
        frame.interp.emitter.feature(frame, node.cases[0].pattern, "match of a dict")
    before = frame.env
    after: Env | None = None
    exhaustive = False
    for case in node.cases:
        frame.env = dict(before)
        for pattern in ast.walk(case.pattern):
            name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
            if isinstance(name, str):
                frame.env[name] = subject if pattern is case.pattern else UNKNOWN
        exhaustive = exhaustive or (
            isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
        )
        fits = _fits(frame, subject, case.pattern)
        if fits is False:
            continue
        exhaustive = exhaustive or fits is True and case.guard is None
        if case.guard is not None:
            then, _ = expressions.branch(frame, case.guard, "match")
            if then is None:
                continue
            frame.env = then
        run_block(frame, case.body)
        if not frame.dead:
            after = join_env(after, frame.env)
        frame.dead = False
        if fits and case.guard is None:
            break
    if not exhaustive:
        after = join_env(after, before)
    if after is None:
        frame.dead = True
    else:
        frame.env = after


def _fits(frame: Frame, subject: Value, pattern: ast.pattern) -> bool | None:
    """Whether what is matched is what a case asks for, where that is certain."""
    if isinstance(pattern, ast.MatchOr):
        answers = {_fits(frame, subject, each) for each in pattern.patterns}
        return True if True in answers else None if None in answers else False
    if isinstance(pattern, ast.MatchSingleton):
        asked = subject.is_none() if pattern.value is None else None
    elif isinstance(pattern, ast.MatchValue) and tensor_of(subject) is None:
        asked = comparisons.compare(frame, pattern, "Eq", subject, expressions.evaluate(frame, pattern.value)).truth()
    else:
        asked = None
    return asked


handles(ast.Expr, _expr)
handles(ast.Assign, _assign)
handles(ast.AnnAssign, _ann_assign)
handles(ast.AugAssign, _aug_assign)
handles(ast.Return, _return)
handles(ast.Raise, _raise)
handles(ast.If, _if)
handles(ast.With, run_with)
handles(ast.AsyncWith, run_with)
handles(ast.Try, _try)
handles(ast.FunctionDef, _function)
handles(ast.AsyncFunctionDef, _function)
handles(ast.ClassDef, _class)
handles(ast.Import, _import)
handles(ast.ImportFrom, _import_from)
handles(ast.Global, _global)
handles(ast.Nonlocal, _nonlocal)
handles(ast.Assert, _assert)
handles(ast.Delete, _delete)
handles(ast.Match, _match)
if hasattr(ast, "TryStar"):
    handles(ast.TryStar, _try)
