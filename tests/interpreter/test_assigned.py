"""Which assignment a read sees: what Python itself sees there, in every run."""

from __future__ import annotations

import ast
import contextlib
import random
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_programs import function, interpreter

from tclint.interpreter import assigned
from tclint.program import Function

NAMES = ("a", "b")
UNBOUND = "unbound"


class Writer:
    """A function of random statements: each assignment gives another number, each read has a number of its own."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._count = 0

    def text(self) -> str:
        return "\n".join(["def f(coin, turns, see, unbound):", *self._block(1, 5), "    a = b = 0\n"])

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _block(self, depth: int, most: int) -> list[str]:
        return [line for _ in range(self._draw.randint(1, most)) for line in self._statement(depth)]

    def _statement(self, depth: int) -> list[str]:
        pad, name = "    " * depth, self._draw.choice(NAMES)
        simple: list[Callable[[], list[str]]] = [
            lambda: [f"{pad}{name} = {self._number()}"],
            lambda: self._read(pad, name),
            lambda: self._read(pad, name),
            lambda: [f"{pad}{name} = {name}_ = {self._number()}"],
            lambda: [f"{pad}coin() and ({name} := {self._number()})"],
            lambda: [f"{pad}[{name} for {name} in (1, 2)]"],
            lambda: [f"{pad}if coin(): return"],
            lambda: [f"{pad}if coin(): del {name}"],
        ]
        nested: list[Callable[[], list[str]]] = [
            lambda: [f"{pad}if coin():", *self._inner(depth), f"{pad}else:", *self._inner(depth)],
            lambda: [f"{pad}for {name} in turns():", *self._inner(depth), *self._leave(depth)],
            lambda: [f"{pad}for _ in turns():", *self._inner(depth), f"{pad}else:", *self._inner(depth)],
            lambda: [f"{pad}while see(0, 0) or coin():", *self._inner(depth), *self._leave(depth)],
            lambda: [f"{pad}try:", *self._inner(depth), f"{pad}finally:", *self._inner(depth)],
            lambda: [f"{pad}try:", *self._inner(depth), f"{pad}except ValueError as {name}:", *self._inner(depth)],
            lambda: [f"{pad}match coin():", f"{pad}    case {name} if coin():", *self._inner(depth + 1)],
        ]
        return self._draw.choice(simple if depth > 3 else simple + nested)()

    def _inner(self, depth: int) -> list[str]:
        return self._block(depth + 1, 3)

    def _leave(self, depth: int) -> list[str]:
        pad = "    " * (depth + 1)
        return [f"{pad}if coin(): {self._draw.choice(('break', 'continue'))}"]

    def _read(self, pad: str, name: str) -> list[str]:
        number = self._number()
        return [
            f"{pad}try:",
            f"{pad}    see({number}, {name})",
            f"{pad}except UnboundLocalError:",
            f"{pad}    unbound({number})",
        ]


def _runs(text: str, seed: int) -> dict[int, set[object]]:
    """What each read saw in forty runs."""
    found: dict[int, set[object]] = defaultdict(set)
    scope: dict[str, Callable[..., object]] = {}
    exec(compile(text, "random", "exec"), scope)  # type: ignore[arg-type]
    draw = random.Random(seed)
    for _ in range(40):
        left = 60

        def coin() -> bool:
            nonlocal left
            left -= 1
            if draw.random() < 0.08:
                raise ValueError
            return left > 0 and draw.random() < 0.5

        def turns() -> Iterator[object]:
            return iter([object() for _ in range(draw.randint(0, 2))])

        with contextlib.suppress(ValueError, UnboundLocalError):
            scope["f"](coin, turns, lambda number, value: found[number].add(value), lambda n: found[n].add(UNBOUND))
    return found


def _reads(read: Function) -> Iterator[tuple[int, ast.Name]]:
    for node in ast.walk(read.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "see":
            number, value = node.args
            if isinstance(number, ast.Constant) and isinstance(value, ast.Name):
                yield number.value, value  # type: ignore[misc]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_a_read_sees_what_python_sees(seed: int) -> None:
    text = Writer(random.Random(seed)).text()
    runs, read = _runs(text, seed), function(interpreter(a=text), "f")
    for number, node in _reads(read):
        told = assigned.seen(read, node, node.id)
        if told is False:
            assert runs[number] <= {UNBOUND}, (number, text)
        elif isinstance(told, assigned.Binding) and isinstance(told.value, ast.Constant):
            assert runs[number] <= {told.value.value}, (number, text)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("x = 1\n    see(1, x)", 1),
        ("x = 1\n    if c:\n        see(1, x)", 1),
        ("x = 1\n    if c:\n        x = 2\n        see(1, x)", 2),
        ("if c:\n        x = 2\n    see(1, x)", None),
        ("x = 1\n    for y in c:\n        see(1, x)", 1),
        ("x = 1\n    for y in c:\n        see(1, x)\n        x = 2", None),
        ("x = 1\n    for y in c:\n        x = 2\n        see(1, x)", 2),
        ("x = 1\n    for x in c:\n        see(1, x)", None),
        ("x = 1\n    for x in c:\n        pass\n    see(1, x)", None),
        ("x = 1\n    while see(1, x):\n        x = 2", None),
        ("x = 1\n    while c:\n        x = 2\n    see(1, x)", None),
        ("x = 1\n    match c:\n        case x:\n            see(1, x)", None),
        ("x = 1\n    def g():\n        nonlocal x\n        x = 2\n    g()\n    see(1, x)", None),
        ("x = 1\n    y = [see(1, x) for x in c]", None),
        ("x = 1\n    x.add_(2)\n    see(1, x)", None),
    ],
)
def test_the_assignment_that_decides(body: str, value: int | None) -> None:
    read = function(interpreter(a=f"def f(c, see):\n    {body}\n"), "f")
    ((_, node),) = _reads(read)
    told = assigned.seen(read, node, node.id)
    found = told.value if isinstance(told, assigned.Binding) else told
    assert (found.value if isinstance(found, ast.Constant) else found) == value


def test_the_bindings_that_a_read_is_sure_to_see() -> None:
    interp = interpreter(
        a="""
        def f(flag, make, turns):
            x = make(1)
            if flag:
                x = make(2)
                x = make(3)
            else:
                y = make(4)
            for _ in turns:
                x = make(5)
            if flag:
                x = make(6)
                y = x
            return x, y
        """
    )
    target = function(interp, "f")
    reads = [n for n in ast.walk(target.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]

    def seen(line: int, name: str) -> list[str]:
        read = next(n for n in reads if n.id == name and n.lineno - target.node.lineno == line)
        found = assigned.reaching(target, read, name)
        return [ast.unparse(each.value) for each in found if each.value is not None]

    assert seen(11, "x") == ["make(6)"]
    # What is bound again in its own block does not get out of it; what another arm binds may not have been bound.
    assert seen(12, "x") == ["make(6)", "make(5)", "make(3)", "make(1)"]
    assert seen(12, "y") == ["x", "make(4)"]
