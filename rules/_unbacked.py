"""Numbers and sizes that only the graph knows: whether what is done with them needs the value all the same.

`capture_scalar_outputs` and its like let such a number into the graph. That helps where it becomes a size, a bound or a factor of
tensors; a branch, a loop, a text, a key or a list ask for the value, and the graph breaks there instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import FunctionNode, Place
from tclint.fixes.uses import uses_in
from tclint.program import Import, Module
from tclint.sources.tree import ancestors, same, within
from tclint.torch_facts import facts
from tclint.values import DATA_SIZED, ClassValue, Dict, External, FunctionValue, Seq, Tensor, Value

if TYPE_CHECKING:
    from tclint.events import Event

_DEEPEST: Final = 3
"""How far a number is followed: through names, into functions and out of them."""
_KEEPS: Final = frozenset(facts.named("makes a number of a number within the graph"))
_ASKS: Final = frozenset(facts.named("asks for the value of a number"))
_ASKS_SIZES: Final = frozenset(facts.named("asks how large a tensor is"))
_SIZES: Final = facts.methods("gives a size") - facts.methods("counts the dimensions of a tensor")
_WALKS: Final = facts.methods("walks any iterable") | frozenset({"map", "filter", "reversed", "iter"})
"""Builtins that go through what they are given, at once or later."""
_FILLS: Final = facts.methods("fills or turns a list without a look at its elements")
_COMPOUND: Final = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef)
_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_RECORDS: Final = ("", "typing.NamedTuple")
"""What a class may come from that only holds its arguments."""


def needs_no_value(event: Event, node: ast.AST | None = None) -> bool:
    """Whether no use of the number at a node, as far as it can be followed, asks for its value."""
    place = Place(event, node)
    number = _Number(event, place.module, place.function, 0)
    return number.is_free(place.node, place.chain) and all(
        number.is_free(other, ancestors(place.module.tree, other)) for other in _beside(place)
    )


def _beside(place: Place) -> Iterator[ast.Call]:
    """Other numbers that are read out in the same statement: a switch lets them in too, and where one of them is asked for, torch
    may not break the graph but raise."""
    statement = place.statement
    if statement is None or isinstance(statement, _COMPOUND):
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not same(node, place.node):
            if node.func.attr == "item" and not node.args:
                yield node


def is_sized(event: Event, left_out: Sequence[ast.If] = ()) -> bool:
    """Whether Python asks for the size of a tensor whose size only the graph knows: in a branch, a loop, a text or a key. What
    an `if` asks that is to be left out does not count."""
    place = Place(event)
    return not _Sized(event, place, 0, left_out).is_free(place.node, place.chain)


def is_size_of_found(event: Event, node: ast.expr) -> bool:
    """Whether an expression is the size of a tensor that depends on values: `rows.numel()`, `len(rows)`, `rows.shape[0]`. Its
    other dimensions are those of the tensor that was there before."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        return _depends(event, node.args[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SIZES:
        first = not node.args or isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
        return first and _depends(event, node.func.value)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0:
        shape = node.value
        return isinstance(shape, ast.Attribute) and shape.attr == "shape" and _depends(event, shape.value)
    return False


def _depends(event: Event, node: ast.expr) -> bool:
    tensor = event.ask.evaluate(node)
    return isinstance(tensor, Tensor) and bool(tensor.flags & DATA_SIZED)


