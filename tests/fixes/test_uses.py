"""Names in a function: who binds them, who reads them."""

from __future__ import annotations

import ast

from tclint.fixes.uses import uses_in

FUNCTION = ast.parse(
    """
def f(a, b=None, *, c=1, d=None, **e):
    import math, os.path as p
    from json import loads
    x = a + 1
    if b:
        x = None
        y = [x for z in a]
    def g(w):
        return x
    del y
    return x
"""
).body[0]


def test_what_a_function_binds() -> None:
    uses = uses_in(FUNCTION)
    assert uses.bound == {*"abcdewxyz", "math", "p", "loads"}
    assert uses.imports == {"math"}
    assert uses.may_be_none == {"b", "d", "x"}
    assert [type(n).__name__ for n in uses.stores("y")] == ["Name", "Name"]
    assert [type(n).__name__ for n in uses.stores("w")] == ["arg"]
    assert uses.stores("nothing") == []


def test_reads_come_with_what_encloses_them() -> None:
    reads = {node.lineno: [type(n).__name__ for n in above] for node, above in uses_in(FUNCTION).reads("x")}
    assert reads == {
        8: ["FunctionDef", "If", "Assign", "ListComp"],
        10: ["FunctionDef", "FunctionDef", "Return"],
        12: ["FunctionDef", "Return"],
    }
    assert list(uses_in(FUNCTION).reads("nothing")) == []


def test_without_a_function_there_are_no_uses() -> None:
    uses = uses_in(None)
    assert (uses.bound, uses.imports, list(uses.reads("x"))) == (set(), set(), [])
