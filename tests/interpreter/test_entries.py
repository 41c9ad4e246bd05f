"""How regions and eager code are entered."""

from __future__ import annotations

from small_programs import cls, function, given, interpreter

from tclint.interpreter.state import Arguments
from tclint.values import (
    INPUT,
    UNKNOWN,
    CompileSite,
    Const,
    Instance,
    Object,
    Region,
    Scalar,
    Seq,
    Tensor,
    Value,
    join,
)
from tclint.values.compiled import code_of

NET = """
    import torch
    from torch import nn
    class Net(nn.Module):
        def forward(self, x, n=2, flag=None):
            return x, n, flag
"""


def entered(found: Value) -> tuple[Value, ...]:
    assert isinstance(found, Seq)
    return found.items or ()


def test_by_signature() -> None:
    interp = interpreter(a=NET)
    forward, net = function(interp, "Net.forward"), Instance(cls(interp, "Net"))
    x, n, flag = entered(interp.entries.by_signature(forward, net, Region(None)))
    assert isinstance(x, Tensor)
    assert x.flags & INPUT
    assert x.base == "x"
    assert isinstance(n, Scalar)
    assert (n.type, n.source) == ("int", "arg")
    assert not isinstance(flag, Const)
    assert interp.results.reached == {("a.py", "Net.forward", 0)}
    assert interp.results.reach == {}


def test_eager_code_is_not_reached() -> None:
    interp = interpreter(a=NET)
    x, *_ = entered(interp.entries.by_signature(function(interp, "Net.forward"), Instance(cls(interp, "Net")), None))
    assert not (isinstance(x, Tensor) and x.flags & INPUT)
    assert interp.results.reached == set()


def test_with_calls_that_were_seen() -> None:
    interp = interpreter(a=NET)
    forward, net = function(interp, "Net.forward"), Instance(cls(interp, "Net"))
    seen: list[Arguments] = [((Tensor(), Const(1)), {}), ((Tensor(), Const(2)), {"flag": Const("on")})]
    interp.learned.calls_seen[net.key] = {(): seen}
    x, n, _ = entered(interp.entries.with_calls(forward, net, None, net))
    assert isinstance(x, Tensor)
    assert x.flags & INPUT
    assert isinstance(n, Scalar)
    assert n.ref == ("n", -1)
    assert n.source == "arg"


def test_calls_of_which_nothing_is_known_do_not_count_beside_others() -> None:
    interp = interpreter(a=NET)
    forward, net = function(interp, "Net.forward"), Instance(cls(interp, "Net"))
    interp.learned.calls_seen[net.key] = {(): [((UNKNOWN, UNKNOWN), {}), ((Tensor(), Const("s")), {})]}
    _, n, _ = entered(interp.entries.with_calls(forward, net, None, net))
    assert isinstance(n, Const)
    assert n.value == "s"


def test_calls_of_one_of_several_things_speak_for_none_of_them() -> None:
    interp = interpreter(a=NET)
    forward, net = function(interp, "Net.forward"), Instance(cls(interp, "Net"))
    site, either = CompileSite("a.py", 1, "torch.compile"), join(net, Object("somebody's"))
    runs, how = code_of(either, site)
    interp.learned.calls_seen[runs] = {how: [((Tensor(), Const("s")), {})]}
    _, n, _ = entered(interp.entries.with_calls(forward, net, site, either))
    assert not isinstance(n, Const)
    runs, how = code_of(net, site)
    interp.learned.calls_seen[runs] = {how: [((Tensor(), Const("s")), {})], (): [((Tensor(), Const("t")), {})]}
    _, n, _ = entered(interp.entries.with_calls(forward, net, site, net))
    assert isinstance(n, Const)
    assert n.value == "s"


def test_with_examples() -> None:
    interp = interpreter(a=NET)
    forward, net = function(interp, "Net.forward"), Instance(cls(interp, "Net"))
    x, n, _ = entered(interp.entries.with_arguments(forward, net, [Tensor(ndim=2)], Region(None)))
    assert isinstance(x, Tensor)
    assert x.ndim == 2
    assert x.flags & INPUT
    assert isinstance(n, Scalar)


def test_through_a_wrapper() -> None:
    interp = interpreter(
        a="""
        def deco(f):
            def inner(*args, **kwargs):
                return "wrapper", f(*args, **kwargs)
            return inner
        @deco
        def step(x):
            return "step"
        """
    )
    found = entered(interp.entries.by_signature(function(interp, "step"), None, Region(None)))
    assert [item.value for item in found if isinstance(item, Const)] == ["wrapper", "step"]


def test_what_is_disabled_is_not_entered_as_compiled() -> None:
    interp = interpreter(a="import torch\n@torch.compiler.disable\ndef f(x):\n    return 'ran'\n")
    assert given(interp, "f", region=Region(None)) is UNKNOWN
    assert interp.results.reached == set()
    ran = given(interp, "f")
    assert isinstance(ran, Const)


def test_a_site_knows_what_it_reaches() -> None:
    interp = interpreter(
        a="import torch\ndef helper(x):\n    return x\n@torch.compile\ndef step(x):\n    return helper(x)\nstep(torch.ones(1))\n"
    )
    interp.functions.value(function(interp, "step"))
    ((target, site),) = interp.learned.targets
    interp.entries.with_calls(function(interp, "step"), None, site, target)
    assert interp.results.reach == {("a.py", 4): {("a.py", "step", 0), ("a.py", "helper", 0)}}
