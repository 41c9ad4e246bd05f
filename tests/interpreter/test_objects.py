"""Objects of the program: how they are built, what they hold, what eager code makes of them."""

from __future__ import annotations

from pathlib import Path

from small_programs import cls, given, interpreter

from tclint.api import lint
from tclint.interpreter.machine import Interpreter
from tclint.interpreter.options import Options
from tclint.values import NONE, SPARSE, UNKNOWN, Compiled, Const, Instance, Object, Region, Scalar, Seq, Tensor, Value


def items(interp: Interpreter, name: str = "f") -> tuple[Value, ...]:
    found = given(interp, name)
    assert isinstance(found, Seq)
    assert found.items is not None
    assert interp.results.failures == []
    return found.items


def test_what_a_constructor_sets() -> None:
    interp = interpreter(
        a="""
        import torch
        from torch import nn
        class Net(nn.Module):
            shared = [1]
            def __init__(self, width, act=nn.ReLU()):
                super().__init__()
                self.width = width
                self.act = act
                self.maybe = None
                self.setup()
                self.register_buffer("scale", torch.ones(1))
            def setup(self):
                self.layers = nn.ModuleList([nn.Linear(1, 1)])
            @property
            def twice(self):
                return "twice"
        def f():
            net = Net(3)
            return net.width, net.act, net.maybe, net.layers, net.scale, net.shared, net.twice, net.training, net.none
        """
    )
    width, act, maybe, layers, scale, shared, twice, training, none = items(interp)
    assert isinstance(width, Const)
    assert width.value == 3
    assert isinstance(act, Object)
    assert act.name == "torch.nn.ReLU"
    assert maybe is NONE
    assert isinstance(layers, Object)
    assert isinstance(scale, Tensor)
    assert isinstance(shared, Seq)
    assert isinstance(twice, Const)
    assert isinstance(training, Scalar)
    assert none is UNKNOWN


def test_objects_that_differ_by_what_runs_are_told_apart() -> None:
    interp = interpreter(
        a="""
        class Layer:
            def __init__(self, call, size):
                self.call = call
                self.size = size
        def one(): return 1
        def two(): return 2
        def f():
            return Layer(one, 3), Layer(two, 3), Layer(one, 4)
        """
    )
    first, second, third = items(interp)
    assert first.key != second.key
    assert first.key == third.key
    ((_, size), *_) = [args for args, _ in interp.learned.constructions.values()]
    assert isinstance(size, Scalar)  # 3 or 4


def test_many_ways_to_build_become_one() -> None:
    functions = "".join(f"def g{i}(): return {i}\n" for i in range(20))
    built = ", ".join(f"Layer(g{i})" for i in range(20))
    interp = interpreter(
        a=f"{functions}class Layer:\n    def __init__(self, call):\n        self.call = call\ndef f():\n    return {built}\n"
    )
    found = items(interp)
    assert len({value.key for value in found}) == 13
    assert isinstance(found[-1], Instance)
    assert found[-1].context is None


def test_dataclasses_and_tuples() -> None:
    interp = interpreter(
        a="""
        from dataclasses import dataclass
        @dataclass
        class Output:
            logits: object
            loss: object = None
            other: object = None
        def f():
            out = Output("logits", other="other")
            first, second = out
            return out.logits, out[0], out["other"], out[9], second
        """
    )
    logits, first, other, ninth, second = items(interp)
    assert [v.value for v in (logits, first, other, second) if isinstance(v, Const)] == ["logits"] * 2 + ["other"] * 2
    assert ninth is UNKNOWN


def test_what_python_asks_of_an_object() -> None:
    interp = interpreter(
        a="""
        class Thing:
            def __call__(self, x): return "called"
            def __getitem__(self, i): return "item"
            def __iter__(self): return iter(["each"])
            def base(self): return "base"
        class Child(Thing):
            def base(self): return super().base()
        def f():
            thing = Child()
            for each in thing:
                pass
            return thing(1), thing[2], each, thing.base(), isinstance(thing, Thing), isinstance(thing, list)
        """
    )
    called, item, each, base, is_thing, is_list = items(interp)
    assert [v.value for v in (called, item, base, is_thing, is_list) if isinstance(v, Const)] == [
        "called",
        "item",
        "base",
        True,
        False,
    ]
    assert each.key == Const("each").key or isinstance(each, Scalar)


