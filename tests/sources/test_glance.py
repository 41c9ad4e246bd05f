"""What a file's bytes say without a parser."""

from __future__ import annotations

import pytest

from tclint.sources.glance import compiles, glance, inheriting


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
