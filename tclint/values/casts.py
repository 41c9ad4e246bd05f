"""What `x.to(…)` is asked for: another dtype alone, or to be on a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tclint.torch_facts import dtypes
from tclint.values.constant import Const
from tclint.values.external import External
from tclint.values.value import Value

_BESIDE: Final = frozenset({"dtype", "non_blocking", "copy", "memory_format"})
"""The keywords that say nothing of a device."""


def is_cast(args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether only a dtype is named: the tensor stays where it is."""
    first = keywords.get("dtype", args[0] if args else None)
    if not isinstance(first, External) or not dtypes.exact(first.name) or not _BESIDE.issuperset(keywords):
        return False
    rest = args if "dtype" in keywords else args[1:]
    return all(isinstance(each, Const) and isinstance(each.value, bool) for each in rest)