def test_tokenizers_are_known_by_configured_names() -> None:
    source = """
        class Net:
            def __init__(self, given):
                self.my_tok = given
        def f(given):
            net = Net(given)
            return net.my_tok, net.tokenizer
    """
    plain, named = items(interpreter(a=source))
    assert plain is UNKNOWN
    assert isinstance(named, Object)
    configured, other = items(interpreter(Options(tokenizers=("*_tok",)), a=source))
    assert isinstance(configured, Object)
    assert configured.name == "tokenizer"
    assert other is UNKNOWN


EAGER = """
    import torch
    from torch import nn
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 1.0
            self.drop = nn.Dropout(0.1)
            self.head = nn.Linear(2, 2)
        def forward(self, x):
            return x
        def own(self):
            self.counter = torch.seed()
"""


def rebound(body: str) -> set[str]:
    interp = interpreter(a=EAGER + "\n    def f(n):\n" + "".join(f"        {line}\n" for line in body.split("; ")))
    given(interp, "f")
    assert interp.results.failures == []
    return {name for _, _, name in interp.learned.rebound}


def test_what_eager_code_changes() -> None:
    assert rebound("net = Net(); net.scale = torch.seed()") == {"scale"}
    assert rebound("net = Net(); net.drop.p = float(n)") == {"drop"}
    assert rebound("net = Net(); net.head = nn.Linear(2, n)") == {"head"}
    assert rebound("net = Net(); net.own()") == {"counter"}  # its own method, but called from outside


def test_what_is_no_change() -> None:
    assert rebound("net = Net()") == set()  # what a constructor binds
    assert rebound("net = Net(); scale = 2") == set()


def test_compiled_callables_stored_late() -> None:
    interp = interpreter(
        a=EAGER
        + """
    def f():
        net = Net()
        net.fast = torch.compile(net.forward)
        return net.fast, 1
    """
    )
    fast, _ = items(interp)
    assert isinstance(fast, Compiled)
    assert interp.learned.late[("a.py", "Net")].keys() == {"fast"}


def test_a_constructor_that_builds_its_own_class() -> None:
    interp = interpreter(
        a="""
        class Node:
            def __init__(self, depth):
                self.child = Node(depth - 1) if depth else None
                self.depth = depth
        def f():
            return Node(3).child.child.depth, 0
        """
    )
    depth, _ = items(interp)
    assert isinstance(depth, Const)
    assert depth.value == 1
    assert cls(interp, "Node") in interp.learned.construction_count


_PARTS = """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x)


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.kept = []

    def encode(self, x):
        return self.encoder(x)

    def step(self, x):
        self.kept.append(self.encode(x))


class Fast(Base):
    def __init__(self):
        super().__init__()
        self._compile_all()

    def _compile_all(self):
        self.encoder.forward = torch.compile(self.encoder.forward, mode="reduce-overhead")

    def encode(self, x):
        return self.encoder(x).clone()
"""


def test_what_a_class_does_to_its_parts_is_not_done_to_those_of_its_base(tmp_path: Path) -> None:
    """`Fast` compiles its encoder and copies what it gives; `Base.encode` runs for objects whose encoder is eager."""
    (tmp_path / "m.py").write_text(_PARTS)
    assert lint(["."], cwd=tmp_path, isolated=True, select=["TCL301"]).findings == ()
    raw = _PARTS.replace("    def encode(self, x):\n        return self.encoder(x).clone()\n", "")
    (tmp_path / "m.py").write_text(raw)
    assert 24 in [finding.line for finding in lint(["."], cwd=tmp_path, isolated=True, select=["TCL301"]).findings]


def test_objects_hold_what_they_were_made_from() -> None:
    """Which parameters get a tensor decides what an object holds, whichever of its class is made first."""
    interp = interpreter(
        a="""
        import torch
        class Held:
            def __init__(self, dense=None, places=None):
                self.value = dense if dense is not None else torch.sparse_coo_tensor(places, torch.ones(4), (4, 4))
        def f():
            first = Held(places=torch.zeros(2, 4))
            second = Held(torch.ones(3))
            return first.value, second.value, Held(dense=torch.ones(3)).value
        """
    )
    found = given(interp, "f", region=Region(None))
    assert isinstance(found, Seq)
    assert found.items is not None
    assert [isinstance(each, Tensor) and bool(each.flags & SPARSE) for each in found.items] == [True, False, False]
