"""Imports a user's file by its path, as the module it would be in its own package."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def dotted_name(path: Path) -> tuple[str, Path]:
    """The module name of a file and the folder to put on `sys.path`: the parent of its top package."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def load(path: str, root: str) -> ModuleType:
    """The module of a file. Raises whatever its import raises."""
    file = Path(path)
    name, folder = dotted_name(file)
    for entry in (root, str(file.parent), str(folder)):
        if entry not in sys.path:
            sys.path.insert(0, entry)
    loaded = sys.modules.get(name)
    if loaded is not None and _is(loaded, file):
        return loaded
    if "." in name:
        module = importlib.import_module(name)
        if _is(module, file):
            return module
    if name in sys.modules or name in sys.stdlib_module_names:
        # A user's `types.py` or `profile.py` must not take the place of the module of that name.
        name = f"tclint_target_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no loader for {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is(module: ModuleType, file: Path) -> bool:
    origin = getattr(module, "__file__", None)
    return origin is not None and os.path.realpath(origin) == os.path.realpath(file)


def find(module: ModuleType, name: str) -> tuple[Any, str]:
    """The object of a qualified name, and the method where it names one: `Model.encode` gives (Model, "encode")."""
    found: Any = module
    parts = name.split(".")
    for position, part in enumerate(parts):
        if part == "<locals>":
            raise LookupError(f"{name} is defined inside a function: it cannot be reached from outside")
        try:
            below = getattr(found, part)
        except AttributeError:
            raise LookupError(f"{getattr(module, '__file__', module)} has no {name}") from None
        if isinstance(found, type) and not isinstance(below, type):
            if position != len(parts) - 1:
                raise LookupError(f"{name} is defined inside a function: it cannot be reached from outside")
            return found, part
        found = below
    return found, ""
