"""The keys of the configuration, and what each may hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tclint.model.settings import LEVELS, normal_selector


class Wrong(Exception):
    """A value of the wrong kind; the text says which kind is wanted."""


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
        raise Wrong("a list of strings")
    if any("\0" in v for v in value):
        raise Wrong("a list of strings without a NUL")
    return tuple(value)


def selectors(value: object) -> tuple[str, ...]:
    """A list of codes, prefixes and names."""
    return tuple(normal_selector(s) for s in _strings(value))


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise Wrong("a string")
    if "\0" in value:
        # No path has one, and no function of the system takes one.
        raise Wrong("a string without a NUL")
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise Wrong("true or false")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Wrong("a whole number, 0 or more")
    return value


class _OneOf:
    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def __call__(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise Wrong("one of " + ", ".join(f'"{c}"' for c in self.choices))
        return value


def choices(key: str) -> tuple[str, ...]:
    """The values a key can have, where it is one of a few."""
    reader = READERS.get(key)
    return reader.choices if isinstance(reader, _OneOf) else ()


def _table_of(read: Callable[[object], tuple[str, ...]]) -> Callable[[object], dict[str, tuple[str, ...]]]:
    def read_table(value: object) -> dict[str, tuple[str, ...]]:
        if not isinstance(value, Mapping):
            raise Wrong("a table of glob = [list of strings]")
        try:
            return {str(k): read(v) for k, v in value.items()}
        except Wrong:
            raise Wrong("a table of glob = [list of strings]") from None

    return read_table


TORCH_VERSION = r"^(\d{1,3})\.(\d{1,3})(?:[.+a-z]|$)"


def torch_version(value: object) -> str:
    """The first two numbers of a release."""
    match = re.match(TORCH_VERSION, value) if isinstance(value, str) else None
    if match is None:
        raise Wrong('a torch version as a string, like "2.13"')
    return f"{match[1]}.{match[2]}"


PYTHON_VERSION = r"^(3\.\d{1,2})?$"


def _python_version(value: object) -> str:
    if not isinstance(value, str) or not re.match(PYTHON_VERSION, value):
        raise Wrong('a Python version as a string, like "3.12"')
    return value


def _seconds(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value <= 0:
        raise Wrong("a number of seconds above 0")
    return value


def _factories(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) and ":" in v for v in value.values()):
        raise Wrong('a table of "module:Class" = "module:function"')
    return dict(value)


READERS: Mapping[str, Callable[[object], object]] = {
    "select": selectors,
    "ignore": selectors,
    "extend-select": selectors,
    "exclude": _strings,
    "extend-exclude": _strings,
    "per-file-ignores": _table_of(selectors),
    "target-torch": torch_version,
    "target-python": _python_version,
    "min-confidence": _OneOf(*LEVELS),
    "severity": _OneOf(*LEVELS),
    "rules": _strings,
    "packs": _strings,
    "assume-compiled": _OneOf("auto", "all", "never"),
    "compile-functions": _strings,
    "tokenizers": _strings,
    "require-compile-wrapper": _string,
    "jobs": _count,
    "cache-dir": _string,
    "no-cache": _bool,
    "respect-gitignore": _bool,
    "src": _strings,
    "python": _string,
}
CUDAGRAPH_READERS: Mapping[str, Callable[[object], object]] = {
    "callables": _strings,
    "clone-helpers": _strings,
    "step-markers": _strings,
    "only-through": _table_of(_strings),
}
VERIFY_READERS: Mapping[str, Callable[[object], object]] = {
    "device": _string,
    "timeout": _seconds,
    "memory": _count,
    "factories": _factories,
    "path": _strings,
    "python": _string,
    "executor": _string,
}
KEYS = (*READERS, "verify", "cudagraph")
