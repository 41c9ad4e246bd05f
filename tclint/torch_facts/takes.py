"""What torch takes in the places of a call: a tensor and nothing else there, of Booleans or integers where it wants those."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from tclint.torch_facts import facts
from tclint.torch_facts.answer import Answer

_FUNCTIONAL: Final = "torch.nn.functional."
_TYPED: Final = frozenset({"b", "i"})


@functools.cache
def by_method(name: str, version: str) -> Mapping[int, str]:
    """Of a method of tensors, by place: the kind of its elements, empty where any will do. Numbers were tried, too."""
    return _taken(facts.at(version).method("tensor", name))


@functools.cache
def by_layer(name: str, version: str) -> Mapping[int, str]:
    """Of an object of a class of torch.nn that gives a tensor of its own.

    What gives several takes packed sequences as well; what hands on the very thing it was given takes anything.
    """
    answer = facts.at(version).module(name)
    whole = answer is not None and all(form.result.is_tensor and not form.same for form in answer.forms)
    # The facts count a call of an object as a method's: what it is called with first stands for the receiver.
    return {place + 1: kind for place, kind in _taken(answer).items()} if whole else {}


@functools.cache
def by_function(name: str, version: str) -> Mapping[int, str]:
    """Of a function. In most places of functions no number was tried: there a mask or an index alone is told."""
    taken = _taken(facts.at(version).call(name))
    return taken if name.startswith(_FUNCTIONAL) else {place: kind for place, kind in taken.items() if kind}


def _taken(answer: Answer | None) -> Mapping[int, str]:
    if answer is None:
        return {}
    seen: dict[int, list[str]] = {}
    others = {number.position for number in answer.burned}
    for form in answer.forms:
        for argument in form.arguments:
            place = -1 if argument.label == "self" else int(argument.label) if argument.label.isdigit() else None
            if place is not None and argument.kind.is_tensor:
                seen.setdefault(place, []).append(argument.kind.dtype or "")
            else:
                others.add(place)
    return {
        place: kinds[0] if kinds[0] in _TYPED and len(set(kinds)) == 1 else ""
        for place, kinds in seen.items()
        # What some calls leave out may be None in others.
        if place not in others and len(kinds) == len(answer.forms)
    }
