"""Tests on what nobody in sight sets: an attribute that has one literal (`self.check = False`), or the default of a parameter
that whoever builds the object leaves out, a keyword beyond the signature."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from tclint.interpreter import builders, heirs
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.interpreter.parameters import signature
from tclint.program import Class, Module
from tclint.sources.text import lines_of
from tclint.sources.tree import bound_on_self
from tclint.torch_facts import facts
from tclint.values import Const, Dict, Instance, Value
from tclint.values.constant import fold_compare

# Where a name ends is said again: without it each shorter one would be tried, too.
_STORED: Final = re.compile(rb"\.(\w+)\b[ \t]*(?::[^=\n]*)?(?:[-+*/%@&|^]|//|\*\*|<<|>>)?=(?!=)[ \t]*([^\n#;]*)")
_TARGETS: Final = re.compile(
    rb"\n[ \t]*(?![ \t])(?:(?:async[ \t]+)?for[ \t]+([^\n]*?)[ \t]in\b|\(?([\w.\[\]* \t]*,[\w.\[\]*, \t)]*)=(?!=))"
)
"""What a line unpacks something into; the elements of a call end in a bracket that a target does not have. Every line is read
once: where the indentation ends, and which comma is the first, is settled before what follows is looked at."""
_OVER_LINES: Final = re.compile(rb"\n[ \t]*[\])][ \t]*=(?!=)")
_LISTED: Final = re.compile(rb"\.(\w+)[ \t]*,")
_NAME: Final = re.compile(rb"\.(\w+)")
_BY_NAME: Final = re.compile(rb"\bsetattr\([^,\n]*,\s*[\"'](\w+)[\"']")
_BY_ANY_NAME: Final = re.compile(rb"\bsetattr\([^,\n]*,\s*(?![\"'\s])|\b__dict__\b")
_LITERAL: Final = re.compile(r"False|True|None|-?\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?")
_UNSET: Final = object()
_MODULE: Final = "torch.nn.Module"
_OF_MODULES: Final = facts.methods("is a method of every module")
_QUOTED: Final = rb"[\"']%s[\"']"
_ASKED: Final = rb"(?:has|get)attr\([^,\n]*,\s*[\"']%s[\"']"


def usual(frame: Frame, node: ast.expr) -> bool | None:
    """Which way such a test goes as long as nobody outside of what is in sight sets the attribute."""
    if frame.region is None:
        return None
    if isinstance(node, ast.Attribute):
        held = _held(frame, node)
        return _property(frame, node) if held is _UNSET else bool(held)
    if isinstance(node, ast.Call):
        return attribute_asked(frame, node)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    operator, other = node.ops[0], node.comparators[0]
    if isinstance(operator, (ast.In, ast.NotIn)):
        return isinstance(operator, ast.NotIn) if _is_more_than_named(frame, node.left, other) else None
    if isinstance(node.left, ast.Attribute):
        held = _held(frame, node.left) if isinstance(other, ast.Constant) else _UNSET
        if held is not _UNSET and isinstance(other, ast.Constant):
            return _compare(held, operator, other.value)
    return None


def _property(frame: Frame, node: ast.Attribute) -> bool | None:
    """What a property comes to that is one such test of its object: `return self.adapter is not None`."""
    owner = frame.env.get(node.value.id) if isinstance(node.value, ast.Name) else None
    asked = frame.interp.classes.find_method(owner.cls, node.attr) if isinstance(owner, Instance) else None
    if asked is None or frame.interp.classes.method_kind(asked) != "property" or isinstance(asked.node, ast.Lambda):
        return None
    last, names = asked.node.body[-1], asked.node.args.args
    documented = len(asked.node.body) == 1 or len(asked.node.body) == 2 and ast.get_docstring(asked.node) is not None
    if not documented or not isinstance(last, ast.Return) or last.value is None or len(names) != 1:
        return None
    return usual(frame, last.value) if isinstance(node.value, ast.Name) and names[0].arg == node.value.id else None


def attribute_asked(frame: Frame, node: ast.Call) -> bool | None:
    """`hasattr(self, "cache")`, `getattr(self, "cache", None)` where nothing in sight gives the object such an attribute."""
    if not isinstance(node.func, ast.Name) or node.func.id not in ("hasattr", "getattr") or node.keywords:
        return None
    by_name = node.args[1] if len(node.args) == 2 + (node.func.id == "getattr") else None
    name = by_name.value if isinstance(by_name, ast.Constant) and isinstance(by_name.value, str) else ""
    default = node.args[2] if len(node.args) == 3 else None
    if not name or default is not None and not isinstance(default, ast.Constant):
        return None
    with frame.interp.emitter.silence:
        owner = evaluate(frame, node.args[0])
    if not isinstance(owner, Instance) or owner.fields is not None or not _is_lacking(frame, owner, name):
        return None
    return bool(default.value) if isinstance(default, ast.Constant) else False


def _is_lacking(frame: Frame, owner: Instance, name: str) -> bool:
    """Whether nothing in the files of its classes, and nothing that was walked, gives an object an attribute."""
    classes = frame.interp.classes
    order = classes.mro(owner.cls)
    base = classes.external_base(owner.cls)
    if base not in ("", _MODULE) or name.startswith("_") or name in _OF_MODULES:
        return False
    if name in frame.interp.instance_attributes.of(owner) or classes.definition(owner.cls, name) is not None:
        return False
    if any((each.module.path, each.qualname, name) in frame.interp.learned.rebound for each in order):
        return False
    if any({name, ""} & each.module.index(_stores).keys() for each in order):
        return False
    # `register_buffer("cache", …)`: it is named where nobody asks for it.
    named, asked = (re.compile(each % name.encode()) for each in (_QUOTED, _ASKED))
    return all(len(named.findall(each.module.data)) == len(asked.findall(each.module.data)) for each in order)


def _is_more_than_named(frame: Frame, key: ast.expr, holder: ast.expr) -> bool:
    """`"padding_mask" in kwargs`: a keyword that the signature does not name and that no call in sight gives."""
    if frame.function is None or not isinstance(key, ast.Constant) or not isinstance(holder, ast.Name):
        return False
    more = frame.function.node.args.kwarg
    held = frame.env.get(holder.id)
    return more is not None and more.arg == holder.id and isinstance(held, Dict) and key.value not in held.items


def _compare(held: object, operator: ast.cmpop, other: object) -> bool | None:
    if isinstance(operator, (ast.Is, ast.IsNot)):
        return (held is other) is isinstance(operator, ast.Is)
    folds = type(operator) not in (ast.In, ast.NotIn)
    return fold_compare(type(operator).__name__, held, other).truth() if folds else None


def turned_on(frame: Frame, node: ast.expr) -> bool:
    """Whether the constructor turns such a switch on unless it is told not to: `def __init__(self, verbose=True)`; or the
    class does, and nobody in its files turns it off."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    stored, owner = _stored(frame, node), frame.env.get(node.value.id)
    if isinstance(owner, Instance) and not stored and _declared(frame, owner, node.attr) is True:
        return True
    init = frame.interp.classes.find_method(owner.cls, "__init__") if isinstance(owner, Instance) else None
    if init is None:
        return False
    known = signature(init)
    default = next((held for each, held in (*known.nodes, *known.kwonly) if each.arg == stored), None)
    return isinstance(default, ast.Constant) and default.value is True


