"""Who answers for an object of the program, told to the rules where it is not the object's own class: a class below it that is
outside the program, or `__getattribute__`.
"""

from __future__ import annotations

import ast

from tclint.events import asked
from tclint.interpreter import exceptions
from tclint.interpreter.frame import Frame
from tclint.program import Class
from tclint.sources.tree import nodes, text
from tclint.values import ClassValue, Instance, Object, Partial, Value


def tell_read(frame: Frame, node: ast.AST, instance: Instance, what: str) -> None:
    """Something of its own is read of an object below a class outside the program."""
    given = node.value if isinstance(node, ast.Attribute) else None
    if frame.region is not None and (who := asked.below(frame, instance, given)):
        frame.interp.emitter.feature(frame, node, f"{what} {who}")


def tell_method(frame: Frame, node: ast.AST, instance: Instance, name: str) -> None:
    """A method is called that no class of the program has: the class below them answers."""
    given = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if who := asked.below(frame, instance, given):
        frame.interp.emitter.feature(frame, node, f"{name}() of {who}")


def tell_super(frame: Frame, node: ast.AST, instance: Value, name: str) -> None:
    """`super().name` where no class of the program has it."""
    arguments = frame.function.node.args if frame.function is not None and frame.region is not None else None
    for own in (*arguments.posonlyargs, *arguments.args)[:1] if arguments is not None else ():
        if who := asked.below(frame, instance, ast.Name(own.arg)):
            frame.interp.emitter.feature(frame, node, f"super().{name}() of {who}")
        elif isinstance(instance, Instance) and not frame.interp.classes.external_base(instance.cls):
            frame.interp.emitter.feature(frame, node, f"super().{name}() of object")
            if not hasattr(object, name):
                exceptions.fails(frame, node, "attribute of super() that no class has")
        elif isinstance(instance, ClassValue) and (base := frame.interp.classes.external_base(instance.cls)):
            frame.interp.emitter.feature(frame, node, f"super().{name}() of a class below {base}")


def tell_super_data(frame: Frame, node: ast.AST, held: Value, cls: Class, name: str) -> None:
    """`super().name` where a class of the program holds something under that name that is no function of its own."""
    if frame.region is None:
        return
    assigned = cls.assignments[name]
    if not assigned.path and _is_false(getattr(cls.module.node(assigned.ordinal), "value", None)):
        frame.interp.emitter.feature(frame, node, "attribute of super() that is false")
    module = isinstance(held, Object) and held.name.startswith("torch.nn.")
    if isinstance(node, ast.Call) and (module or isinstance(held, (ClassValue, Instance, Partial))):
        frame.interp.emitter.feature(frame, node, "call of an attribute of super() that is no function")


def _is_false(written: ast.AST | None) -> bool:
    """Whether Python takes what is written out for false: `0`, `None`, `()`."""
    if isinstance(written, (ast.Tuple, ast.List)):
        return not written.elts
    if isinstance(written, ast.Dict):
        return not written.keys
    return isinstance(written, ast.Constant) and not written.value


def tell_deleted(frame: Frame, node: ast.stmt | ast.expr, place: ast.expr, owner: Value, name: str) -> None:
    """An attribute of an object is deleted: whoever reads it after that gets the one of its class, where that has one."""
    if frame.region is None or frame.function is None or not isinstance(owner, Instance):
        return
    behind = any(name in each.assignments for each in frame.interp.classes.mro(owner.cls))
    read = f"{text(place)}.{name}"
    later = (
        each for each in nodes(frame.function.node) if isinstance(each, ast.Attribute) and each.lineno > node.lineno
    )
    same = [each for each in later if each.attr == name and text(each) == read]
    first = min(same, key=lambda each: (each.lineno, each.col_offset), default=None)
    if first is None or not isinstance(first.ctx, ast.Load):
        return
    if behind:
        frame.interp.emitter.feature(frame, first, "attribute of a class behind a deleted one")
    elif any(_tries(each, first) for each in nodes(frame.function.node)):
        frame.interp.emitter.feature(frame, first, "attribute that was deleted is read")


def _tries(node: ast.AST, part: ast.expr) -> bool:
    """Whether this is a `try`, with something of its body in it."""
    if not isinstance(node, ast.Try):
        return False
    return node.body[0].lineno <= part.lineno <= (node.body[-1].end_lineno or 0)


def tell_getattribute(frame: Frame, node: ast.AST, cls: Class) -> None:
    """Every attribute of an object with `__getattribute__` is asked of it; the graph ends where that asks its base."""
    own = frame.interp.classes.find_method(cls, "__getattribute__")
    if own is None or own is frame.function:
        return
    for part in ast.walk(own.node):
        if isinstance(part, ast.Attribute) and part.attr == "__getattribute__":
            where = part if own.module is frame.module else node
            frame.interp.emitter.feature(frame, where, f"__getattribute__ by {ast.unparse(part.value)}")
            break  # torch was asked of `object` and of `super()`
