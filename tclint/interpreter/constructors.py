"""Constructors: what they run has its place in the order of the program, and how far what they call is followed."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.program import Function, Module
from tclint.sources.tree import bound_on_self, by_kind
from tclint.torch_facts import facts

OF_METRICS: Final = frozenset(facts.named("registers what a metric holds"))
REGISTERS: Final = frozenset(facts.named("registers what its module holds")) | OF_METRICS
"""Methods that put what they are given into an attribute, under the name that they are given."""
_FILLS = REGISTERS | frozenset(facts.named("adds a value to a sequence"))
_CAPTURES = (b"cuda.graph(", b"CUDAGraph", b"make_graphed_callables")


def names_captures(module: Module) -> bool:
    """Whether a file captures graphs by hand."""
    return any(word in module.data for word in _CAPTURES)


def captures(init: Function) -> bool:
    """Whether a constructor captures a graph, itself or in a method that it calls on the new object."""
    return init.module.index(names_captures) and init.index(_leads_to_capture)


def _leads_to_capture(init: Function) -> bool:
    seen: set[str] = set()
    todo = [init]
    while todo:
        method = todo.pop()
        if method.name in seen:
            continue
        seen.add(method.name)
        if method.node_index(_begins_capture):
            return True
        methods = method.cls.methods if method.cls is not None else {}
        todo.extend(methods[name] for name in sorted(method.node_index(_called_on_self)) if name in methods)
    return False


def _begins_capture(root: ast.AST) -> bool:
    """`with torch.cuda.graph(g):`, `g.capture_begin()`."""
    there = by_kind(root)
    for node in (*there[ast.With], *there[ast.AsyncWith]):
        for item in node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("cuda.graph"):
                return True
    return any(node.attr == "capture_begin" for node in there[ast.Attribute])


def _called_on_self(root: ast.AST) -> frozenset[str]:
    """The methods that a method calls on its receiver."""
    arguments = getattr(root, "args", None)
    first = arguments.args[0].arg if isinstance(arguments, ast.arguments) and arguments.args else ""
    called = (node.func for node in by_kind(root)[ast.Call])
    return frozenset(
        func.attr
        for func in called
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == first
    )


def makes_a_part(frame: Frame, function: Function, most: int) -> bool:
    """Whether a constructor of a library is given by a helper what the object is made of: `self.update = self._wrap(self.update)`.

    The constructor of a base is as good as the first. In the program itself this is not followed that far: a helper there may
    compile the object's parts, and would speak for sites of every class below it.
    """
    if not function.module.library:
        return False
    return _helpers(frame) < most and function.node_index(_gives)


def sets_up(frame: Frame, function: Function, most: int) -> bool:
    """Whether a constructor has a method give the object its attributes: `self.build(config)`, which calls `self._build_head(n)`.

    The constructor of a base is as good as the first. What compiles is not followed that far, for the same reason as above.
    """
    if function.cls is None or function.node_index(_compiles) or _helpers(frame) >= most:
        return False
    return bound_on_self_in(function) or passes_on(function)


def passes_on(function: Function) -> bool:
    """Whether a method does no more for its object than to call others that do: `def build(self): self.make_layers()`."""
    methods = function.cls.methods if function.cls is not None else {}
    return any(name in methods for name in function.node_index(_called_on_self))


def bound_on_self_in(function: Function) -> bool:
    """Whether a method binds attributes on its receiver, or registers what it holds."""
    return bool(function.node_index(bound_on_self)) or function.node_index(_registers)


def _registers(root: ast.AST) -> bool:
    called = (node.func for node in by_kind(root)[ast.Call])
    return any(isinstance(func, ast.Attribute) and func.attr in REGISTERS for func in called)


def _compiles(root: ast.AST) -> bool:
    there = by_kind(root)
    attributes = (node.attr for node in there[ast.Attribute])
    names = (node.id for node in there[ast.Name])
    return any("compile" in name for name in (*attributes, *names))


def _helpers(frame: Frame) -> int:
    """How many functions deep a constructor has got, those of bases not counted."""
    count = 0
    inner: Frame | None = frame
    while inner is not None and inner.parent is not None:
        count += inner.function is None or inner.function.name != "__init__"
        inner = inner.parent
    return count


def _gives(root: ast.AST) -> bool:
    """Whether a function gives back something."""
    return any(node.value is not None for node in by_kind(root)[ast.Return])


def matters(function: Function) -> bool:
    """Whether a function that a constructor calls can matter to the object: it sets attributes, or gives a value."""
    if type(function.node) is ast.Lambda or passes_on(function):
        return True
    there = by_kind(function.node)
    return (
        any(type(n.ctx) is ast.Store for n in there[ast.Attribute])
        or any(n.value is not None for n in there[ast.Return])
        or ast.Yield in there
        or ast.YieldFrom in there
        or any(_may_set(n) for n in there[ast.Call])
    )


def _may_set(call: ast.Call) -> bool:
    """Whether a call can give an object an attribute, or fill one: `setattr`, `self.register_buffer`, `self.layers.append`."""
    func = call.func
    if type(func) is ast.Attribute:
        return func.attr in _FILLS
    return type(func) is ast.Name and func.id == "setattr"


def asked_of_self(function: Function, known: dict[Function, frozenset[str]]) -> frozenset[str]:
    """The attributes of its receiver that a method reads."""
    function.read()
    names = known.get(function)
    if names is None:
        node = function.node
        first = node.args.args[0].arg if node.args.args else "self"
        names = known[function] = frozenset(
            n.attr
            for n in by_kind(node)[ast.Attribute]
            if type(n.ctx) is ast.Load and type(n.value) is ast.Name and n.value.id == first
        )
    return names


def builds(function: Function, caller: Frame | None) -> bool:
    """Whether a call only builds an object. A constructor that captures a graph runs a program, where somebody calls it."""
    if caller is not None and caller.constructing:
        return True
    return function.name == "__init__" and (caller is None or not captures(function))