def _declared(frame: Frame, owner: Instance, name: str) -> object:
    """What the body of the class says (`verbose = True`), where nobody in sight puts anything else into the attribute."""
    order = frame.interp.classes.mro(owner.cls)
    holder = next((each for each in order if name in each.assignments), None)
    if holder is None or name in (owner.fields or ()):
        return _UNSET
    if any((each.module.path, each.qualname, name) in frame.interp.learned.rebound for each in order):
        return _UNSET
    if any("" in each.module.index(_stores) or _is_set(each.module, name) for each in order):
        return _UNSET
    return _literal(holder, name)


def switch(frame: Frame, owner: Instance, name: str) -> Value | None:
    """The flag or None that a field has where the object is built without it: `self.careful = config.careful`."""
    said = _declared(frame, owner, name) if owner.fields is not None else _UNSET
    return Const(said) if said is None or isinstance(said, bool) else None


def own(frame: Frame, owner: Instance, name: str) -> Value | None:
    """The flag that a class declares of itself where others of its kind declare another: `compiles = True` above `compiles = False`.

    Such a flag tells classes apart and is no switch that somebody turns. Of an object that may be of a class below, nothing is said.
    """
    said = _declared(frame, owner, name)
    if not isinstance(said, bool):
        return None
    order = frame.interp.classes.mro(owner.cls)
    top = next(each for each in reversed(order) if name in each.assignments)
    others = [each for each in (top, *heirs.below(frame.interp, top)) if name in each.assignments]
    differs = [each for each in others if _literal(each, name) is not said]
    if any(owner.cls in frame.interp.classes.mro(each)[1:] for each in differs):
        return None
    return Const(said) if differs else None


def _literal(cls: Class, name: str) -> object:
    said = getattr(cls.module.node(cls.assignments[name].ordinal), "value", None)
    return said.value if isinstance(said, ast.Constant) else _UNSET


def _is_set(module: Module, name: str) -> bool:
    """Whether a file puts more into attributes of a name than what another object has under it: `self.careful = config.careful`."""
    stored = module.index(_stores).get(name, _NOTHING)
    return any(
        not (each.endswith(b"." + name.encode()) and each.replace(b".", b"").decode(errors="replace").isidentifier())
        for each in stored
    )


