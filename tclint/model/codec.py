"""Frozen dataclasses to JSON and back, by their annotations: what crosses to child processes and into files."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class Malformed(ValueError):
    """JSON that does not have the shape of the dataclass; the words say where."""


def encode(value: Any) -> Any:
    return dataclasses.asdict(value)


@functools.lru_cache(maxsize=128)
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def mapped(value: T, change: Callable[[str], str]) -> T:
    """The same object with every text in it changed."""
    return typing.cast(T, _mapped(value, change))


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_mapped(item, change) for item in value)
    if isinstance(value, Mapping):
        return {_mapped(key, change): _mapped(item, change) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        given = {field.name: _mapped(getattr(value, field.name), change) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **given)
    return value


def decode(kind: type[T], data: Any, at: str = "result") -> T:
    """An object of a dataclass. Unknown keys are passed over: a newer tclint may have written them."""
    if not isinstance(data, Mapping):
        raise Malformed(f"{at}: an object was expected, not {type(data).__name__}")
    known = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints = _hints(typing.cast(Any, kind))
    given = {name: _value(hints[name], data[name], f"{at}.{name}") for name in known if name in data}
    for name, field in known.items():
        if name not in given and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise Malformed(f"{at}.{name} is missing")
    return kind(**given)


def _value(kind: Any, data: Any, at: str) -> Any:
    origin = typing.get_origin(kind)
    arguments = typing.get_args(kind)
    if kind is Any:
        return data
    if origin in (typing.Union, types.UnionType):
        if data is None and type(None) in arguments:
            return None
        return _value(next(item for item in arguments if item is not type(None)), data, at)
    if origin is tuple:
        if not isinstance(data, (list, tuple)):
            raise Malformed(f"{at}: a list was expected, not {type(data).__name__}")
        if arguments[-1] is not Ellipsis:
            if len(data) != len(arguments):
                raise Malformed(f"{at}: {len(arguments)} items were expected, not {len(data)}")
            return tuple(
                _value(each, item, f"{at}[{index}]")
                for index, (each, item) in enumerate(zip(arguments, data, strict=True))
            )
        return tuple(_value(arguments[0], item, f"{at}[{index}]") for index, item in enumerate(data))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(data, Mapping):
            raise Malformed(f"{at}: an object was expected, not {type(data).__name__}")
        return {str(key): _value(arguments[1], item, f"{at}.{key}") for key, item in data.items()}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return decode(kind, data, at)
    if kind is float and isinstance(data, (int, float)) and not isinstance(data, bool):
        return float(data)
    if isinstance(data, kind) and not (kind is int and isinstance(data, bool)):
        return data
    raise Malformed(f"{at}: {kind.__name__} was expected, not {type(data).__name__}")