class _Sized:
    """A tensor of such a size in one function, and who asks for it."""

    def __init__(self, event: Event, place: Place, depth: int, left_out: Sequence[ast.If] = ()) -> None:
        self.event = event
        self.place = place
        self.depth = depth
        self.left_out = left_out

    def is_free(self, node: ast.AST, chain: list[ast.AST]) -> bool:
        """Whether what is read of the tensor at a node needs no value; outermost first in `chain`."""
        at = len(chain) - 1
        if any(within(node, branch.test) for branch in self.left_out):
            return True
        while at >= 0:
            parent, above = chain[at], chain[:at]
            outer = above[-1] if above else None
            if isinstance(parent, ast.Attribute):
                called = isinstance(outer, ast.Call) and same(outer.func, parent)
                if parent.attr == "shape" or (called and parent.attr in _SIZES):
                    return self._size(
                        outer if called and outer is not None else parent, above[: -1 if called else None]
                    )
                if not called:
                    return True
                if f"Tensor.{parent.attr}" in _ASKS_SIZES:
                    return False
                at -= 1  # what a method makes of it
            elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len":
                return self._size(parent, above)
            elif isinstance(parent, ast.Assign):
                return self._named(parent)
            elif isinstance(parent, ast.Call):
                func = self.event.ask.evaluate(parent.func)
                return not (isinstance(func, External) and func.name in _ASKS_SIZES)
            elif not isinstance(parent, ast.Subscript) or not same(parent.value, node):
                return True
            node = chain[at]
            at -= 1
        return True

    def _size(self, node: ast.AST, chain: list[ast.AST]) -> bool:
        """The same of the size, or of one of the sizes: all but the first are those of the tensor that was there before."""
        index = chain[-1] if chain else None
        if isinstance(index, ast.Subscript) and same(index.value, node):
            if not isinstance(index.slice, ast.Constant) or index.slice.value != 0:
                return True
            node, chain = index, chain[:-1]
        return _Number(self.event, self.place.module, self.place.function, self.depth).is_free(node, chain)

    def _named(self, statement: ast.Assign) -> bool:
        target = statement.targets[0]
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        if len(statement.targets) != 1 or self.depth >= _DEEPEST:
            return True
        inner = _Sized(self.event, self.place, self.depth + 1, self.left_out)
        reads = [read for name in names if isinstance(name, ast.Name) for read in self._reads(name.id)]
        return all(inner.is_free(read, above) for read, above in reads)

    def _reads(self, name: str) -> list[tuple[ast.Name, list[ast.AST]]]:
        return list(uses_in(self.place.function).reads(name))


def is_walked(event: Event) -> bool:
    """Whether Python goes through the elements of a tensor whose size only the graph knows."""
    place = Place(event)
    if _walks(place.node, place.chain):
        return True
    parent = place.parent
    name = _only_name(parent) if isinstance(parent, ast.Assign) else None
    return name is not None and any(_walks(read, above) for read, above in uses_in(place.function).reads(name))


def _walks(node: ast.AST, chain: list[ast.AST]) -> bool:
    parent = chain[-1] if chain else None
    if isinstance(parent, (ast.For, ast.comprehension)):
        return same(parent.iter, node)
    if isinstance(parent, ast.Starred):
        return True
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        return parent.func.id in _WALKS and not same(parent.func, node)
    return isinstance(parent, ast.Attribute) and parent.attr == "tolist"


