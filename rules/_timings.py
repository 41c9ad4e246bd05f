"""What becomes of a time that is measured: thrown away, or told to whoever waits."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable

from tclint.events import Event
from tclint.sources.tree import own, text
from tclint.torch_facts import facts
from tclint.values import FunctionValue

_PRINTS = facts.methods("logs") | {"print", "write"}
_MEASURES = re.compile(
    r"bench|measur|profil|speed|throughput|latency|fps|perf|timing|timeit|average|avg|mean|/ ?s\b|per.?s", re.I
)


class Times:
    """What a function, or the top level of a file, does with the times that it takes; found once for all of them."""

    def __init__(self, root: ast.AST) -> None:
        self._root = root
        self._reading: dict[str, list[ast.stmt]] = {}
        """By name, the statements without others in them that read it."""
        self._cut: set[str] = set()
        """The lists whose first items are left out: `times[1:]`, `times.pop(0)`, `del times[:3]`."""
        self._later: list[tuple[int, int]] = []
        """The lines of branches that are not for the first turns: `if turn >= 3:`."""
        self._calls = sorted((node for node in own(root) if isinstance(node, ast.Call)), key=_line)
        for node in own(root):
            if isinstance(node, ast.stmt) and not hasattr(node, "body"):
                names = {n.id for n in own(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
                for name in names:
                    self._reading.setdefault(name, []).append(node)
            elif isinstance(node, ast.If) and _passes_over(node.test):
                self._later.append((node.body[0].lineno, node.body[-1].end_lineno or 0))
            elif (cut := _cut(node)) is not None:
                self._cut.add(text(cut))

    def are_only_told(self, event: Event, difference: ast.AST, statement: ast.stmt | None) -> bool:
        """Whether a time is printed for whoever waits, in code that does not say it measures anything: `took 3.1 s`."""
        function = event.enclosing
        around = f"{event.module.path} {function.qualname if function is not None else ''}"
        if statement is None or _MEASURES.search(around):
            return False
        told = [statement]
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            if statement.value is not difference:
                return False  # a rate, an average
            told = [each for each in self._reading.get(statement.targets[0].id, ()) if each is not statement]
        return bool(told) and all(_prints(each) and not _MEASURES.search(text(each)) for each in told)

    def pass_over_the_first(self, statement: ast.stmt | None) -> bool:
        """Whether times are kept in turns of a loop without the first."""
        if statement is None:
            return False
        names = {t.id for t in getattr(statement, "targets", ()) if isinstance(t, ast.Name)}
        for keeper in (statement, *(each for name in names for each in self._reading.get(name, ()))):
            called = keeper.value if isinstance(keeper, ast.Expr) else None
            func = called.func if isinstance(called, ast.Call) else None
            if isinstance(func, ast.Attribute) and func.attr == "append":
                later = any(first <= keeper.lineno <= last for first, last in self._later)
                if later or text(func.value) in self._cut:
                    return True
        return False

    def wait_in_helper(self, event: Event, first: int, last: int, is_wait: Callable[[ast.Call], bool]) -> bool:
        """Whether a function of the program that is called between two lines waits for the device."""
        for node in self._calls[
            bisect_left(self._calls, first, key=_line) : bisect_right(self._calls, last, key=_line)
        ]:
            called = event.ask.evaluate(node.func)
            if isinstance(called, FunctionValue):
                inside = called.function.node
                if any(isinstance(each, ast.Call) and is_wait(each) for each in own(inside)):
                    return True
        return False


def _line(node: ast.expr) -> int:
    return node.lineno


def _prints(statement: ast.stmt) -> bool:
    called = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(called, ast.Call) and text(called.func).rpartition(".")[2] in _PRINTS


def _cut(node: ast.AST) -> ast.expr | None:
    """The list of which the first items are left out."""
    if isinstance(node, ast.Subscript):
        cut = isinstance(node.ctx, ast.Del) or isinstance(node.slice, ast.Slice) and node.slice.lower is not None
        return node.value if cut else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
        return node.func.value if len(node.args) == 1 else None
    return None


def _passes_over(test: ast.expr) -> bool:
    """Whether a test is false in the first turns: `turn > 0`, `step >= warmup`, `turn`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return isinstance(test.ops[0], (ast.Gt, ast.GtE, ast.NotEq))
    return isinstance(test, ast.Name)
