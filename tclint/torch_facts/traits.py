"""What follows about a name from all the ways of calling it that were tried on any release: a view, a write, a maker of tensors.

How a name fares under Dynamo changes from release to release (`facts`, `calls`); what it computes does not.
"""

from __future__ import annotations

import functools

from tclint.torch_facts import facts
from tclint.torch_facts.form import Form, parse


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
def in_place() -> tuple[str, ...]:
    """The methods of tensors that do, as events name them."""
    # Read off the text: what is never called need not be parsed.
    keys = [key for key, text in facts.table().names.items() if key.startswith("tensor#") and " m:self" in text]
    measured = (f"Tensor.{key[7:]}" for key in keys if is_in_place(key[7:]))
    return tuple(dict.fromkeys((*measured, *facts.named("writes its receiver"))))
