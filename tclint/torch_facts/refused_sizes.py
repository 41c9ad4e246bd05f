"""Sizes that torch refuses: two that do not broadcast, a product whose inner sizes differ, a view of another number of elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tclint.torch_facts.layouts import REDUCTIONS, Arguments, Layout
from tclint.torch_facts.sizes import ELEMENTWISE

_PRODUCTS: Final = {"matmul": (0, 0), "mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1)}
"""Products of matrices, and the ranks they ask for; any where it is 0."""


def refused(name: str, first: Layout, args: Arguments, keywords: Mapping[str, Any]) -> bool:
    """Whether `x.name(…)` surely fails for the sizes of x and of what else is given: layouts, ints; "?" for anything else."""
    name = name.removesuffix("_")
    if None in first.sizes:
        return False
    if name in ("view", "reshape") and not keywords:
        return _is_other_number(first, args)
    if name in _PRODUCTS and len(args) == 1 and isinstance(args[0], Layout):
        return _differs_inside(name, first.sizes, args[0].sizes)
    if name == "linear" and args and isinstance(args[0], Layout) and first.sizes and args[0].sizes:
        return first.sizes[-1] != args[0].sizes[-1] is not None
    if name in ("transpose", "swapaxes", "swapdims") and len(args) == 2:
        return any(_is_beyond(first, each) for each in args)
    if name == "permute":
        order = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        known = all(type(each) is int for each in order)
        return known and (len(order) != len(first.sizes) or any(_is_beyond(first, each) for each in order))
    if name in REDUCTIONS and first.sizes:
        return _is_beyond(first, args[0] if len(args) == 1 else keywords.get("dim"))
    if name in ELEMENTWISE:
        several = [first, *(each for each in (*args, *keywords.values()) if isinstance(each, Layout))]
        return any(do_not_broadcast(a.sizes, b.sizes) for a, b in itertools.combinations(several, 2))
    return False


def refused_by(module: str, made: Mapping[str, Any], layout: Layout) -> bool:
    """Whether a module of torch surely fails for a tensor: a linear layer with other features."""
    wanted = made.get("in_features") if module == "torch.nn.Linear" else None
    return type(wanted) is int and bool(layout.sizes) and layout.sizes[-1] not in (None, wanted)


def _is_beyond(layout: Layout, dim: Any) -> bool:
    rank = len(layout.sizes)
    return type(dim) is int and not -max(rank, 1) <= dim < max(rank, 1)


def cannot_be_joined(parts: Sequence[Layout], dim: Any, stacked: bool) -> bool:
    """Whether `torch.cat` or `torch.stack` surely fails."""
    sizes = [part.sizes for part in parts]
    if type(dim) is not int or any(None in each for each in sizes) or (0,) in sizes:  # an empty one joins with any
        return False
    if stacked:
        return len(set(sizes)) > 1
    rank = len(sizes[0]) if sizes else 0
    if any(len(each) != rank for each in sizes):
        return True
    if not -rank <= dim < rank:
        return bool(sizes)
    at = dim % rank
    return len({(*each[:at], *each[at + 1 :]) for each in sizes}) > 1


def do_not_broadcast(a: Sequence[int | None], b: Sequence[int | None]) -> bool:
    """Whether two sizes differ in a dimension in which neither is 1."""
    pairs = zip(reversed(a), reversed(b), strict=False)
    return any(x is not None and y is not None and x != y and 1 not in (x, y) for x, y in pairs)


def _differs_inside(name: str, a: Sequence[int | None], b: Sequence[int | None]) -> bool:
    if None in b or not a or not b:
        return False
    ranks = _PRODUCTS[name]
    if ranks != (0, 0) and ranks != (len(a), len(b)):
        return True
    return a[-1] != b[-2 if len(b) > 1 else -1]


def _is_other_number(layout: Layout, args: Arguments) -> bool:
    wanted = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if not wanted or not all(type(each) is int for each in wanted) or isinstance(wanted, Layout):
        return False
    many = math.prod(size for size in layout.sizes if size is not None)
    asked = math.prod(each for each in wanted if each != -1)
    if list(wanted).count(-1) != 1:
        return bool(many != asked)
    return bool(asked == 0 or many % asked)