class _Number:
    """A number in one function, and who uses it."""

    def __init__(
        self,
        event: Event,
        module: Module,
        function: FunctionNode | None,
        depth: int,
        names: Mapping[str, Value] | None = None,
        following: frozenset[tuple[int, str]] = frozenset(),
        calls: int = 0,
        back: Callable[[], bool] | None = None,
    ) -> None:
        self.event = event
        self.module = module
        self.function = function
        self.depth = depth
        self.names = names
        """What the names of a calling function hold, where it is one."""
        self.following = following
        """The names, by function, whose reads are being asked about: `n = n // 2` asks nothing new of them."""
        self.calls = calls
        """How many calls lead from the function to that of the event."""
        self.back = back
        """What becomes of what the function returns, where it is one that is given the number."""

    def is_free(self, node: ast.AST, chain: list[ast.AST]) -> bool:
        """Whether what stands around the number does not ask for its value; outermost first in `chain`."""
        bounds = text = False
        for at in range(len(chain) - 1, -1, -1):
            parent = chain[at]
            if text and isinstance(parent, (ast.BinOp, ast.Compare, ast.Subscript, ast.Call)):
                return False  # a text is put together behind the graph, and nobody may read it before
            if isinstance(parent, (ast.FormattedValue, ast.JoinedStr)):
                text = True
            elif isinstance(parent, ast.BinOp):
                other = parent.right if same(parent.left, node) else parent.left
                if isinstance(other, (ast.List, ast.Tuple, ast.JoinedStr)) or _is_text(other):
                    return False
                if isinstance(self._value(other), Tensor) and not self._is_guess(other):
                    return True  # a factor of a tensor
            elif isinstance(parent, (ast.ListComp, ast.GeneratorExp)):
                if not same(parent.elt, node):
                    return False
            elif isinstance(parent, (ast.Dict, ast.DictComp)):
                values = parent.values if isinstance(parent, ast.Dict) else [parent.value]
                if not any(same(value, node) for value in values):
                    return False  # a key
            elif isinstance(parent, (ast.UnaryOp, ast.Tuple, ast.List, ast.Starred, ast.keyword)):
                if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
                    return False
            elif isinstance(parent, ast.Compare):
                if _is_none(parent):
                    return True
                if len(parent.ops) != 1 or not isinstance(parent.ops[0], _ORDERS):
                    return False  # its answer is a bool that the graph holds, as it does the number
            elif isinstance(parent, ast.IfExp):
                if same(parent.test, node):
                    return False
            elif isinstance(parent, ast.Slice):
                bounds = True
            elif isinstance(parent, ast.Subscript):
                if isinstance(node, ast.Tuple) and not bounds:
                    return False  # `x[:, n]`, where torch wants an integer
                if bounds and isinstance(parent.ctx, ast.Store):
                    return False  # Inductor raises where a window is written whose bounds only the graph knows (2.13)
                if same(parent.value, node) and isinstance(parent.ctx, ast.Store):
                    return True  # something else is put into the dict that it is in
                if same(parent.value, node) and (isinstance(parent.slice, ast.Slice) or _is_text(parent.slice)):
                    node = parent  # `path[::-1]` of a list that it is in, `metrics["loss"]` of a dict
                    continue
                return not same(parent.value, node) and isinstance(self._value(parent.value), Tensor)
            elif (target := walked(node, chain[: at + 1])) is not None:
                return self._named(target)
            elif isinstance(parent, ast.Attribute) and parent.attr in _FILLS:
                return True  # of a list that it is in
            elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len":
                return True
            elif isinstance(parent, ast.Call) and _formats(parent):
                text = True
            elif isinstance(parent, ast.Call):
                if not self._is_kept(parent) and not self._is_record(parent.func):
                    return self._handed(parent, node, chain[:at])
            elif isinstance(parent, (ast.For, ast.comprehension)):
                return same(parent.iter, node) and self._named(parent.target)
            elif isinstance(parent, ast.Assign):
                return self._assigned(parent, node)
            elif isinstance(parent, ast.AugAssign):
                return self._named(parent.target)
            elif isinstance(parent, ast.Return):
                return self._returned()
            else:
                return isinstance(parent, ast.Expr)
            node = parent
        return False

    def _is_kept(self, call: ast.Call) -> bool:
        """Whether a call makes a number of the number."""
        if isinstance(call.func, ast.Name):
            return f"builtins.{call.func.id}" in _KEEPS
        return isinstance(call.func, ast.Attribute) and ast.unparse(call.func) in _KEEPS

    def _is_record(self, func: ast.expr) -> bool:
        """Whether a class of the program does nothing with its arguments but hold them: a dataclass, a named tuple."""
        made = self._value(func)
        if not isinstance(made, ClassValue) or self.event.ask.external_base(made.cls) not in _RECORDS:
            return False
        return not any(self.event.ask.method(made.cls, name) for name in ("__init__", "__new__", "__post_init__"))

    def _handed(self, call: ast.Call, node: ast.AST, above: list[ast.AST]) -> bool:
        """Whether the function that gets the number does without its value."""
        if same(call.func, node):
            return False  # a method of the number
        func = self._value(call.func)
        if isinstance(func, External):
            return func.name.startswith("torch.") and not self._is_asked(func.name, call, node)
        if isinstance(func, FunctionValue):
            return self._parameter(func, call, node, above)
        if not isinstance(call.func, ast.Attribute):
            return False
        if call.func.attr == "append" and isinstance(call.func.value, ast.Name):
            return self._listed(call.func.value.id)
        owner = self._value(call.func.value)
        return isinstance(owner, Tensor) and not self._is_asked(f"Tensor.{call.func.attr}", call, node)

    def _listed(self, name: str) -> bool:
        """Whether a list or dict that the number is put into is only filled, turned around, measured and handed out."""
        if self.depth >= _DEEPEST or not isinstance(self._value(ast.Name(name, ast.Load())), (Seq, Dict)):
            return False
        return self._deeper()._reads(name)

    def _is_asked(self, name: str, call: ast.Call, node: ast.AST) -> bool:
        """Whether a call asks for the value of the number itself; among several it is a size like others."""
        given = [a for a in call.args if same(a, node)] + [k.value for k in call.keywords if same(k, node)]
        return name in _ASKS and any(not isinstance(self._value(argument), Seq) for argument in given)

    def _parameter(self, func: FunctionValue, call: ast.Call, node: ast.AST, above: list[ast.AST]) -> bool:
        function = func.function.node
        if self.depth >= _DEEPEST or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][func.bound is not None :]
        name = next((k.arg for k in call.keywords if same(k.value, node) or same(k, node)), None)
        at = next((i for i, argument in enumerate(call.args) if same(argument, node)), None)
        if name is None and at is not None and at < len(names):
            name = names[at]
        if name is None or any(isinstance(a, ast.Starred) for a in call.args):
            return False
        back = partial(self.is_free, call, above)
        return _Number(self.event, func.function.module, function, self.depth + 1, back=back)._reads(name)

    def _assigned(self, statement: ast.Assign, node: ast.AST) -> bool:
        target = statement.targets[0]
        if len(statement.targets) != 1:
            return False
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs = zip(target.elts, statement.value.elts, strict=False)
            return all(self._named(t) for t, v in pairs if _holds(v, node)) or same(statement.value, node)
        if isinstance(target, ast.Subscript):
            if isinstance(target.value, ast.Name) and isinstance(self._value(target.value), Dict):
                return not _holds(target.slice, node) and self._listed(target.value.id)
            return isinstance(self._value(target.value), Tensor)  # an operation writes it there
        return self._named(target)

    def _named(self, target: ast.expr) -> bool:
        """Whether the reads of the names that are bound do without the value."""
        if isinstance(target, ast.Tuple):
            return all(self._named(each) for each in target.elts)
        if not isinstance(target, ast.Name) or self.depth >= _DEEPEST:
            return False
        return self._deeper()._reads(target.id)

    def _deeper(self) -> _Number:
        return _Number(
            self.event,
            self.module,
            self.function,
            self.depth + 1,
            self.names,
            self.following,
            self.calls,
            self.back,
        )

    def _reads(self, name: str) -> bool:
        key = id(self.function), name
        if key in self.following:
            return True
        self.following |= {key}
        return all(self.is_free(read, above) for read, above in uses_in(self.function).reads(name))

    def _returned(self) -> bool:
        """Out of the compiled function a number may go; inside, who called for it is asked."""
        if self.back is not None:
            return self.back()
        callers = list(self.event.ask.calls_here())
        if self.calls >= len(callers):
            return True
        caller, call = callers[self.calls]
        if call is None or caller.function is None:
            return False
        node = caller.function.node
        function = node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        outer = _Number(
            self.event, caller.module, function, self.depth, self.event.ask.names_in(caller), calls=self.calls + 1
        )
        return outer.is_free(call, ancestors(caller.module.tree, call))

    def _value(self, node: ast.expr) -> Value | None:
        """What an expression is: asked of the walk in the event's own function, read off the imports in another."""
        if self.function is not None and self._is_own():
            return self.event.ask.evaluate(node)
        if self.names is not None and isinstance(node, ast.Name) and node.id in self.names:
            return self.names[node.id]
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        imported = self.module.named(root.id) if isinstance(root, ast.Name) else None
        if isinstance(imported, Import):
            rest = ast.unparse(node).partition(".")[2]
            return External(".".join(filter(None, (imported.target, imported.attribute, rest))))
        if isinstance(node, ast.Name) and self.function is not None and node.id in uses_in(self.function).bound:
            return Tensor(1)  # named, in a function that is not looked at closely: a tensor more often than not
        return None

    def _is_own(self) -> bool:
        """Whether this is the function that the number is read in."""
        here = self.event.enclosing
        return here is not None and self.function is not None and same(here.node, self.function)

    def _is_guess(self, node: ast.expr) -> bool:
        """Whether nothing but its name tells what a node is: in a function that is called, whose values are not at hand."""
        return self.names is None and not self._is_own()


