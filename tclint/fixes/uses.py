"""Where a function binds and reads its names, found once for all the fixes in it."""

from __future__ import annotations

import ast
import functools
from collections import deque
from collections.abc import Iterator

from tclint.sources.tree import below


class Uses:
    """The names of one function: who binds them, who reads them, what stands around."""

    def __init__(self, function: ast.AST | None) -> None:
        self.bound: set[str] = set()
        """Every name the function binds, by assignment, as a parameter or by an import."""
        self.imports: set[str] = set()
        """The modules it imports under their own name."""
        self.may_be_none: set[str] = set()
        """The names bound to None somewhere, and parameters that are None by default."""
        self._stores: dict[str, list[ast.AST]] = {}
        self._reads: dict[str, list[ast.Name]] = {}
        self._parents: dict[ast.AST, ast.AST] = {}
        waiting = deque([function] if function is not None else ())
        while waiting:
            node = waiting.popleft()
            inner = below(node)
            waiting += inner
            for child in inner:
                self._parents[child] = node
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    self._reads.setdefault(node.id, []).append(node)
                else:
                    self._stores.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.arg):
                self._stores.setdefault(node.arg, []).append(node)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self.bound |= {(a.asname or a.name).partition(".")[0] for a in node.names}
                if isinstance(node, ast.Import):
                    self.imports |= {a.name.partition(".")[0] for a in node.names if a.asname is None}
            elif isinstance(node, ast.Assign):
                if _is_none(node.value):
                    self.may_be_none |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            elif isinstance(node, ast.arguments):
                self.may_be_none |= _none_by_default(node)
        self.bound |= self._stores.keys()

    def stores(self, name: str) -> list[ast.AST]:
        """The nodes that bind a name: names in store context, and arguments."""
        return self._stores.get(name, [])

    def reads(self, name: str) -> Iterator[tuple[ast.Name, list[ast.AST]]]:
        """Every read of a name, with what encloses it, outermost first."""
        for node in self._reads.get(name, ()):
            yield node, self.around(node)

    def around(self, node: ast.AST) -> list[ast.AST]:
        """What encloses a node of the function, outermost first."""
        above: list[ast.AST] = []
        outer = self._parents.get(node)
        while outer is not None:
            above.append(outer)
            outer = self._parents.get(outer)
        above.reverse()
        return above


@functools.lru_cache(maxsize=8)  # fixes come file by file, function by function
def uses_in(function: ast.AST | None) -> Uses:
    """The uses of names in a function; none where there is no function."""
    return Uses(function)


def _none_by_default(arguments: ast.arguments) -> set[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {argument.arg for argument, default in pairs if default is not None and _is_none(default)}


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
