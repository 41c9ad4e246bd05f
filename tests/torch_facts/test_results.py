"""For every callable that was asked, the interpreter's result is the measured one, or unknown: nothing is guessed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from interpreted import Interpreted

from tclint.torch_facts import calls, facts
from tclint.torch_facts.form import Form
from tclint.torch_facts.kind import Kind
from tclint.values import (
    ARRAY,
    NONE,
    SIZE,
    UNKNOWN,
    Const,
    Dict,
    External,
    Object,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
)

LIBRARIES = ("torch.", "tensor#", "numpy.", "ndarray#", "builtins.", "math.", "str#", "random.", "copy.", "itertools.")
_LETTERS = {"f": "f", "d": "f", "h": "f", "i": "i", "j": "i", "b": "b", "c": "c"}


def value(kind: Kind) -> Value | None:
    """A value of a kind; None where the interpreter has no such value."""
    if kind.is_tensor:
        return Tensor(3, _LETTERS.get(kind.dtype or "", ""), kind.rank if kind.rank is not None else -1)
    if kind.name == "ndarray":
        return Tensor(3, _LETTERS.get(kind.dtype or "", ""), kind.rank if kind.rank is not None else -1, ARRAY)
    if kind.name in ("int", "float", "bool", "str"):
        return Scalar(kind.name)
    if kind.name == "none":
        return NONE
    if kind.name == "size":
        return Seq("size", None, SIZE)
    if kind.name in ("list", "tuple"):
        inner = [value(member) for member in kind.members]
        if any(member is None for member in inner):
            return None
        known = [member for member in inner if member is not None]
        return Seq(kind.name, None, known[0]) if kind.alike else Seq(kind.name, tuple(known))
    if kind.name == "dict":
        return Dict({}, UNKNOWN)
    if kind.name == "dtype":
        return External("torch.float32")
    return None


def agrees(found: Value, seen: Kind) -> bool:
    """Whether a value may be what was seen."""
    if found is UNKNOWN or isinstance(found, Union) and any(agrees(option, seen) for option in found.options):
        return True
    if seen.name in ("iterator", "generator"):
        return True  # what is iterated over stands for it
    if isinstance(found, Tensor):
        if found.flags & ARRAY:
            # To Dynamo a number of numpy is an array without dimensions.
            held = seen.name in ("ndarray", "scalar") or seen.is_number or seen.is_tensor
        else:
            held = seen.is_tensor
        return held and (not found.dtype or seen.dtype is None or _LETTERS.get(seen.dtype, found.dtype) == found.dtype)
    if isinstance(found, Scalar):
        if seen.name == "scalar":
            return seen.dtype is None or {"i": "int", "j": "int", "b": "bool"}.get(seen.dtype, "float") == found.type
        return found.type == seen.name or (found.type == "number" and seen.is_number) or found.type == "other"
    if isinstance(found, Const):
        return seen.name == ("none" if found.value is None else type(found.value).__name__)
    if isinstance(found, Seq):
        if found.kind == "list" and seen.name in ("range", "object"):
            return True  # what is iterated over
        kind = "set" if found.kind == "frozenset" else found.kind  # the tables have one word for both
        if kind != seen.name and not {kind, seen.name} <= {"list", "tuple", "size"}:
            return False
        if found.items is not None and seen.members and not seen.alike:
            return len(found.items) == len(seen.members) and all(map(agrees, found.items, seen.members))
        return not seen.members or found.items == () or agrees(found.element(), seen.members[0])
    if isinstance(found, Dict):
        return seen.name == "dict" or seen.name == "object"
    if isinstance(found, Object):
        return seen.name not in (
            "tensor",
            "parameter",
            "ndarray",
            "int",
            "float",
            "bool",
            "str",
            "none",
            "size",
            "tuple",
        )
    return seen.name not in ("tensor", "parameter", "ndarray", "int", "float", "bool", "none", "size")


#: What the asking called is what this makes, not this.
MAKERS = (
    *("torch.func.", "torch.vmap", "torch.compiler.disable", "torch.nn.Linear", "torch.nn.functional._list_with"),
    *facts.named("is a distribution"),
)


#: Where an int stood for a bool, or for a tensor, in the asking.
ODDLY_ASKED = ("torch.nn.functional.adaptive_max_pool1d", "torch.utils.checkpoint.detach_variable")


def asked() -> Iterator[tuple[str, Form]]:
    release = facts.at("2.13")
    for answer in release.answers():
        if (
            answer.name.startswith(LIBRARIES)
            and not answer.name.startswith((*MAKERS, *ODDLY_ASKED))
            and "@" not in answer.name
            and answer.by_hand is None
        ):
            for form in answer.forms:
                yield answer.name, form


def called(program: Interpreted, name: str, form: Form) -> Value | None:
    """What the interpreter says a call returns; None where it has no such arguments."""
    given = {a.label: value(a.kind) for a in form.arguments}
    if any(v is None for v in given.values()):
        return None
    values = {label: v for label, v in given.items() if v is not None}
    receiver = values.pop("self", None)
    positional = [v for label, v in values.items() if label.isdigit()]
    keywords = {label: v for label, v in values.items() if not label.isdigit()}
    frame, node = program.frame(), ast.parse("f()").body[0]
    if receiver is not None:
        return receiver.call_method(frame, node, name.partition("#")[2], positional, keywords)
    return External(calls.event_name(name)).call(frame, node, positional, keywords)


def _without_dtype(form: Form) -> Kind:
    """The result; a dtype that was asked for is not known from the kinds of the arguments."""
    if any(a.kind.name in ("dtype", "str", "type") or a.label == "dtype" for a in form.arguments):
        return Kind(form.result.name, None, None, form.result.members, form.result.alike, form.result.type_name)
    return form.result


def differences() -> list[str]:
    program = Interpreted()
    found = []
    for name, form in asked():
        result = called(program, name, form)
        if result is not None and not agrees(result, _without_dtype(form)):
            given = ", ".join(f"{a.label}={a.kind.name}{a.kind.dtype or ''}{a.kind.rank or ''}" for a in form.arguments)
            found.append(f"{name}({given}): {result}, measured {form.result}")
    return found


def test_every_result_is_the_measured_one_or_unknown() -> None:
    found = differences()
    assert not found, f"{len(found)} differ:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [("int", Kind("tensor", "f", 2)), ("tensor", Kind("int")), ("str", Kind("tensor")), ("none", Kind("bool"))],
)
def test_a_wrong_result_is_seen(wrong: str, kind: Kind) -> None:
    made = value(Kind(wrong))
    assert made is not None
    assert not agrees(made, kind)
