"""What an interpreter remembers: for how long, and what it hands on."""

from __future__ import annotations

import ast
import dataclasses

import pytest
from interpreted import Interpreted
from small_programs import cls, function, given, interpreter, module, value

from tclint.events.broken import Break
from tclint.events.dispatch import Dispatcher
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.machine import Interpreter
from tclint.interpreter.state import Memo, SiteKnowledge
from tclint.values import Const, Instance, Region

TRAINING = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.width = width

        def forward(self, x):
            return x * self.width

    def train():
        net = Net(3)
        step = torch.compile(net)
        step(torch.zeros(2))
        net.width = torch.seed()
        net.inner = step

    def in_place():
        other = Net(4)
        other.compile()

    def closing(n):
        @torch.compile
        def inner(x):
            return x + n
        return inner
"""


def told() -> Interpreter:
    interp = interpreter(a=TRAINING)
    for name in ("train", "in_place", "closing"):
        given(interp, name)
    interp.learned.closures[function(interp, "train")] = {"n": Const(1)}
    return interp


def test_what_sites_tell() -> None:
    learned = told().learned
    assert [site.line for site in learned.sites.values()] == [15, 22, 25]
    assert len(learned.targets) == 3
    assert len(learned.compiled_instances) == 1
    ((key, target),) = learned.callees.items()
    assert isinstance(target, Instance)
    assert target.cls.name == "Net"
    assert len(learned.calls_seen[key]) == 1
    assert learned.late[("a.py", "Net")].keys() == {"inner"}
    ((args, _),) = learned.constructions.values()
    assert [arg.value for arg in args if isinstance(arg, Const)] == [3]


def test_a_fresh_one_knows_what_sites_told_and_nothing_that_was_concluded() -> None:
    old = told()
    old.entries.by_signature(function(old, "Net.forward"), Instance(cls(old, "Net")), Region(None))
    assert old.memo.results
    assert old.results.reached
    new = old.fresh(Dispatcher([]))
    for part in dataclasses.fields(SiteKnowledge):
        assert getattr(new.learned, part.name) == getattr(old.learned, part.name), part.name
    assert new.text is old.text
    for name in ("results", "contexts", "attributes", "class_values", "function_values", "defaults"):
        assert not getattr(new.memo, name), name
    assert new.results.reached == set()
    assert new.results.failures == []
    assert new.emitter.quiet == 0


def containers(value: object) -> list[object]:
    """A container and those in it."""
    inner = value.values() if isinstance(value, dict) else ()
    return [value, *(each for each in inner if isinstance(each, (dict, list, set)))]


def test_what_a_fresh_one_learns_is_its_own() -> None:
    """Every part of the knowledge is copied, with the lists and sets in it."""
    old = told()
    old.learned.made_with[("a.py", "Net", "width")] = {("a.py", "f"): {1: "a.py:1"}}
    old.learned.walks["a.py"] = []
    old.learned.set_globals[("a.py", "x")] = Const(1)
    old.learned.counted.add(("global", "a.py", "", "x"))
    old.learned.frozen.add(("a.py", "Net"))
    new = old.learned.copy()
    for part in dataclasses.fields(SiteKnowledge):
        mine, theirs = getattr(old.learned, part.name), getattr(new, part.name)
        assert mine or part.name in ("rebound",), f"{part.name} is empty: nothing is tested"
        for ours, copied in zip(containers(mine), containers(theirs), strict=True):
            shared = part.name == "closures" and ours is not mine  # environments are never written to
            assert (ours is copied) is shared, part.name


def test_forgetting_leaves_nothing_concluded() -> None:
    interp = told()
    value(interp, "TRAINING")
    memo = interp.memo
    memo.shared_setup["x"] = Const(1)
    memo.effects["x"] = ()
    memo.deeds["x"] = ()
    memo.breaks["x"] = Break("m.py", 1, False)
    memo.stateful["x"] = []
    memo.attributes["x"] = {"y": Const(1)}
    memo.later["x", "y"] = Const(1)
    memo.moments["x"] = ()
    memo.under_conditions.add("x")
    memo.class_values["a.py", "Net.x"] = Const(1)
    memo.defaults[function(interp, "train"), "x"] = Const(1)
    memo.run_while_tracing[function(interp, "train")] = True
    concluded = {f.name for f in dataclasses.fields(Memo)} - {"running", "evaluating"}
    assert all(getattr(memo, name) for name in concluded), "something is empty: nothing is tested"
    memo.forget()
    assert not any(getattr(memo, name) for name in concluded)
    assert interp.learned.sites


def test_module_values_are_read_anew_after_forgetting() -> None:
    interp = interpreter(a="import torch\ndef f(x):\n    return x\nx = f(1)\n")
    before = value(interp, "x")
    assert before is value(interp, "x")
    interp.memo.forget()
    assert before is not value(interp, "x")


def test_two_interpreters_do_not_read_each_others_values() -> None:
    one = interpreter(a="def f(x):\n    return x\nx = f(1)\n")
    two = one.fresh(Dispatcher([]))
    first = value(one, "x")
    assert value(two, "x") is not first


def test_closing_lets_go() -> None:
    interp = told()
    interp.close()
    assert vars(interp) == {}


def test_silence_is_counted() -> None:
    emitter = interpreter(a="").emitter
    with emitter.silence, emitter.silence:
        assert emitter.quiet == 2
    with pytest.raises(KeyError), emitter.silence:
        raise KeyError
    assert emitter.quiet == 0


def test_asking_for_a_value_is_heard_by_nobody() -> None:
    program = Interpreted("def f(x: torch.Tensor):\n    return x\n")
    node = ast.parse("torch.ones(1).item() < 2 < torch.zeros(1)", mode="eval").body
    program.interp.evaluate_silently(program.frame(), node)
    assert program.recorder.events == []
    evaluate(program.frame(), node)
    assert program.recorder.events != []


def test_a_failure_names_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TCLINT_DEBUG", raising=False)
    interp = interpreter(a="class A:\n    def f(self):\n        pass\n")
    for what in (function(interp, "A.f"), cls(interp, "A"), module(interp)):
        with interp.results.guarded(what):
            raise ValueError("no")
    assert [(f.path, f.line, f.name) for f in interp.results.failures] == [
        ("a.py", 2, "A.f"),
        ("a.py", 1, "A"),
        ("a.py", 1, "<module>"),
    ]


def test_a_failure_is_raised_for_those_who_look_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TCLINT_DEBUG", "1")
    interp = interpreter(a="")
    with pytest.raises(ValueError, match="no"), interp.results.guarded(module(interp)):
        raise ValueError("no")
