"""Higher-order operators: what each takes in which place, and what Dynamo refuses there.

Read in `torch/_dynamo/variables/higher_order_ops.py` and asked of 2.9, 2.11, 2.13 and 2.15 (`scripts/ask/seen.txt`). An operator
itself, as `torch.ops.higher_order` has it, asks for more than the function that people call, which puts it right first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Place:
    """One argument of an operator."""

    name: str
    takes: str
    """`predicate`; `function`, `wrapped` (a functools.partial alone) or `bare` (anything but one); `several` (a list or tuple);
    `tensors` (a list or tuple of nothing else); `leaves` (tensors, at least one); `rows` (tensors whose first one has a row)."""
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Operator:
    """What a higher-order operator takes, in order."""

    places: tuple[Place, ...]
    keywords: bool = True
    """Whether its arguments may be given by name."""
    exact: bool = True
    """Whether it says no to an argument more or less itself: a function of Python does that when it is called."""
    returns: str = ""
    """What a function must return: `pair`, or `like` for a tuple as the operands are one."""
    plain: bool = False
    """Whether the functions return tensors and whole numbers alone: no None, and no size that is a symbol."""
    rows: str = ""
    """The releases that refuse operands without a row; all of them where it is empty."""
    rest: str = ""
    """What it takes behind its places: `values`, which are tensors and numbers."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """The graph break that Dynamo tells, by the argument that is wrong, or by what is wrong."""


def _places(text: str) -> tuple[Place, ...]:
    pairs = [each.split(":") for each in text.split()]
    return tuple(Place(name, takes.removesuffix("?"), not takes.endswith("?")) for name, takes in pairs)


def _ids(text: str) -> dict[str, str]:
    return {what: id_ for each in text.split() for what, _, id_ in [each.partition(":")]}


_COND: Final = "pred:predicate true_fn:function false_fn:function operands:any"
_COND_IDS: Final = _ids("arguments:GB0309 pred:GB0310 none:GB0350 size:GB0340")

OPERATORS: Final = {
    name: operator
    for names, operator in {
        "torch.cond torch._higher_order_ops.cond torch._higher_order_ops.cond.cond": Operator(
            _places(_COND + "?"), exact=False, plain=True, ids=_COND_IDS
        ),
        "torch.ops.higher_order.cond torch._higher_order_ops.cond.cond_op": Operator(
            _places(_COND), plain=True, ids=_COND_IDS
        ),
        "torch.ops.higher_order.while_loop torch._higher_order_ops.while_loop.while_loop_op": Operator(
            _places("cond_fn:function body_fn:function operands:any additional_inputs:several"),
            ids=_ids("arguments:GB0303 additional_inputs:GB0304"),
        ),
        "torch.ops.higher_order.associative_scan torch._higher_order_ops.associative_scan.associative_scan_op": Operator(
            _places("combine_fn:bare xs:rows additional_inputs:tensors"),
            exact=False,
            returns="like",
            rows="4-13",
            ids=_ids(
                "combine_fn:GB0341 xs:GB0315 additional_inputs:GB0316 leaf:GB0301 row:GB0317 nothing:GB0318 like:GB0319"
            ),
        ),
        "torch.ops.higher_order.scan torch._higher_order_ops.scan.scan_op": Operator(
            _places("combine_fn:wrapped init:leaves xs:rows additional_inputs:tensors"),
            exact=False,
            rows="4-13",
            ids=_ids(
                "combine_fn:GB0342 init:GB0321 xs:GB0320 additional_inputs:GB0323 leaf:GB0301 row:GB0324 empty:GB0322"
            ),
        ),
        "torch._higher_order_ops.scan torch._higher_order_ops.scan.scan": Operator(
            _places("combine_fn:function init:any xs:any"), exact=False, returns="pair", ids=_ids("pair:GB0343")
        ),
        "torch.ops.higher_order.map_impl torch._higher_order_ops.map.map_impl": Operator(
            _places("f:function xs:rows pos_args:any"),
            keywords=False,
            exact=False,
            ids=_ids("arguments:GB0325 row:GB0326"),
        ),
        "torch._higher_order_ops.map torch._higher_order_ops.map.map": Operator(
            _places("f:function xs:any"), exact=False, rest="values", ids=_ids("rest:GB0351")
        ),
    }.items()
    for name in names.split()
}
"""The operators by the names they go by."""
