"""Models made without their weights, wherever the program would put them: names and sizes are all that is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

_META = torch.device("meta")


class _Weightless(TorchFunctionMode):  # type: ignore[misc]
    """What is made is made on the meta device, and stays there: a program that names its GPU, or moves a model to one, asks for
    memory that nobody needs, and a tensor without values cannot be moved."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func in _device_constructors():
            kwargs["device"] = _META
        elif args and isinstance(args[0], torch.Tensor) and args[0].is_meta:
            if func in (torch.Tensor.cuda, torch.Tensor.cpu):
                return args[0]
            if func is torch.Tensor.to:
                args = (args[0], *(_META if _is_device(value) else value for value in args[1:]))
                kwargs = {name: _META if name == "device" else value for name, value in kwargs.items()}
        return func(*args, **kwargs)


def _is_device(value: Any) -> bool:
    return isinstance(value, (torch.device, str)) or type(value) is int


@contextmanager
def weightless() -> Iterator[None]:
    with torch.device(_META), _Weightless():
        yield
