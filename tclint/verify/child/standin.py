"""Stand-ins for packages that are not installed, so that a file can be imported whose target does not need them.

`import wandb` at the head of a file says nothing about the model below it. Where such an import fails, and the program
does not expect it to fail, the package is replaced by one whose names may be imported, subclassed and used as decorators
while files are being imported. Whoever uses one in earnest, afterwards, is told that the package is missing.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

MOST = 24
"""Packages replaced for one target, before it is given up."""


class _Meta(type):
    """A class of which everything can be asked: its attributes are stand-ins too, and it may be called and subscripted."""

    _package: str
    _path: str

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return named(cls._package, f"{cls._path}.{name}")

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not _is_direct(cls):
            # A class of the program's own below a stand-in: it cannot be made without the real one.
            raise _missing(cls._package)
        if not _importing:
            raise _missing(cls._package)
        return named(cls._package, f"{cls._path}()")

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        raise _missing(cls._package)

    def __len__(cls) -> int:
        raise _missing(cls._package)

    def __bool__(cls) -> bool:
        return True

    def __or__(cls, other: Any) -> Any:
        return Any

    __ror__ = __or__

    def __lt__(cls, other: Any) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __enter__(cls) -> Any:
        return cls

    def __exit__(cls, *_: object) -> None:
        return None

    def __repr__(cls) -> str:
        return f"<stand-in for {cls._path}>"


_importing = 0
_replaced: set[str] = set()


def _missing(package: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(f"No module named '{package}'", name=package)


def named(package: str, path: str) -> Any:
    return _Meta(path.rpartition(".")[2].strip("()") or package, (), {"_package": package, "_path": path})


def package_below(cls: Any) -> str:
    """The missing package whose class the given one is built on; empty where it is on none."""
    return str(cls._package) if isinstance(cls, _Meta) else ""


def _is_direct(cls: _Meta) -> bool:
    return "_path" in vars(cls)


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return "0"
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return named(self.__name__.partition(".")[0], f"{self.__name__}.{name}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Last of all finders: answers for the packages that were given up."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in _replaced or _is_expected_to_fail():
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = _Module(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: ModuleType) -> None:
        return None


def _importer() -> FrameType | None:
    """The frame whose import statement is being carried out; None where somebody only asks whether a package is there."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.endswith(os.path.join("importlib", "util.py")):
            return None
        if name != __file__ and "importlib" not in name:
            return frame
        frame = frame.f_back
    return None


def _is_expected_to_fail() -> bool:
    frame = _importer()
    return frame is None or frame.f_lineno in _guarded_lines(frame.f_code.co_filename)


@lru_cache(maxsize=256)
def _guarded_lines(path: str) -> frozenset[int]:
    """The lines of a file inside a `try` that catches a failing import."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(map(_catches_import, node.handlers)):
            lines.update(range(node.body[0].lineno, (node.body[-1].end_lineno or node.body[-1].lineno) + 1))
    return frozenset(lines)


def _catches_import(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(handler.type)}
    return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


_finder = _Finder()


def replace(package: str) -> bool:
    """Let a package be replaced from now on; False where it is already, or there are too many."""
    if not package or package in _replaced or len(_replaced) >= MOST:
        return False
    _replaced.add(package)
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    return True


@contextmanager
def importing() -> Iterator[None]:
    """Inside the block stand-ins may be called, as decorators are."""
    global _importing
    _importing += 1
    try:
        yield
    finally:
        _importing -= 1
