"""What a file's bytes say without a parser."""

from __future__ import annotations

import pytest

from tclint.sources.glance import compiles, glance, imports_any, inheriting


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"torch.compile(f)", True),
        (b"@torch.compile\ndef f(): ...", True),
        (b"model.compile()", True),
        (b"from torch import compile", True),
        (b"from torch import compile as c", True),
        (b"torch._dynamo.optimize()(f)", True),
        (b"g = torch.cuda.CUDAGraph()", True),
        (b"re.compile('x')", False),
        (b"compiled = 1", False),
        (b"", False),
    ],
)
def test_compile_sites(text: bytes, said: bool) -> None:
    assert compiles(text) is said
    assert glance(text, (), ()).compiles is said


def test_functions_known_to_compile_count() -> None:
    assert glance(b"speed_up(model)", [b"speed_up"], ()).compiles
    assert not glance(b"slow_down(model)", [b"speed_up"], ()).compiles


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b"def speed_up(model, on=True):\n    return torch.compile(model) if on else model\n", {"speed_up"}),
        (b"def speed_up(model: Callable[[int], int]):\n    model.compile()\n", {"speed_up"}),
        (
            b"def lazy(function):\n    made = None\n\n    def call(*args):\n        made = torch.compile(function)\n    return call\n",
            {"lazy"},
        ),
        (
            b"def fast(**options):\n    def decorate(function):\n        return torch.compile(function, **options)\n    return decorate\n",
            {"fast"},
        ),
        (b"def main():\n    def run(self):\n        self.compile()\n    run(Net())\n", set()),
        (b"def main():\n    model = Net()\n    return torch.compile(model)\n", set()),
        (b"def first(model):\n    return model\n\nmodel = torch.compile(model)\n", set()),
        (b"class Engine:\n    def set(self, model):\n        self.model = torch.compile(model)\n", set()),
        (
            b"class Engine:\n    def ready(self, model):\n        return torch.compile(model) if self.fast else model\n",
            {".ready"},
        ),
        (b"class Engine:\n    def forward(self, model):\n        return torch.compile(model)\n", set()),
        (b"class Engine:\n    def ready(self, model):\n        return model\n\nnet = torch.compile(model)\n", set()),
        (b"def find(text):\n    return re.compile(text)\n\ntorch.compile(net)\n", set()),
    ],
)
def test_functions_that_compile_what_they_are_given(text: bytes, named: set[str]) -> None:
    assert glance(text, (), ()).helpers == named


def test_who_imports_a_helper_compiles() -> None:
    assert imports_any(b"from helper import speed_up\nnet = speed_up(net)", ["speed_up"])
    assert imports_any(b"from helper import (\n    load,\n    speed_up as fast,\n)", ["speed_up"])
    assert not imports_any(b"from helper import load\nspeed_up = 3", ["speed_up"])
    assert not imports_any(b"from helper import load", ["speed_up"])


def test_what_a_model_file_says() -> None:
    text = b"""
from torch import (
    nn,
    optim,
)
import pkg.layers as L

class Net(nn.Module):
    def __init__(self):
        self.a = Attention(4)
        self.b = L.Block2D()

    def forward(self, x):
        return lower(x)
"""
    seen = glance(text, (), [("TCL406", (b"state_dict",)), ("TCL413", (b"nn",))])
    assert seen.root
    assert seen.forward
    assert not seen.compiles
    assert not seen.comments
    assert seen.built == {"Attention", "Block2D"}
    assert {"torch", "nn", "optim", "pkg", "layers", "L"} <= seen.words
    assert seen.listeners == ("TCL413",)


def test_comments_for_us() -> None:
    assert glance(b"x = 1  # noqa: TCL101", (), ()).comments
    assert glance(b"x = 1  # tclint: ignore[TCL101] why", (), ()).comments
    assert not glance(b"x = 1  # type: ignore", (), ()).comments


def test_files_that_inherit_a_forward_are_found_by_names() -> None:
    texts = {
        "base.py": b"class Base(nn.Module):\n    def forward(self, x): ...\n",
        "middle.py": b"class Middle(\n    Mixin, base.Base[int]\n): ...\n",
        "leaf.py": b"from middle import Middle\n\nclass Leaf(Middle): ...\n",
        "other.py": b"class Other(nn.Module): ...\nclass Plain: ...\n",
        "mention.py": b"def forward(x): ...\n# class Base\n",
    }
    assert inheriting({path: glance(text, (), ()) for path, text in texts.items()}) == {"middle.py", "leaf.py"}


def test_texts_that_have_something_in_common_are_told_apart() -> None:
    triggers = [("ACME001", (b"torch.compile", b"recompile_limit")), ("ACME002", (b"TORCH_LOGS", b"[1:]"))]
    for text in (
        b"recompile_limit",
        b"compile",
        b"torch.compile(f)",
        b"TORCH_TRACE",
        b"TORCH_LOGS",
        b"x[1:]",
        b"import trace",
    ):
        told = {code for code, texts in triggers if any(each in text for each in texts)}
        assert set(glance(text, (), triggers).listeners) == told


def test_a_comment_of_ours_is_told_from_those_of_others() -> None:
    assert glance(b"x = 1  # tclint: ignore\n", (), ()).marked
    seen = glance(b"x = 1  # noqa: TCL101\n", (), ())
    assert seen.comments
    assert not seen.marked