def _held(frame: Frame, node: ast.Attribute) -> object:
    if isinstance(node.value, ast.Attribute):
        return _left_out(frame, node)
    literal = _stored(frame, node)
    owner = frame.env.get(node.value.id) if isinstance(node.value, ast.Name) else None
    if isinstance(owner, Instance) and node.attr in owner.switches and is_kept(frame, owner, node.attr):
        return owner.switches[node.attr]
    if literal:
        if _LITERAL.fullmatch(literal):
            return ast.literal_eval(literal)
        if isinstance(owner, Instance) and (built := _as_built(frame, owner, node.attr)) is not _UNSET:
            return built
        return _left_at_default(frame, owner, literal) if isinstance(owner, Instance) else _UNSET
    return _declared(frame, owner, node.attr) if isinstance(owner, Instance) else _UNSET


def _as_built(frame: Frame, owner: Instance, name: str) -> object:
    """What the constructor has left in an attribute of an object that is built in sight, with what it was given there."""
    if frame.region is None or frame.region.site is None or not is_kept(frame, owner, name):
        return _UNSET
    if owner.key not in frame.interp.learned.constructions or builders.is_built_openly(owner.cls):
        return _UNSET
    held = frame.interp.instance_attributes.of(owner).get(name)
    return held.value if type(held) is Const else _UNSET


def _left_out(frame: Frame, node: ast.Attribute) -> object:
    """The default of a field that whoever builds the object does not give: `self.config.kind` of `Config(width=16)`."""
    with frame.interp.emitter.silence:
        owner = evaluate(frame, node.value)
    return _declared(frame, owner, node.attr) if isinstance(owner, Instance) and owner.fields is not None else _UNSET


def is_kept(frame: Frame, owner: Instance, name: str) -> bool:
    """Whether an attribute that the constructor gives an object is bound nowhere else, as far as the files of its classes show."""
    order = frame.interp.classes.mro(owner.cls)
    if any((each.module.path, each.qualname, name) in frame.interp.learned.rebound for each in order):
        return False
    if any("" in each.module.index(_stores) for each in order):
        return False
    init = frame.interp.classes.find_method(owner.cls, "__init__")
    methods = (method for each in order for method in each.methods.values() if method is not init)
    return not any(name in method.node_index(bound_on_self) for method in methods)


def _left_at_default(frame: Frame, owner: Instance, name: str) -> object:
    """The literal that a parameter of the constructor has by default, where all that build such objects leave it out.

    Asked where something is known to be compiled: all files that name the class are gone through for it, which is much for a
    library of which every forward is taken as compiled.
    """
    if frame.region is None or frame.region.site is None:
        return _UNSET
    init = frame.interp.classes.find_method(owner.cls, "__init__")
    if init is None or init.cls is not owner.cls or name in init.stored_names():
        return _UNSET
    known = signature(init)
    default = next((held for each, held in (*known.nodes, *known.kwonly) if each.arg == name), None)
    if not isinstance(default, ast.Constant):
        return _UNSET
    most = known.names.index(name) - 1 if name in known.names else len(known.names)
    return default.value if builders.leave_out(owner.cls, name, most) else _UNSET


def _stored(frame: Frame, node: ast.Attribute) -> str:
    """The one text that is put into an attribute, wherever its class and those above it do it; empty where there are several."""
    if not isinstance(node.value, ast.Name):
        return ""
    owner = frame.env.get(node.value.id)
    if not isinstance(owner, Instance) or owner.fields is not None:
        return ""
    cls = owner.cls
    if (cls.module.path, cls.qualname, node.attr) in frame.interp.learned.rebound:
        return ""
    stored: set[bytes] = set()
    for module in dict.fromkeys(ancestor.module for ancestor in frame.interp.classes.mro(cls)):
        stored |= module.index(_stores).get(node.attr, _NOTHING) | module.index(_stores).get("", _NOTHING)
    return stored.pop().decode(errors="replace") if len(stored) == 1 else ""


_NOTHING: Final[frozenset[bytes]] = frozenset()


def _stores(module: Module) -> Mapping[str, frozenset[bytes]]:
    """What the file puts into attributes, by their names; under no name where it sets some by names of its own making.

    Read from the text: no tree is needed for it, and what a comment or a docstring adds only says less.
    """
    found: dict[str, set[bytes]] = {}
    for name, value in _STORED.findall(module.data):
        found.setdefault(name.decode(), set()).add(value.strip())
    # Looking for each plain text first is far faster than a pattern that starts anywhere.
    by_name = b"setattr(" in module.data or b"__dict__" in module.data
    for name in (*_unpacked(module.data), *(_BY_NAME.findall(module.data) if by_name else ())):
        found.setdefault(name.decode(), set()).add(b"?")
    if by_name and _BY_ANY_NAME.search(module.data):
        found[""] = {b"?"}
    return {name: frozenset(values) for name, values in found.items()}


def _unpacked(data: bytes) -> Iterator[bytes]:
    """The attributes that a file unpacks something into: `self.low, self.high = bounds`."""
    lines = lines_of(data)
    if _OVER_LINES.search(lines):
        yield from _LISTED.findall(data)  # `(`, a target on each line, `) = …`
    for target in _TARGETS.finditer(lines):
        yield from _NAME.findall(target[1] or target[2])
