"""Where absolute imports start from: the folders that installing the projects of a run would put on Python's path.

A script beside `src/pkg` imports `pkg` although no folder above it holds `pkg`: the project is installed, mostly editable. What
is installed is written in `pyproject.toml`, `setup.cfg` or `setup.py`, or follows from the layout.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.sources import regular
from tclint.sources.files import InputFile

if TYPE_CHECKING:
    import ast

_MOST: Final = 1_000_000
"""Bytes of a file that says how a project is installed."""

_INIT: Final = os.sep + "__init__.py"
_SAYS: Final = re.compile(r"find_packages|find_namespace_packages|package_dir")
"""What a `setup.py` holds that says where its packages lie: most say nothing, and are not parsed for it."""
_NO_PACKAGES: Final = frozenset(
    {
        "benchmark",
        "benchmarks",
        "doc",
        "docs",
        "documentation",
        "example",
        "examples",
        "scripts",
        "test",
        "tests",
        "tools",
    }
)
"""Folders beside a package that no build backend installs."""


def import_roots(files: Sequence[InputFile], declared: Sequence[str] = (), top: str = "") -> tuple[str, ...]:
    """The folders that imports of these files may start from, and single packages that are installed by themselves.

    `declared` are those that the user named; `top` is the folder above which nobody looks.
    """
    folders = {os.path.dirname(file.absolute) for file in files}
    packages = {os.path.dirname(f.absolute) for f in files if f.absolute.endswith(_INIT)}
    above: set[str] = set()
    for folder in folders:
        for up in _upwards(folder, top):
            if up in above:
                break  # and with it all that lie above it
            above.add(up)
    roots = dict.fromkeys(declared)
    for folder in sorted(above):
        if os.path.basename(folder) == "src" and folder not in packages:
            roots[folder] = None
        said = list(_said(folder))
        roots.update(dict.fromkeys(os.path.normpath(os.path.join(folder, each)) for each in said if each != "."))
        if said:
            roots.update(dict.fromkeys(_beside(folder, packages)))
    return tuple(root for root in roots if root not in packages or os.path.dirname(root) not in roots)


def _upwards(folder: str, top: str) -> Iterator[str]:
    while os.path.join(folder, "").startswith(os.path.join(top, "")):
        yield folder
        if folder == top or os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


def _beside(folder: str, packages: set[str]) -> Iterator[str]:
    """The packages that lie beside the file that says how they are installed."""
    for package in sorted(packages):
        if os.path.dirname(package) == folder and os.path.basename(package) not in _NO_PACKAGES:
            yield package


def _said(folder: str) -> Iterator[str]:
    """Relative folders that the files of a project name; `.` for the folder of every project."""
    for name, read in (("pyproject.toml", _pyproject), ("setup.cfg", _setup_cfg), ("setup.py", _setup_py)):
        try:
            data = regular.read(os.path.join(folder, name), _MOST)
            text = data.decode() if data is not None else ""
        except (OSError, UnicodeError):
            continue  # not there, or nobody could install from it
        if text:
            yield "."
            yield from read(text)


def _pyproject(text: str) -> Iterator[str]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return  # where it is tclint's own configuration, that is told
    tool = _table(data, "tool")
    setuptools = _table(tool, "setuptools")
    yield from _strings(_table(_table(setuptools, "packages"), "find").get("where"))
    yield from _strings(_table(setuptools, "package-dir").get(""))
    for package in _list(_table(tool, "poetry").get("packages")):
        yield from _strings(_table(package, "").get("from") if isinstance(package, Mapping) else None)
    wheel = _table(_table(_table(_table(tool, "hatch"), "build"), "targets"), "wheel")
    for package in _strings(wheel.get("packages")):
        yield os.path.dirname(package.rstrip("/")) or "."
    yield from _strings(wheel.get("sources"))
    yield from _strings(_table(_table(tool, "pdm"), "build").get("package-dir"))
    yield from _strings(_table(tool, "maturin").get("python-source"))
    yield from _strings(_table(_table(tool, "uv"), "build-backend").get("module-root"))
    yield from _strings(_table(_table(tool, "pytest"), "ini_options").get("pythonpath"))
    yield from _strings(_table(tool, "pyright").get("extraPaths"))
    yield from _strings(_table(tool, "ruff").get("src"))


def _setup_cfg(text: str) -> Iterator[str]:
    import configparser

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    if parser.has_option("options.packages.find", "where"):
        yield from parser.get("options.packages.find", "where").split()
    if parser.has_option("options", "package_dir"):
        for line in parser.get("options", "package_dir").splitlines():
            package, sign, folder = line.partition("=")
            if sign and not package.strip():
                yield folder.strip()


def _setup_py(text: str) -> Iterator[str]:
    if not _SAYS.search(text):
        return
    import ast

    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if name in ("find_packages", "find_namespace_packages"):
            yield from _constants([*node.args[:1], *(v for k, v in given.items() if k == "where")])
        elif name == "setup" and isinstance(given.get("package_dir"), ast.Dict):
            table = given["package_dir"]
            assert isinstance(table, ast.Dict)
            for key, value in zip(table.keys, table.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "":
                    yield from _constants([value])


def _constants(nodes: Iterable[ast.expr]) -> Iterator[str]:
    import ast

    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _table(data: Any, key: str) -> Mapping[str, Any]:
    found = data.get(key) if key and isinstance(data, Mapping) else data
    return found if isinstance(found, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _strings(value: object) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and each and "\0" not in each:
            yield each
