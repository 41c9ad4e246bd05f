"""Functions: decorators, defaults, calls, and what is remembered of them."""

from __future__ import annotations

from lintkit import within
from small_programs import function, given, interpreter, value

from tclint.values import UNKNOWN, Compiled, Const, FunctionValue, Object, Scalar, Seq, Tensor


def constants(found: object) -> list[object]:
    assert isinstance(found, Seq), found
    return [item.value if isinstance(item, Const) else item for item in found.items or ()]


def test_decorators() -> None:
    interp = interpreter(
        a="""
        import functools
        import torch
        def twice(f):
            @functools.wraps(f)
            def inner(*args):
                return f(*args)
            return inner
        @torch.compile(mode="max-autotune")
        def compiled(x): ...
        @functools.partial(torch.compile, dynamic=True)
        def partly(x): ...
        @torch.compiler.disable
        def disabled(x): ...
        @twice
        def wrapped(x): return "wrapped"
        @wrapped_by_itself
        def wrapped_by_itself(x): ...
        def f(): return wrapped(1)
        """
    )
    compiled = value(interp, "compiled")
    assert isinstance(compiled, Compiled)
    assert compiled.site.mode == "max-autotune"
    partly = value(interp, "partly")
    assert isinstance(partly, Compiled)
    assert partly.site.dynamic is True
    disabled = value(interp, "disabled")
    assert isinstance(disabled, Object)
    assert disabled.kind == "disabled"
    wrapped = value(interp, "wrapped")
    assert isinstance(wrapped, FunctionValue)
    assert wrapped.function.name == "inner"
    assert isinstance(value(interp, "wrapped_by_itself"), FunctionValue)
    found = given(interp, "f")
    assert isinstance(found, Const)
    assert found.value == "wrapped"


def test_arguments_and_defaults() -> None:
    interp = interpreter(
        a="""
        width = "width"
        def g(a, b=width, *rest, c="c", **more):
            return a, b, rest, c, more
        def f():
            return g(1, c=3)
        """
    )
    found = given(interp, "f")
    assert isinstance(found, Seq)
    a, b, rest, c, _ = found.items or ()
    assert constants(Seq("tuple", (a, b, c))) == [1, "width", 3]
    assert isinstance(rest, Seq)
    assert rest.items == ()


def test_defaults_in_a_circle() -> None:
    interp = interpreter(
        a="""
        def f(x): return x
        def f(x, y=f(1)): return x, y
        def g(a=h()): return a, "g"
        def h(a=g()): return a, "h"
        def top():
            return f("x")
        def other():
            return g()
        """
    )
    x, y = constants(given(interp, "top"))
    assert x == "x"
    assert isinstance(y, Seq)
    a, name = constants(given(interp, "other"))
    assert name == "g"
    assert isinstance(a, Seq)
    assert not interp.memo.evaluating
    assert interp.results.failures == []


def test_defaults_are_read_once() -> None:
    """Each default that calls a function with two such defaults would double the work."""
    count = 40
    text = "def f0(): return 'x'\n" + "".join(
        f"def f{i}(a=f{i - 1}(), b=f{i - 1}()): return a\n" for i in range(1, count)
    )
    interp = interpreter(a=text)
    with within(20):
        found = given(interp, f"f{count - 1}")
    assert isinstance(found, (Const, Scalar))


def test_recursion_is_unknown_and_ends() -> None:
    interp = interpreter(a="def f(n):\n    return f(n)\ndef g(n):\n    return n if n == 0 else g(n - 1)\n")
    assert given(interp, "f") is UNKNOWN
    given(interp, "g")
    assert not interp.memo.running


def test_a_result_is_remembered() -> None:
    interp = interpreter(a="import torch\ndef g(x): return torch.zeros(x)\ndef f(): return g(1), g(1), g(2)\n")
    found = given(interp, "f")
    assert isinstance(found, Seq)
    first, again, other = found.items or ()
    assert isinstance(first, Tensor)
    assert first is again
    assert first is not other


def test_one_function_that_fails_costs_itself() -> None:
    interp = interpreter(a="def g(x): return x\ndef f(): return g(1), 'f'\n")
    broken = function(interp, "g")
    broken.signature = "no signature"
    assert given(interp, "f") is UNKNOWN
    assert [failure.name for failure in interp.results.failures] == ["f"]
    assert not interp.memo.running
