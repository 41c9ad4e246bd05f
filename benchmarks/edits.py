"""What an edit costs in a large project: which files are edited, and how.

Leaves are files with models that the fewest others import, mostly none; the shared file is the one that most files import.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([\w.]+)(?:[ \t]+import[ \t]+\(?([\w, \t]*))?", re.M)


@dataclass(frozen=True)
class Chosen:
    leaves: tuple[Path, ...]
    shared: Path
    importers: int
    """Of the shared file."""


def chosen(root: Path, files: Sequence[Path]) -> Chosen:
    """Three leaves and a shared file of the project under `root`."""
    by_name = {".".join(path.relative_to(root).with_suffix("").parts): path for path in files}
    imported: Counter[Path] = Counter()
    for path in files:
        data = path.read_bytes()
        meant: set[Path] = set()
        for dotted, names in IMPORT.findall(data):
            whole = [dotted, *(dotted + b"." + name.strip() for name in names.split(b","))]
            meant.update(by_name[name] for each in whole if (name := each.decode()) in by_name)
        imported.update(meant - {path})
    shared, importers = imported.most_common(1)[0] if imported else (files[0], 0)
    models = [path for path in files if _has_model(path.read_bytes())]
    if not models:
        raise SystemExit(f"{root}: no file with a model")
    fewest = min(imported[path] for path in models)
    leaves = [path for path in models if imported[path] == fewest]
    # Neither the shortest nor the longest: those say little about the others.
    leaves.sort(key=lambda path: (path.stat().st_size, path))
    middle = len(leaves) // 2
    return Chosen(tuple(leaves[max(0, middle - 1) :][:3]), shared, importers)


def _has_model(data: bytes) -> bool:
    return b"nn.Module)" in data and b"def forward(" in data and b"torch.compile" not in data


def add_at_end(path: Path, number: int) -> None:
    """A comment: nothing else of the file changes."""
    with path.open("a") as stream:
        stream.write(f"# edited {number}\n")


def add_above(path: Path, number: int) -> None:
    """A comment above the first definition: all of them move, none changes."""
    lines = path.read_text().splitlines(keepends=True)
    body = ast.parse("".join(lines)).body
    first = next((each.lineno for each in body if not isinstance(each, (ast.Expr, ast.ImportFrom))), 1)
    lines.insert(first - 1, f"# edited {number}\n")
    path.write_text("".join(lines))


def add_function(path: Path, number: int) -> None:
    """A function at the end, of a name that nobody asks for."""
    with path.open("a") as stream:
        stream.write(f"\n\ndef edited_{number}(x):\n    return x\n")


def add_within(path: Path, number: int) -> None:
    """A statement in a function of the middle: the function changes, and what stands below it moves."""
    path.write_text(within(path.read_text(), number))


def within(text: str, number: int) -> str:
    """The text with that statement."""
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    if not functions:
        return f"{text}# edited {number}\n"
    functions.sort(key=lambda function: function.lineno)
    last = functions[len(functions) // 2].body[-1]
    lines = text.splitlines(keepends=True)
    lines.insert(last.lineno - 1, f"{' ' * last.col_offset}edited = {number}\n")
    return "".join(lines)
