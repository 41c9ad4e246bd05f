"""Imports a user's file by its path, as the module it would be in its own package."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from tclint.verify.child import standin
from tclint.verify.child.definitions import load_definitions, trains_on_import
from tclint.verify.child.refusals import as_errors
from tclint.verify.child.tolerant import tolerating
from tclint.verify.child.unloaded import missing_operators


def dotted_name(path: Path) -> tuple[str, Path]:
    """The module name of a file and the folder to put on `sys.path`: the parent of its top package."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and not _is_import_root(folder):
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def _is_import_root(folder: Path) -> bool:
    """Whether Python looks for packages in a folder: an `__init__.py` that somebody's wheel left there makes it no package."""
    return str(folder) in sys.path and str(folder.parent) not in sys.path


def search_path(path: Path, root: str) -> list[str]:
    """Where the project's own imports are found, as lint finds them: the folder that holds the file's top package, then
    those above it up to the root; and the root's `src`. Never a folder inside a package, whose modules would hide others.
    """
    _, folder = dotted_name(path)
    top = Path(root)
    found = [folder]
    while folder != top and top in folder.parents:
        folder = folder.parent
        found.append(folder)
    if not (top / "__init__.py").is_file():
        found += [top, top / "src"]
    return list(dict.fromkeys(str(entry) for entry in found if entry.is_dir()))


def load(path: str, root: str) -> ModuleType:
    """The module of a file. Raises whatever its import raises; a package that is missing is replaced where possible."""
    file = Path(path)
    # What the file's own project says comes before what is installed.
    own = search_path(file, root)
    sys.path[:] = [*own, *(entry for entry in sys.path if entry not in own)]
    module = sys.modules.get(dotted_name(file)[0])
    if module is not None and _is(module, file):
        return module
    if path not in _scripts and trains_on_import(file):
        return _definitions(file, root)
    if path in _scripts:
        return _scripts[path]
    try:
        with standin.importing(), missing_operators():
            return _load(file)
    except (Exception, SystemExit) as error:
        return _as_far_as_possible(file, root, error)


def _as_far_as_possible(file: Path, root: str, first: BaseException) -> ModuleType:
    """The module of a file that cannot be imported as it is: without what fails in it and in the files that it imports.
    Raises the first error, the better word, where nothing of it can be had."""

    def replaceable(error: BaseException) -> bool:
        return standin.replace(package_at_fault(error, root))

    replaceable(first)
    with standin.importing(), missing_operators(), tolerating(root, replaceable):
        while "." in dotted_name(file)[0] or package_at_fault(first, root):
            try:
                return _load(file)
            except (Exception, SystemExit) as error:
                if not replaceable(error):
                    break
        try:
            return _definitions(file, root)
        except (Exception, SystemExit):
            raise first from None


_scripts: dict[str, ModuleType] = {}
"""Files of which only the definitions are loaded, by path."""


def _definitions(file: Path, root: str) -> ModuleType:
    name, _ = dotted_name(file)
    with standin.importing(), missing_operators():
        module = load_definitions(
            file,
            f"tclint_target_{file.stem}",
            lambda error: standin.replace(package_at_fault(error, root)),
            name.rpartition(".")[0],
        )
    _scripts[str(file)] = module
    return module


def package_at_fault(error: BaseException, root: str) -> str:
    """The installed or missing package that made an import fail; empty where it was the project itself."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        name = error.name.partition(".")[0]
        return (
            ""
            if any(Path(entry, name).exists() or Path(entry, f"{name}.py").exists() for entry in _inside(root))
            else name
        )
    frames = traceback.extract_tb(error.__traceback__)
    for frame in frames:
        inside = frame.filename.replace(os.sep, "/").rpartition("/site-packages/")[2]
        if inside != frame.filename.replace(os.sep, "/"):
            name = inside.partition("/")[0].removesuffix(".py")
            # Torch itself is what this is all about.
            return "" if name in ("torch", "tclint") else name
    return ""


def _inside(root: str) -> list[str]:
    return [entry for entry in sys.path if entry == root or entry.startswith(os.path.join(root, ""))]


def _load(file: Path) -> ModuleType:
    name, _ = dotted_name(file)
    if "." in name:
        with as_errors():
            module = importlib.import_module(name)
        if _is(module, file):
            return module
    if name in sys.modules or name in sys.stdlib_module_names or not name.isidentifier():
        # A user's `types.py` or `profile.py` must not take the place of the module of that name.
        name = f"tclint_target_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"no loader for {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with as_errors():
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
