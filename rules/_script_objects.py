"""Objects of classes that C++ registers (`torch.classes.my_lib.Counter()`): Dynamo traces with the stand-in that Python registers."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from tclint.events import Attribute, Call
from tclint.program import Module
from tclint.sources.tree import nodes, text
from tclint.values import ClassValue, Object

KIND: Final = "torch.ScriptObject"
LACKING: Final = "method that the stand-in of a script object has not"
DATA: Final = "data of a script object"
WRITTEN: Final = f"write of an attribute of a {KIND}"
_DATA: Final = ("__dict__", "__module__")


def of_attribute(event: Attribute) -> str | None:
    """An attribute that is read and not called: what every object of Python has is data."""
    ours = isinstance(event.receiver, Object) and event.receiver.name == KIND
    return DATA if ours and event.name in _DATA else None


def of_call(event: Call) -> str | None:
    """A method that the registered class has not."""
    if not isinstance(event.receiver, Object) or event.receiver.name != KIND:
        return None
    stand_in = event.ask.of_file(_stand_ins).get(event.receiver.kind)
    cls = event.ask.module_value(stand_in) if stand_in is not None else None
    return LACKING if isinstance(cls, ClassValue) and event.ask.method(cls.cls, event.method) is None else None


def _stand_ins(module: Module) -> Mapping[str, str]:
    """Which class of a file stands in for which of C++: `register_fake_class("my_lib::Counter")` above it, or with it."""
    found: dict[str, str] = {}
    for node in nodes(module.tree) if b"register_fake_class" in module.data else ():
        if isinstance(node, ast.ClassDef):
            _note(found, node.decorator_list, ast.Name(node.name))
        elif isinstance(node, ast.Call) and len(node.args) == 2:
            _note(found, [node], node.args[1])
    return found


def _note(found: dict[str, str], calls: Sequence[ast.expr], stand_in: ast.expr) -> None:
    for call in calls:
        if isinstance(call, ast.Call) and call.args and text(call.func).endswith("register_fake_class"):
            if isinstance(call.args[0], ast.Constant) and isinstance(stand_in, ast.Name):
                found[str(call.args[0].value).replace("::", ".")] = stand_in.id
