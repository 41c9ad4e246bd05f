"""Factories of the configuration, `"module:Class" = "module:function"`: which one speaks of a target, and which of none."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from collections.abc import Iterable, Mapping

from tclint.model.errors import did_you_mean
from tclint.verify.spans import outline


def key_of(path: str, name: str, factories: Iterable[str]) -> str | None:
    """The key that names what is called `name` in a file; a method may go under its class. The most exact one wins."""
    owner = name.split(".")[0]
    stem = os.path.splitext(os.path.abspath(path).replace(os.sep, "/"))[0]
    stem = stem.removesuffix("/__init__")

    def rank(key: str) -> tuple[int, int] | None:
        module, _, target = key.rpartition(":")
        if target not in (name, owner):
            return None
        asked = module.removesuffix(".py") if "/" in module or module.endswith(".py") else module.replace(".", "/")
        if asked and not f"/{stem}".endswith(f"/{asked}"):
            return None
        return (target == name, len(asked))

    ranked = [(found, key) for key in factories if (found := rank(key)) is not None]
    return max(ranked)[1] if ranked else None


def wanted(hint: str, source: str) -> str:
    """What would help, where the inputs came from `source`: who has named a factory writes no example beside it."""
    if not source.startswith("factory ") or not hint.startswith("register an example whose calls "):
        return hint
    what = hint.removeprefix("register an example whose calls ").removesuffix(" with @tclint.example")
    return f"let {source} give calls that {what}"


def mistakes(factories: Mapping[str, str], folders: Iterable[str]) -> list[str]:
    """What can be seen to be wrong without importing anything, key by key: `folders` are where imports start from.

    A module that lies in none of them may be an installed one: whoever runs it will see.
    """
    starts = list(dict.fromkeys(folders))
    found = []
    for key, reference in factories.items():
        for side, text in (("", key), (f"{reference}: ", reference)):
            module, _, name = text.rpartition(":")
            path = _file(module, starts)
            if path is None:
                continue
            names = _bound(path)
            head = name.split(".")[0]
            if names is not None and head not in names:
                found.append(f"{key}: {side}{path} defines no {head!r}{did_you_mean(head, names)}")
    return found


_ASKED = """
import importlib.machinery, json, sys
folders, *names = sys.argv[1:]
absent = []
for name in names:
    where, told = folders.split("\\n") + sys.path, ""
    for part in name.split("."):
        told = told + "." + part if told else part
        spec = importlib.machinery.PathFinder.find_spec(told, where)
        if spec is None and told not in sys.builtin_module_names:
            absent.append(name)
            break
        where = list(getattr(spec, "submodule_search_locations", None) or [])
print(json.dumps(absent))
"""
SECONDS = 20
"""In which an interpreter says what it finds: it imports nothing."""


def unfound(factories: Mapping[str, str], folders: Iterable[str], python: str) -> list[str]:
    """Factories whose module is neither in the project nor where `python` looks for modules, key by key."""
    starts = list(dict.fromkeys(folders))
    modules = {key: reference.rpartition(":")[0] for key, reference in factories.items()}
    asked = {key: module for key, module in modules.items() if _is_dotted(module) and _file(module, starts) is None}
    if not asked:
        return []
    try:
        command = [python, "-c", _ASKED, "\n".join(starts), *dict.fromkeys(asked.values())]
        told = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
        absent = json.loads(told.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        # An interpreter that cannot be asked: who runs it will say so.
        return []
    return [
        f"{key}: {factories[key]}: there is no module {module!r}, neither here nor for {python}"
        for key, module in asked.items()
        if module in absent
    ]


def _is_dotted(module: str) -> bool:
    return bool(module) and all(part.isidentifier() for part in module.split("."))


def _file(module: str, folders: Iterable[str]) -> str | None:
    inner = module.removesuffix(".py") if module.endswith(".py") else module.replace(".", os.sep)
    for folder in folders if inner else ():
        for path in (os.path.join(folder, f"{inner}.py"), os.path.join(folder, inner, "__init__.py")):
            if os.path.isfile(path):
                return path
    return None


def _bound(path: str) -> set[str] | None:
    """The names that a file binds at its top level; None where only running it can tell."""
    known = outline(path)
    names = {*known.classes, *(function.name for function in known.functions)}
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            return None
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif (
            isinstance(node, ast.FunctionDef)
            and node.name == "__getattr__"
            or isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("globals", "exec")
        ):
            return None
    return names
