"""What a function, method or attribute returns, in one word: `tensor`, `tensors`, `tuple:tensor,int-tensor`, `bool`, `none`.

For what gives one thing in one way of calling and another in another, the word says what it gives as a rule; which way it
is called decides (`calls.forms`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Final

from tclint.torch_facts import facts, traits
from tclint.torch_facts.form import Form
from tclint.torch_facts.kind import Kind

_OBJECTS: Final = frozenset(
    {"object", "type", "namespace", "dict", "iterator", "generator", "layout", "function", "module"}
)
#: A tensor in one way of calling, a plain value in another.
MIXED: Final = "mixed"
#: Of a tensor: read off its data.
_SCALAR: Final = "scalar"
#: What tensors have beside what was tried: all of `dir(torch.Tensor)` of 2.13 that the table does not name.
_UNTRIED: Final = frozenset(
    {
        *("eig", "lstsq", "q_scale", "qscheme", "register_post_accumulate_grad_hook"),
        *("reinforce", "solve", "symeig"),
    }
)


@functools.cache
def kind(key: str) -> str | None:
    """The word for a name; None where nobody asked, and nobody wrote it down."""
    tried = traits.forms(key)
    if tried:
        return _word(key, tried)
    return _by_schema().get(key)


@functools.cache
def is_of_tensors(name: str) -> bool:
    """Whether tensors have an attribute or a method of this name."""
    return kind(f"tensor#{name}") is not None or kind(f"tensor@{name}") is not None or name in _UNTRIED


@functools.cache
def _by_schema() -> Mapping[str, str]:
    return {
        **dict.fromkeys(facts.named("gives a tensor, by its schema"), "tensor"),
        **dict.fromkeys(facts.named("gives a bool, by its schema"), "bool"),
        **dict.fromkeys(facts.named("gives an int, by its schema"), "int"),
        **dict.fromkeys(facts.named("gives nothing, by its schema"), "none"),
    }


@functools.cache
def is_module_class(name: str) -> bool:
    """Whether a dotted name of torch.nn is that of a class of modules."""
    key = facts.canonical(name)
    made = {form.result.name for form in traits.forms(key)}
    return "module" in made or kind(f"{key}#__call__") is not None


@functools.cache
def gives_pair(key: str) -> bool:
    """Whether values and indices come out where a dimension is given, and one tensor where none is."""
    if key.startswith("torch."):
        key = f"tensor#{key.rpartition('.')[2]}"
    made = [form.result for form in traits.forms(key) if traits.way_of(form).startswith(("T,int", "T,dim=int"))]
    return bool(made) and all(_is_pair(result) for result in made)


def _is_pair(result: Kind) -> bool:
    members = result.members
    return (
        result.name == "tuple"
        and len(members) == 2
        and not result.alike
        and members[1].dtype == "i"
        and members[0].is_tensor
    )


def _word(key: str, tried: Sequence[Form]) -> str:
    if all(_runs_what_it_is_given(form) for form in tried):
        return "unknown"
    results = [form.result for form in tried]
    names = {result.name for result in results}
    if names <= {"int", "float", "bool", "complex"} and len(names) > 1:
        return _SCALAR
    if any(result.is_tensor for result in results):
        several = all(result.is_tensor or result.name == "tuple" for result in results)
        return _tensor(key, results) if several else MIXED
    if "size" in names or names == {"tuple", "int"}:
        return "size"
    if "tuple" in names and all(result.name == "tuple" for result in results):
        return _tuple([result for result in results if result.name == "tuple"])
    if "list" in names:
        lists = [result for result in results if result.name == "list"]
        return "tensors" if all(result.holds_tensors for result in lists) else "list"
    if len(names) > 1:
        return "unknown"
    (name,) = names
    return "object" if name in _OBJECTS else name


def _runs_what_it_is_given(form: Form) -> bool:
    """A function or module among the arguments: what comes out is what that gives."""
    return any(argument.kind.name in ("function", "module") and argument.label != "self" for argument in form.arguments)


def _tensor(key: str, results: Sequence[Kind]) -> str:
    made = {traits.LETTERS.get(result.dtype or "", "") for result in results if result.is_tensor}
    given = traits.outcome(key).dtypes
    if made | set(given.values()) == {"b"}:
        return "bool-tensor"
    return "int-tensor" if len(given) > 1 and made | set(given.values()) == {"i"} else "tensor"


def _tuple(results: Sequence[Kind]) -> str:
    if any(result.alike for result in results):
        held = [result.members[0] for result in results if result.members]
        if held and all(member.is_tensor for member in held):
            pairs = {len(result.members) for result in results if not result.alike}
            return "tensors" if not pairs else "tuple:tensor,tensor"
        return "size" if held and all(member.name == "int" for member in held) else "unknown"
    lengths = {len(result.members) for result in results}
    if len(lengths) != 1 or 0 in lengths:
        return "unknown"
    words = []
    for members in zip(*(result.members for result in results), strict=True):
        letters = {member.dtype for member in members}
        if not all(member.is_tensor for member in members):
            words.append("object" if len({member.name for member in members}) > 1 else members[0].name)
        elif letters <= {"i", "j"} and words:
            words.append("int-tensor")
        else:
            words.append("tensor")
    return "tuple:" + ",".join(words)


@functools.cache
def takes_tensor(name: str) -> bool:
    """`torch.f(x)`: x is a tensor for every f that is also a tensor method, and for the usual functionals."""
    if name in facts.named("is a usual functional"):
        return True
    return kind(f"tensor#{name}") in _TENSOR_WORDS and not traits.makes_tensor(f"torch.{name}")


_TENSOR_WORDS: Final = frozenset({"tensor", "bool-tensor", "int-tensor"})
