"""What follows about a name from all the ways of calling it that were tried on any release: a view, a write, a maker of tensors.

How a name fares under Dynamo changes from release to release (`facts`, `calls`); what it computes does not.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tclint.torch_facts import facts
from tclint.torch_facts.form import Form, parse
from tclint.torch_facts.kind import Kind


@functools.cache
def forms(key: str) -> tuple[Form, ...]:
    """Every way of calling that was tried, on any release; nothing for a name that nobody asked about."""
    method = "#" in key or "@" in key
    text = facts.table().names.get(key, "")
    lines = (facts.where(line)[1] for line in text.split(" ; ") if line)
    asked = [parse(line, method) for line in lines if line[0] != "#"]
    return tuple(dict.fromkeys(asked)) or facts.by_hand(key)


@functools.cache
def is_view(method: str) -> bool:
    """Whether a method of tensors may give the storage of its receiver, and leaves it as it was."""
    if f"Tensor.{method}" in facts.named("may give the tensor itself"):
        return True
    return any("self" in form.aliases for form in forms(f"tensor#{method}")) and not is_in_place(method)


@functools.cache
def is_in_place(method: str) -> bool:
    """Whether a method of tensors writes its receiver and gives it back."""
    if f"Tensor.{method}" in facts.named("writes its receiver"):
        return True
    return any("self" in form.mutates and "self" in form.same for form in forms(f"tensor#{method}"))


@functools.cache
def is_view_function(name: str) -> bool:
    """Whether a function of torch may give the storage of its first argument, and leaves it as it was."""
    if name in facts.named("may give the tensor itself"):
        return True
    return any("0" in form.aliases and "0" not in form.mutates for form in forms(name))


@functools.cache
def gives_argument(key: str) -> bool:
    """Whether the result is the first argument itself, in every way that was tried."""
    tried = forms(key)
    return bool(tried) and all("0" in form.same for form in tried)


@functools.cache
def is_sized_by_values(key: str, way: str = "") -> bool:
    """Whether the size of the result depends on the data: in this way of calling, where it was tried."""
    sized = [
        form for form in forms(key) if form.shape_follows_values and not any(a.kind.rank == 0 for a in form.arguments)
    ]
    ways = {way_of(form) for form in sized}
    tried = {way_of(form) for form in forms(key)}
    if way in tried:
        return way in ways
    # An argument that nobody knows may be any of those that were tried, and one by keyword is one by position.
    given = [word for word in way.split(",") if "=" not in word]
    like = {each for each in tried if _may_be(given, each.split(","))} if len(given) > 1 else set()
    return like <= ways if like else bool(sized)


def _may_be(given: Sequence[str], tried: Sequence[str]) -> bool:
    """Whether a way that was tried begins with these arguments; `?` is any."""
    return len(given) <= len(tried) and all(a in (b, "?") for a, b in zip(given, tried, strict=False))


def way_of(form: Form) -> str:
    """The arguments without dtypes and ranks: `T,int`, `T,dim=int,keepdim=bool`."""
    words = []
    for argument in form.arguments:
        kind = "T" if argument.kind.is_tensor else argument.kind.name
        words.append(kind if argument.label == "self" or argument.label.isdigit() else f"{argument.label}={kind}")
    return ",".join(words)


@functools.cache
def in_place() -> tuple[str, ...]:
    """The methods of tensors that do, as events name them."""
    # Read off the text: what is never called need not be parsed.
    names = facts.table().names.items()
    keys = [key for key, text in names if key.startswith("tensor#") and " m:self" in text and " s:self" in text]
    return tuple(dict.fromkeys((*(f"Tensor.{key[7:]}" for key in keys), *facts.named("writes its receiver"))))


@dataclass(frozen=True)
class Outcome:
    """What comes out of an operation, by what goes in."""

    #: Letter of the first tensor (f, i, b, c) -> letter of the result; one that is refused is not there.
    dtypes: Mapping[str, str]
    #: Way of calling (`T,int`) -> what becomes of the rank: `=` kept, `0` a constant, `-1` or `+1` against the first tensor's.
    ranks: Mapping[str, str]


_NOTHING: Final = Outcome({}, {})
#: The letters of the facts, and those of a tensor's dtype.
LETTERS: Final = {"f": "f", "d": "f", "h": "f", "i": "i", "j": "i", "b": "b", "c": "c"}


@functools.cache
def _results() -> Mapping[str, str]:
    text = Path(__file__).with_name("results.json").read_text(encoding="utf-8")
    names: dict[str, str] = json.loads(text)["names"]
    return names


@functools.cache
def outcome(key: str) -> Outcome:
    """What was seen of an operation; nothing where it was not asked."""
    text = _results().get(key)
    if text is None:
        return _NOTHING
    dtypes, _, ranks = text.partition("|")
    pairs = [(word[0], word[2]) for word in dtypes.split()]
    ways = [(way.rpartition(" ")[0], way.rpartition(" ")[2]) for way in ranks.strip().split(" ; ") if way]
    return Outcome(dict(pairs), dict(ways))


@functools.cache
def reads_values(key: str) -> bool:
    """Whether the result is a Python value that is read from a tensor."""
    return any(form.reads_values or form.breaks and form.result.is_number for form in forms(key))


@functools.cache
def has_peers(key: str) -> bool:
    """Whether other tensors of the same type as the first are given: then these decide on the type as well."""
    if any(form.arguments and form.arguments[0].kind.members for form in forms(key)):
        return True
    return any(
        other.kind.is_tensor and other.kind.dtype == "f"
        for form in forms(key)
        if form.arguments and form.arguments[0].kind.dtype == "f"
        for other in form.arguments[1:]
    )


@functools.cache
def _tried(key: str) -> Mapping[str, str]:
    """The same from the ways of calling in the table, where these agree: for what takes lists of tensors, say."""
    found: dict[str, set[str]] = {}
    for form in forms(key):
        kinds = [argument.kind for argument in form.arguments]
        given = {_letter(kind) for kind in kinds} - {""}
        if len(given) == 1:
            found.setdefault(given.pop(), set()).add(_letter(form.result))
    return {given: made.pop() for given, made in found.items() if len(made) == 1} if found else {}


def _letter(kind: Kind) -> str:
    while kind.members and kind.dtype is None:
        kind = kind.members[0]
    return LETTERS.get(kind.dtype or "", "")


def result_dtype(key: str, first: str, others: Sequence[str] = ()) -> str:
    """The letter of what an operation gives for a first tensor of a type, "" where that is not known."""
    told = outcome(key).dtypes or _tried(key)
    # Complex numbers are rare: who is not known to hold them does not.
    made = {after for before, after in told.items() if before != "c" or first == "c"}
    if "c" in others and first != "c" and not made <= {"b", "i"}:
        return ""  # a complex number makes the result complex
    if len(made) == 1 and first not in ("c", "") and first not in told:
        return ""
    if len(made) == 1 and (first != "c" or len(told) == 1):
        # The same for all it takes. Where it takes one type alone, that type is no news of an unknown tensor's.
        return next(iter(made))
    if has_peers(key) and any(other != first for other in others):
        return ""
    return told.get(first, "")


def rank_change(key: str, way: str) -> str | None:
    """What becomes of the rank in a way of calling; where that was not tried, what becomes of it in all that were."""
    ranks = outcome(key).ranks
    short = key.rpartition(".")[2]
    if way not in ranks and key.startswith("torch."):
        as_method = outcome(f"tensor#{short}").ranks
        if way in as_method:
            return as_method[way]
    if way in ranks:
        return ranks[way]
    return "=" if ranks and set(ranks.values()) == {"="} else None


@functools.cache
def makes_tensor(name: str) -> bool:
    """Whether a function of torch makes a tensor of sizes, numbers or arrays."""
    if name.count(".") != 1 or not name.startswith("torch."):
        return False
    if name in facts.named("makes a tensor of numbers"):
        return True
    return any(
        form.result.is_tensor and not any(argument.kind.holds_tensors for argument in form.arguments)
        for form in forms(name)
    )


@functools.cache
def takes_data(name: str) -> bool:
    """Whether what it makes holds what it is given: a number, a list of them, an array."""
    return name in facts.named("makes a tensor of data")


@functools.cache
def takes_array(name: str) -> bool:
    """Whether what it makes may share the storage of what it is given."""
    return name in facts.named("makes a tensor that may share its data")


@functools.cache
def made_dtype(name: str) -> str:
    """The letter of what such a function makes where no type is asked for, "" where its arguments decide."""
    made = {LETTERS.get(form.result.dtype or "", "") for form in forms(name) if not _asks_for_a_type(form)} - {"c"}
    return made.pop() if len(made) == 1 else ""


def _asks_for_a_type(form: Form) -> bool:
    return any(argument.kind.name == "dtype" for argument in form.arguments)


@functools.cache
def made_rank(name: str) -> int | None:
    """The rank of what such a function makes, where it is always the same."""
    made = {form.result.rank for form in forms(name)}
    return made.pop() if len(made) == 1 else None


@functools.cache
def is_shaped_by_numbers(name: str) -> bool:
    """Whether each number that is given is a size: `torch.zeros(2, 3)`."""
    plain = [form for form in forms(name) if form.arguments and all(a.kind.name == "int" for a in form.arguments)]
    return len(plain) > 1 and all(form.result.rank == len(form.arguments) for form in plain)


@functools.cache
def is_made_anew(method: str) -> bool:
    """Whether a method or function takes of a tensor no more than its kind: `x.new_zeros(3)`, `torch.zeros_like(x)`."""
    return method.startswith("new_") or method.endswith("_like")


def is_steady(name: str) -> bool:
    """Whether a function gives the same for the same arguments: it draws nothing, and leaves nothing unset."""
    return not any(form.unsteady for form in forms(name))
