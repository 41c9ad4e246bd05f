"""What classes inherit, and what their bodies hold."""

from __future__ import annotations

import pytest
from small_programs import cls, function, given, interpreter

from tclint.values import ENUM, UNKNOWN, Const, FunctionValue, Object, Scalar, Seq


def test_the_order_in_which_attributes_are_looked_up() -> None:
    interp = interpreter(
        a="""
        from torch import nn
        class Base(nn.Module): ...
        class Left(Base):
            def forward(self): ...
        class Right(Base):
            def forward(self): ...
            def only(self): ...
        class Net(Left, Right): ...
        """
    )
    net = cls(interp, "Net")
    assert [c.name for c in interp.classes.mro(net)] == ["Net", "Left", "Right", "Base"]
    assert interp.classes.external_base(net) == "torch.nn.Module"
    assert interp.classes.find_method(net, "forward") is function(interp, "Left.forward")
    assert interp.classes.find_method(net, "only") is function(interp, "Right.only")
    assert interp.classes.find_method(net, "none") is None
    assert interp.classes.is_subclass(net, "Right")
    assert not interp.classes.is_subclass(cls(interp, "Left"), "Right")


@pytest.mark.parametrize(
    ("bases", "expected"),
    [
        ("nn.Module", True),
        ("nn.Linear", True),
        ("pl.LightningModule", True),
        ("torch.autograd.Function", False),
        ("object", False),
        ("from_somewhere", True),
        ("Dataset", False),
        ("paddle.nn.Layer", False),
        ("linen.Module", False),
        ("Mixin, paddle.nn.Layer", False),
        ("PaddleLayer", False),
        ("Mixin, nn.Module", True),
    ],
)
def test_is_nn_module(bases: str, expected: bool) -> None:
    interp = interpreter(
        a=f"""
        import paddle
        import torch
        import lightning as pl
        from flax import linen
        from library import Mixin
        from torch import nn
        from torch.utils.data import Dataset
        class PaddleLayer(paddle.nn.Layer): ...
        class A({bases}):
            def forward(self, x): ...
        """
    )
    assert interp.classes.is_nn_module(cls(interp, "A")) is expected


@pytest.mark.parametrize(("starts", "expected"), [("start", False), ("__init__", True)])
def test_a_service_that_is_given_a_model_is_no_module(starts: str, expected: bool) -> None:
    interp = interpreter(
        a=f"""
        import library
        class A(library.Service):
            def {starts}(self, kind):
                self.model = library.make(kind)
            def prepared(self, x):
                return x
            def forward(self, x):
                return self.model.encode(self.prepared(x))
        """
    )
    assert interp.classes.is_nn_module(cls(interp, "A")) is expected


def test_kinds_of_methods() -> None:
    interp = interpreter(
        a="""
        import functools
        class A:
            def plain(self): ...
            @property
            def prop(self): ...
            @functools.cached_property
            def cached(self): ...
            @staticmethod
            def static(): ...
            @classmethod
            def of_class(cls): ...
        """
    )
    kinds = {f.name: interp.classes.method_kind(f) for f in cls(interp, "A").methods.values()}
    assert kinds == {"plain": "", "prop": "property", "cached": "property", "static": "static", "of_class": "class"}


def test_fields_come_with_those_of_the_bases_first() -> None:
    interp = interpreter(
        a="""
        class A:
            x: int
            y: int = 1
            z = 3
        class B(A):
            w: int
            x: float
        """
    )
    assert interp.classes.fields(cls(interp, "B")) == ["x", "y", "w"]


def test_reading_a_class() -> None:
    interp = interpreter(
        a="""
        from enum import Enum
        class A:
            names = ["a"]
            size = 3
            own = own
            def method(self): ...
        class Color(Enum):
            RED = 1
        def f():
            return A.names, A.size, A.method, A.own, Color.RED
        """
    )
    found = given(interp, "f")
    assert isinstance(found, Seq)
    names, size, method, own, red = found.items or ()
    assert isinstance(names, Seq)
    assert isinstance(size, Scalar)  # whoever reads it may see another number
    assert isinstance(method, FunctionValue)
    assert own is UNKNOWN
    assert isinstance(red, Object)
    assert (red.name, red.kind) == (ENUM, "Color.RED")


CIRCLES = {
    "an attribute of itself": "class A(A.Module):\n    x = 1\n",
    "an object of itself": "class A(A()):\n    x = 1\n",
    "itself": "class A(A):\n    x = 1\n",
    "each other": "class A(B):\n    x = 1\nclass B(A): ...\n",
    "attributes of each other": "class A(B.X):\n    x = 1\nclass B(A.X): ...\n",
    "an inner class of its child": "class A(B.Inner):\n    x = 1\nclass B(A): ...\n",
    "what a function makes of itself": "def make(c):\n    return c.base()\nclass A(make(A)):\n    x = 1\n",
    "an import of the same name": "from elsewhere import A\nclass A(A.Base):\n    x = 1\n",
    "an attribute of its object": "class A(A().base):\n    x = 1\n    def __init__(self):\n        self.base = A().base\n",
}


@pytest.mark.parametrize("name", CIRCLES)
def test_a_class_that_inherits_from(name: str) -> None:
    interp = interpreter(a=CIRCLES[name] + "def f():\n    return A.x, A.nothing, A().nothing\n")
    a = cls(interp, "A")
    assert interp.classes.mro(a).count(a) == 1
    assert interp.classes.external_base(a) in ("", "elsewhere.A")
    found = given(interp, "f")
    assert isinstance(found, Seq)
    assert isinstance((found.items or ())[0], (Scalar, Const))
    assert interp.results.failures == []


def test_thousands_of_ancestors() -> None:
    """Followed without recursion, and not in the cube of their number."""
    count = 2500
    text = "class C0:\n    def found(self): ...\n" + "".join(f"class C{i}(C{i - 1}): ...\n" for i in range(1, count))
    interp = interpreter(a=text)
    last = cls(interp, f"C{count - 1}")
    assert len(interp.classes.mro(last)) == count
    assert interp.classes.find_method(last, "found") is function(interp, "C0.found")
