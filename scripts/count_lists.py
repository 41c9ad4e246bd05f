"""Names of torch, numpy and the standard library that are written out in lists of rules and interpreter.

    python scripts/count_lists.py          # how many, by file
    python scripts/count_lists.py --names  # and which

What torch does is data (`tclint/torch_facts`): a rule names an effect, the facts name the functions. Counted are the
strings of literal lists, tuples, sets, of texts that are split, and of the keys of dicts, of three or more, where they are
names that the facts know. `__all__`, `__slots__` and a rule's `graph_breaks` are left out.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

FOLDERS = ("rules", "tclint/interpreter")
LEFT_OUT = frozenset({"__all__", "__slots__", "graph_breaks"})
FEWEST = 3


@functools.cache
def known() -> frozenset[str]:
    """The last parts of all names in the table, and the names of the standard library's modules."""
    from tclint.torch_facts import facts

    keys = (key.replace("#", ".").replace("@", ".") for key in facts.table().names)
    return frozenset(part for key in keys for part in (key, key.rpartition(".")[2])) | sys.stdlib_module_names


def is_name(text: str) -> bool:
    """Whether a string is, or ends in, a name that the facts know."""
    return text.strip(".*?").rpartition(".")[2] in known()


def lists(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Line and names of each literal list in a file."""
    left_out = {id(inner) for node in ast.walk(tree) if _is_left_out(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) not in left_out:
            texts = _texts(node)
            if len(texts) >= FEWEST:
                yield node.lineno, [text for text in texts if is_name(text)]  # type: ignore[attr-defined]


def _is_left_out(node: ast.AST) -> bool:
    if not isinstance(node, (ast.Assign, ast.AnnAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id in LEFT_OUT for target in targets)


def _texts(node: ast.AST) -> list[str]:
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return _strings(node.elts)
    if isinstance(node, ast.Dict):
        return _strings([key for key in node.keys if key is not None])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        return [word for text in _strings([node.func.value]) for word in text.split()]
    return []


def _strings(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def count() -> dict[str, list[tuple[int, list[str]]]]:
    """For each file, its lists of names."""
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return {
        str(path.relative_to(ROOT)): [found for found in lists(ast.parse(path.read_text(encoding="utf-8"))) if found[1]]
        for path in paths
    }


def main() -> None:
    found = count()
    totals = {path: sum(len(names) for _, names in each) for path, each in found.items()}
    for path in sorted(totals, key=lambda path: -totals[path]):
        if totals[path]:
            print(f"{totals[path]:5} {path}")
            for line, names in found[path] if "--names" in sys.argv else ():
                print(f"      {line}: {' '.join(names)}")
    print(f"{sum(totals.values()):5} in all")


if __name__ == "__main__":
    main()
