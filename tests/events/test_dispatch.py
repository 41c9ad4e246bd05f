"""The dispatcher alone: who hears what, what is kept, what a rule that throws costs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tclint.events import Branch, Call, Event, ModuleEvent
from tclint.events.dispatch import Dispatcher
from tclint.model.finding import Confidence, Finding
from tclint.program import Module, Program
from tclint.ruleset.rule import Rule
from tclint.values import UNKNOWN, Const, Evidence, Region, Tensor, Value

PROGRAM = Program.build([("m.py", "/m.py", b"x = 1\ny = 2\n", True)])


@dataclass
class Frame:
    """As much of a frame as a finding needs."""

    module: Module = field(default_factory=lambda: PROGRAM.modules[0])
    region: Region | None = None
    function: Any = None
    blocks: tuple[str, ...] = ()
    rare: bool = False
    conditions: tuple[Any, ...] = ()

    def chain(self, line: int) -> tuple[Any, ...]:
        return ()


class Listener(Rule):
    """Listens."""

    code, name = "T1", "listener"
    scope = "any"

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Event] = []

    def on_branch(self, event: Branch) -> Iterator[Finding]:
        self.heard.append(event)
        yield self.finding(event, f"at {len(self.heard)}", confidence=Confidence.LOW)


class Seen(Listener):
    code, name, scope = "T2", "seen", "seen"
    subjects = {"branch": (Tensor,)}


class Compiled(Listener):
    code, name, scope = "T3", "compiled", "region"


class Eager(Listener):
    code, name, scope = "T4", "eager", "eager"


class Caller(Rule):
    """Calls."""

    code, name, scope = "T5", "caller", "any"
    calls = ("torch.compile", "random.*")

    def on_call(self, event: Call) -> Iterator[Finding]:
        yield self.finding(event, event.name)


class Whole(Rule):
    """Files."""

    code, name, scope = "T6", "whole", "region"

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        yield self.finding(event, "a file", node=event.node.body[1])


def branch(value: Value = UNKNOWN, node: ast.AST | None = None, **frame: Any) -> Branch:
    where = node if node is not None else ast.parse("x").body[0]
    return Branch(Frame(**frame), where, value, "if")  # type: ignore[arg-type]


def codes(dispatcher: Dispatcher, region: Region | None, kind: type) -> list[str]:
    return [rule.code for rule, _ in dispatcher.handlers(Branch, region, kind)]


def test_scope_and_subject_decide_who_hears_an_event() -> None:
    dispatcher = Dispatcher([Listener(), Seen(), Compiled(), Eager(), Caller()])
    assumed, seen = Region(None), Region(None, Evidence("f", (), ()))
    assert codes(dispatcher, None, Tensor) == ["T1", "T4"]
    assert codes(dispatcher, assumed, Tensor) == ["T1", "T3"]
    assert codes(dispatcher, seen, Tensor) == ["T1", "T2", "T3"]
    assert codes(dispatcher, seen, Const) == ["T1", "T3"]


def test_calls_are_named_in_full_or_by_a_prefix() -> None:
    dispatcher = Dispatcher([Listener(), Caller()])
    for name, wanted in (("torch.compile", True), ("torch.compiler", False), ("random.random", True), ("rand", False)):
        assert [rule.code for rule, _ in dispatcher.call_handlers(name, None)] == (["T5"] if wanted else [])


def test_a_general_rule_leaves_what_others_own() -> None:
    class General(Caller):
        general = True

    rule = General()
    rule.left_to_others = ("random.seed", "torch.*")
    dispatcher = Dispatcher([rule])
    heard = [name for name in ("random.seed", "random.random", "torch.compile") if dispatcher.call_handlers(name, None)]
    assert heard == ["random.random"]
    assert rule.another().left_to_others == rule.left_to_others


def test_whole_files_go_to_the_rules_that_asked_for_them_whatever_their_scope() -> None:
    dispatcher = Dispatcher([Whole(), Listener()])
    assert dispatcher.module_handlers(["T1"]) == []
    handlers = dispatcher.module_handlers(["T1", "T6"])
    assert [rule.code for rule, _ in handlers] == ["T6"]
    dispatcher.dispatch(handlers, ModuleEvent(Frame()))  # type: ignore[arg-type]
    ((finding, rule, event),) = dispatcher.found.values()
    assert (finding.line, finding.function, rule.code) == (2, "<module>", "T6")
    assert isinstance(event, Event)
    assert event.kind == "module"


def test_the_surest_finding_of_a_place_is_kept_and_otherwise_the_first() -> None:
    rule = Listener()
    dispatcher = Dispatcher([rule])
    where = ast.parse("x").body[0]
    for confidence in (Confidence.LOW, Confidence.MEDIUM, Confidence.LOW, Confidence.MEDIUM):
        event = branch(node=where)
        dispatcher.record(rule.finding(event, f"{len(dispatcher.found)}", confidence=confidence), rule, event)
    ((finding, _, _),) = dispatcher.found.values()
    assert (finding.confidence, finding.message) == (Confidence.MEDIUM, "1")


def test_what_only_an_unusual_run_reaches_is_not_sure() -> None:
    rule = Listener()
    usual = rule.finding(branch(), "m", confidence=Confidence.HIGH)
    rule.by_place = {}
    rare = rule.finding(branch(rare=True), "m", confidence=Confidence.HIGH)
    rule.by_place = {}
    handler = rule.finding(branch(blocks=("try", "except")), "m", confidence=Confidence.HIGH)
    assert [f.confidence.value for f in (usual, rare, handler)] == ["high", "low", "low"]


def test_forgetting_keeps_what_the_rules_saw_and_restarting_does_not() -> None:
    rule = Listener()
    dispatcher = Dispatcher([rule])
    rule.target = (2, 4)
    dispatcher.dispatch(dispatcher.handlers(Branch, None, Tensor), branch())
    assert dispatcher.found
    assert rule.by_place
    dispatcher.forget()
    assert not dispatcher.found
    assert not rule.by_place
    assert len(rule.heard) == 1
    dispatcher.restart()
    assert rule.heard == []
    assert rule.target == (2, 4)


def test_a_rule_that_throws_costs_one_problem_for_each_file() -> None:
    class Broken(Listener):
        def on_branch(self, event: Branch) -> Iterator[Finding]:
            raise ValueError("oh")

    sound = Listener()
    dispatcher = Dispatcher([Broken(), sound])
    for _ in range(3):
        dispatcher.dispatch(dispatcher.handlers(Branch, None, Tensor), branch())
    (problem,) = dispatcher.problems
    assert problem.code == "TCL905"
    assert "ValueError: oh" in problem.message
    assert len(sound.heard) == 3
