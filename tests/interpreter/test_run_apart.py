"""What constructors give objects, found out apart: once for all, and as if each had found it out himself."""

from __future__ import annotations

import pytest
from small_programs import cls, function, interpreter, module

from tclint.events.dispatch import Dispatcher
from tclint.interpreter import run_apart
from tclint.interpreter.attributes import InstanceAttributes
from tclint.interpreter.functions import Functions
from tclint.interpreter.machine import Interpreter
from tclint.interpreter.run_apart import Apart
from tclint.program import Function, reads
from tclint.values import Const, FunctionValue, Instance, Region, Scalar, Value

LAYERS = """
    from torch import nn
    from b import WIDTHS, chosen

    class Layer(nn.Module):
        def __init__(self, kind, width):
            super().__init__()
            self.kind = kind
            self.act = chosen(kind)
            self.width = WIDTHS[kind]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Layer("relu", 8)
            self.name = self.first.kind

        def forward(self, x):
            return self.first.act(x)

    class Other(Net):
        def __init__(self):
            super().__init__()
            self.second = Layer("relu", 16)

        def forward(self, x):
            return self.second.act(x) + self.first.act(x)
"""
HELPERS = """
    from torch import nn

    WIDTHS = {"relu": 8}

    def chosen(kind):
        if kind == "relu":
            return nn.ReLU()
        return nn.GELU()
"""


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The classes whose constructors are run."""
    found: list[str] = []
    original = InstanceAttributes.built

    def listen(self: InstanceAttributes, instance: Instance) -> dict[str, Value]:
        found.append(instance.cls.name)
        return original(self, instance)

    monkeypatch.setattr(InstanceAttributes, "built", listen)
    return found


def fresh(apart: Apart, teacher: Interpreter) -> Interpreter:
    return teacher.fresh(Dispatcher([]), apart)


def attributes(interp: Interpreter, name: str) -> dict[str, Value]:
    return interp.instance_attributes.of(Instance(cls(interp, name)))


def ran(interp: Interpreter, name: str) -> None:
    """As a part runs it: compiled, with what its signature says."""
    interp.entries.by_signature(function(interp, f"{name}.forward"), Instance(cls(interp, name)), Region(None))


def test_a_constructor_runs_once_for_all(built: list[str]) -> None:
    teacher = interpreter(a=LAYERS, b=HELPERS)
    apart = Apart(teacher)
    first, second = attributes(fresh(apart, teacher), "Net"), attributes(fresh(apart, teacher), "Net")
    assert built.count("Net") == 1
    assert {name: value.key for name, value in first.items()} == {name: value.key for name, value in second.items()}
    assert first is not second, "what one of them stores is nothing to the other"


def test_it_is_what_whoever_asks_finds_out() -> None:
    teacher = interpreter(a=LAYERS, b=HELPERS)
    mine = attributes(teacher.fresh(Dispatcher([])), "Other")
    found = attributes(fresh(Apart(teacher), teacher), "Other")
    assert {name: value.key for name, value in mine.items()} == {name: value.key for name, value in found.items()}
    assert found["name"].key == Const("relu").key


def test_whoever_asks_has_read_what_was_read_for_it() -> None:
    def read(*before: str) -> object:
        teacher = interpreter(a=LAYERS, b=HELPERS)
        apart = Apart(teacher)
        for name in before:
            ran(fresh(apart, teacher), name)
        with teacher.program.watched() as touched:
            ran(fresh(apart, teacher), "Other")
        return reads(touched)

    assert read() == read("Other") == read("Net") == read("Net", "Other")


def test_whoever_asks_knows_how_the_parts_are_built() -> None:
    teacher = interpreter(a=LAYERS, b=HELPERS)
    apart = Apart(teacher)
    known = []
    for _ in range(2):
        interp = fresh(apart, teacher)
        attributes(interp, "Other")
        known.append([instance.cls.name for instance in interp.objects.constructions.constructed.values()])
        assert ("a.py", "Layer", "width") in interp.learned.made_with
        layer = next(iter(interp.objects.constructions.constructed.values()))
        assert isinstance(interp.instance_attributes.of(layer)["act"], Value)
    assert known[0] == known[1]
    assert "Layer" in known[0]
    assert not teacher.learned.constructions


def test_where_a_number_was_computed_does_not_matter(built: list[str]) -> None:
    teacher = interpreter(
        a="""
        class Layer:
            def __init__(self, width):
                self.width = width

        class Net:
            def __init__(self, n: int):
                self.layer = Layer(n + 1)

        class Other:
            def __init__(self, n: int):
                self.layer = Layer(n * 2)
        """
    )
    apart = Apart(teacher)
    for name in ("Net", "Other"):
        interp = fresh(apart, teacher)
        layer = attributes(interp, name)["layer"]
        assert isinstance(layer, Instance)
        assert isinstance(interp.instance_attributes.of(layer.identified(0))["width"], Scalar)
    assert sorted(built) == ["Layer", "Net", "Other"]


def test_functions_that_constructors_call_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Function] = []
    original = Functions.interpreted

    def listen(self: Functions, frame: object, value: FunctionValue) -> Value:
        calls.append(value.function)
        return original(self, frame, value)  # type: ignore[arg-type]

    monkeypatch.setattr(Functions, "interpreted", listen)
    teacher = interpreter(a=LAYERS, b=HELPERS)
    apart = Apart(teacher)
    for width in (8, 16, 32):
        interp = fresh(apart, teacher)
        layer = Instance(cls(interp, "Layer"), width)
        interp.learned.constructions[layer.key] = ([Const("relu"), Const(width)], {})
        assert interp.instance_attributes.of(layer)["act"].key
    assert [each.name for each in calls] == ["chosen"]


@pytest.mark.parametrize("first", ["Parent", "Child"])
def test_what_leads_back_to_itself_is_found_out_where_it_is_asked(first: str) -> None:
    source = """
        class Parent:
            def __init__(self):
                self.child = Child()
                self.size = make().size

        class Child:
            def __init__(self):
                self.size = other().size

        def make():
            return Child()

        def other():
            return Parent()
    """
    alone = interpreter(a=source)
    apart = Apart(alone)
    attributes(fresh(apart, alone), first)
    then = {name: value.key for name, value in attributes(fresh(apart, alone), "Parent").items()}
    teacher = interpreter(a=source)
    assert then == {name: v.key for name, v in attributes(fresh(Apart(teacher), teacher), "Parent").items()}


def test_what_has_no_end_is_found_out_where_it_is_asked() -> None:
    teacher = interpreter(
        a="""
        class Left:
            def __init__(self, n):
                self.n = n
                self.right = Right(n + 1)
                self.told = self.right.told

        class Right:
            def __init__(self, n):
                self.left = Left(n + 1)
                self.told = self.left.n

        class Net:
            def __init__(self):
                self.left = Left(1)
                self.told = self.left.told
                self.width = 3
        """
    )
    held = attributes(fresh(Apart(teacher), teacher), "Net")
    assert held["width"].key == Const(3).key
    assert held["told"].key == attributes(teacher.fresh(Dispatcher([])), "Net")["told"].key


def test_what_compiles_something_is_run_where_it_is_asked() -> None:
    teacher = interpreter(
        a="""
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.step = torch.compile(torch.nn.Linear(2, 2))
        """
    )
    apart = Apart(teacher)
    for _ in range(2):
        interp = fresh(apart, teacher)
        attributes(interp, "Net")
        assert [site.line for site in interp.learned.sites.values()] == [7]
    assert not teacher.learned.sites


def test_an_object_that_was_changed_is_the_business_of_the_walk() -> None:
    teacher = interpreter(
        a="""
        class Config:
            def __init__(self, act):
                self.act = act

        class Layer:
            def __init__(self, config):
                self.act = config.act

        class Net:
            def __init__(self):
                config = Config("relu")
                self.first = Layer(config)
                self.told = self.first.act
                other = Config("relu")
                other.act = "gelu"
                self.second = Layer(other)
                self.second_told = self.second.act
        """
    )
    held = attributes(fresh(Apart(teacher), teacher), "Net")
    assert [held[name].key for name in ("told", "second_told")] == [Const("relu").key, Const("gelu").key]
    assert module(teacher).path == "a.py"


def test_what_one_part_alone_asked_for_is_let_go_and_found_out_again(built: list[str]) -> None:
    teacher = interpreter(a=LAYERS, b=HELPERS)
    apart = Apart(teacher)

    def part(*names: str) -> list[object]:
        apart.begin()
        interp = fresh(apart, teacher)
        return [{name: value.key for name, value in attributes(interp, each).items()} for each in names]

    first = part("Net", "Other")
    assert part("Net") == first[:1]
    assert (built.count("Net"), built.count("Other")) == (1, 1)
    for _ in range(run_apart._KEPT_PARTS):
        part()
    assert part("Net", "Other") == first
    assert (built.count("Net"), built.count("Other")) == (1, 2), "two parts had asked for the first one"


def test_a_function_that_looks_into_a_table_of_its_file_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the comprehension binds at the top level is nobody's object."""
    calls: list[str] = []
    original = Functions.interpreted

    def listen(self: Functions, frame: object, value: FunctionValue) -> Value:
        calls.append(value.function.name)
        return original(self, frame, value)  # type: ignore[arg-type]

    monkeypatch.setattr(Functions, "interpreted", listen)
    teacher = interpreter(
        a="""
        from torch import nn

        KINDS = (nn.ReLU, nn.GELU)
        BY_NAME = {kind.__name__.lower(): kind for kind in KINDS}

        def chosen(name):
            return BY_NAME.get(name, nn.ReLU)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.act = chosen("gelu")()

        class Other(nn.Module):
            def __init__(self):
                super().__init__()
                self.act = chosen("gelu")()
        """
    )
    apart = Apart(teacher)
    keys = {attributes(fresh(apart, teacher), name)["act"].key for name in ("Net", "Other")}
    assert len(keys) == 1
    assert calls == ["chosen"]
