"""What pygls wants of its handlers, and what it makes of options it does not know."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def plain(method: Callable[..., Any]) -> Callable[..., Any]:
    """A plain function: pygls leaves notes on its handlers, which a bound method does not take."""
    if inspect.iscoroutinefunction(method):

        async def wait(params: Any) -> Any:
            return await method(params)

        return wait
    return lambda *params: method(*params)


def said(options: Any, key: str) -> Any:
    """What an editor gave for a key: pygls makes objects of what it does not know."""
    return options.get(key) if isinstance(options, dict) else getattr(options, key, None)
