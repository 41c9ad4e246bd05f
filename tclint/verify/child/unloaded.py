"""Operators of compiled libraries that cannot be loaded here, so that the Python around them can be imported.

A wheel that was built for CUDA brings a library that a torch without CUDA does not load. Its Python part then ends in
`register_fake("torchvision::nms")`: the operator does not exist. The models beside it need none of it. Whoever calls such
an operator in earnest is still told that there is no kernel for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

_libraries: list[torch.library.Library] = []
"""What they define ends with them."""


def _exists(name: str) -> bool:
    namespace, _, operator = name.partition("::")
    return hasattr(getattr(torch.ops, namespace), operator.partition(".")[0])


def _define(name: str) -> None:
    namespace, _, operator = name.partition("::")
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define(f"{operator}() -> ()")
    _libraries.append(library)


@contextmanager
def missing_operators() -> Iterator[None]:
    """Inside the block an operator that has only a fake implementation may be given one."""
    real: Callable[..., Any] = torch.library.register_fake

    def register_fake(op: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(op, str) and "::" in op and not _exists(op):
            _define(op)
        return real(op, *args, **kwargs)

    torch.library.register_fake = register_fake
    try:
        yield
    finally:
        torch.library.register_fake = real
