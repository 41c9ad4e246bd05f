"""Imports of a project's files that go on behind a statement that fails.

The head of a package checks the version of another, reads a file that was not shipped, or imports a part that needs a
compiler. The module in the same package that is asked about needs none of it. Inside `tolerating` every file of the
project is run statement by statement: what fails is left out, and whoever needs it will say so. Nothing that was imported
before is imported again: what it has registered elsewhere would be there twice.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

from tclint.verify.child.definitions import run_each
from tclint.verify.cover import is_project

Replaceable = Callable[[BaseException], bool]
"""Whether an import that failed is worth another try."""


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, replaceable: Replaceable) -> None:
        super().__init__(name, path)
        self.replaceable = replaceable

    def exec_module(self, module: ModuleType) -> None:
        prefix = f"{module.__name__}."
        for name, part in list(sys.modules.items()):
            # What a first attempt has imported is a part of the package as it was.
            if name.startswith(prefix) and "." not in name[len(prefix) :]:
                vars(module).setdefault(name[len(prefix) :], part)
        tree = ast.parse(self.get_data(self.path), self.path)
        run_each(tree.body, self.path, module, self.replaceable)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, root: str, replaceable: Replaceable) -> None:
        self.root = root
        self.replaceable = replaceable

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if (
            spec is not None
            and type(spec.loader) is importlib.machinery.SourceFileLoader
            and spec.origin
            and is_project(spec.origin, self.root)
        ):
            spec.loader = _Loader(fullname, spec.origin, self.replaceable)
            return spec
        return None


@contextmanager
def tolerating(root: str, replaceable: Replaceable) -> Iterator[None]:
    """Inside the block the project's files are imported as far as they can be."""
    finder = _Finder(root, replaceable)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