def walked(node: ast.AST, chain: list[ast.AST]) -> ast.Name | None:
    """The name that a loop gives each element of a list: `n` of `for n in a`, `for i, n in enumerate(a)`, `for n, m in zip(a, b)`."""
    at = len(chain) - 1
    place: int | None = None
    call = chain[at] if chain else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("enumerate", "zip"):
        given = next((i for i, argument in enumerate(call.args) if same(argument, node)), None)
        if given is None:
            return None
        place = 1 if call.func.id == "enumerate" else given
        node, at = call, at - 1
    loop = chain[at] if at >= 0 else None
    if not isinstance(loop, (ast.For, ast.comprehension)) or not same(loop.iter, node):
        return None
    target = loop.target
    if place is not None:
        target = target.elts[place] if isinstance(target, ast.Tuple) and place < len(target.elts) else target
        if target is loop.target:
            return None
    return target if isinstance(target, ast.Name) else None


def _holds(value: ast.expr, node: ast.AST) -> bool:
    return any(same(inner, node) for inner in ast.walk(value))


def _is_none(compare: ast.Compare) -> bool:
    """`n is None`, which no number is asked for."""
    return isinstance(compare.ops[0], (ast.Is, ast.IsNot))


def _formats(call: ast.Call) -> bool:
    """`"{:.2f}".format(n)`"""
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr == "format" and _is_text(func.value)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _only_name(statement: ast.Assign) -> str | None:
    target = statement.targets[0] if len(statement.targets) == 1 else None
    return target.id if isinstance(target, ast.Name) else None
