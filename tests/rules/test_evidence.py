"""What is no proof that a value is a tensor: annotations that allow other things, and what is taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, lint

SILENT = {
    "an annotation allows a number beside a tensor": """
class Net(nn.Module):
    def forward(self, x, factor: "float | torch.Tensor"):
        if factor > 0:
            x = x * factor
        return x
""",
    "an annotation allows a list beside an array": """
from typing import List, Tuple, Union
import numpy as np

class Net(nn.Module):
    def __init__(self, cropping: Union[np.ndarray, List, Tuple]):
        super().__init__()
        self.top, self.bottom = cropping[0]

    def forward(self, image):
        return image[self.top : image.shape[0] - self.bottom]
""",
    "an attribute is named by an argument": """
class Rotary(nn.Module):
    def forward(self, x, position_ids, layer_type):
        return x * getattr(self, f"{layer_type}_freq") + getattr(self, "{}_bias".format(layer_type))
""",
    "a word is asked for of what may be a parameter": """
class Scale(nn.Module):
    def __init__(self, scale=None):
        super().__init__()
        self.scale = scale
        if isinstance(scale, float):
            self.scale = nn.Parameter(torch.tensor([scale]))

    def forward(self, x):
        if self.scale == "auto":
            x = x / 2
        return x
""",
    "a tensor is looked for among words": """
class Net(nn.Module):
    def forward(self, x, kernel: torch.Tensor):
        assert kernel not in ["torch", "triton"]
        return x * (2 if kernel in ("a", "b") else 3)
""",
    "a key is asked for": """
class Net(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.names = names

    def forward(self, batch: "dict[str, torch.Tensor]"):
        for key, inner in self.names:
            if inner not in batch[key]:
                raise KeyError(inner)
        return batch
""",
    "an argument is taken apart": """
class Loss(nn.Module):
    def forward(self, outputs):
        scores, sizes = outputs
        return torch.split(scores, sizes, dim=1)
""",
    "tuples of two lengths are returned": """
class Layer(nn.Module):
    def __init__(self, extra):
        super().__init__()
        self.extra = extra
        self.fc = nn.Linear(4, 4)

    def forward(self, x, size):
        h, w = size
        if h > 3:
            x = self.fc(x)
        if self.extra:
            return x, size, x, size
        return x, size

class Net(nn.Module):
    def __init__(self, depth, extra):
        super().__init__()
        self.layers = nn.ModuleList([Layer(extra) for _ in range(depth)])

    def forward(self, x):
        size = (x.shape[1], x.shape[2])
        for layer in self.layers:
            x, size = layer(x, size)
        return x.view(-1, size[0])
""",
    "an attribute of every object beside those that are set by computed names": """
class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        for i in range(depth):
            setattr(self, "rnn%d" % i, nn.LSTM(4, 4))

    def forward(self, x):
        name = self.__class__.__name__
        return x + len(name)
""",
    "a parameter that may not be there": """
class Net(nn.Module):
    def __init__(self, dim, bias: bool):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(dim)) if bias else None

    def forward(self, x):
        if self.bias:
            x = x + self.bias
        return x
""",
    "a tokenizer in plain Python": """
class LetterTokenizer:
    def __init__(self):
        self.pad = 0

class Net(nn.Module):
    def __init__(self, tokenizer: LetterTokenizer):
        super().__init__()
        self.tokenizer = tokenizer

    def forward(self, ids):
        return ids != self.tokenizer.pad
""",
}

SPOKEN = {
    "a number that may not be there": """
class Net(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def forward(self, x):
        large = None
        if self.limit is not None:
            large = (x > self.limit).any()
        if large:  # here
            x = x / 2
        return x
""",
    "isinstance has shown a tensor": """
class Net(nn.Module):
    def forward(self, x, factor: "float | torch.Tensor"):
        if isinstance(factor, torch.Tensor):
            if factor > 0:  # here
                x = x * factor
        return x
""",
    "it is no list": """
class Net(nn.Module):
    def forward(self, x: "torch.Tensor | list[torch.Tensor]"):
        if isinstance(x, list):
            x = torch.stack(x)
        if x.sum() > 0:  # here
            x = x * 2
        return x
""",
    "a part of an argument is used as a tensor": """
class Net(nn.Module):
    def forward(self, inputs):
        x, lengths = inputs
        longest = lengths.max()
        return x[:, :longest] + lengths.shape[0]  # here
""",
    "a number is asked for": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        if 3 in x:  # here
            x = x * 2
        return x
""",
}


def breaks(folder: Path, source: str) -> list[int]:
    (folder / "net.py").write_text(source)
    return [f.span.line for f in lint("net.py", cwd=folder).findings if f.code < "TCL2"]


@pytest.mark.parametrize("case", SILENT)
def test_silent(tmp_path: Path, case: str) -> None:
    assert breaks(tmp_path, PRELUDE + SILENT[case]) == []


@pytest.mark.parametrize("case", SPOKEN)
def test_spoken(tmp_path: Path, case: str) -> None:
    source = PRELUDE + SPOKEN[case]
    here = next(i for i, line in enumerate(source.splitlines(), 1) if line.endswith("# here"))
    assert breaks(tmp_path, source) == [here]


SIZES = """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc(x)

blocks = nn.ModuleList([Block(width) for width in ({widths})])
for i in range(len(blocks)):
    blocks[i] = torch.compile(blocks[i])
for block in blocks:
    block(torch.randn(4, 8))
"""


@pytest.mark.parametrize(("widths", "said"), [(range(8, 12), False), (range(8, 18), True)])
def test_sizes_that_are_compiled_one_by_one_cost_something_above_the_limit(
    tmp_path: Path, widths: range, said: bool
) -> None:
    """Each needs a program of its own, whatever is done; above the limit the last ones get none."""
    (tmp_path / "m.py").write_text(PRELUDE + SIZES.format(widths=", ".join(map(str, widths))))
    found = [f for f in lint("m.py", cwd=tmp_path).findings if f.code == "TCL202"]
    assert bool(found) is said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('mode="reduce-overhead"', True),
        ('mode="reduce-overhead", backend=counting', False),
        ('mode="reduce-tiny"', False),
        ('mode="reduce-tiny", options={"triton.cudagraphs": True}', False),
        ('mode="default", **({"options": {"triton.cudagraphs": True}} if many else {})', False),
        ('mode="reduce-overhead", options={"shape_padding": True}', False),
        ('mode="reduce-overhead", **({"options": {"triton.cudagraphs": False}} if many else {})', True),
        ('options={"triton.cudagraphs": True}', True),
    ],
)
def test_cuda_graphs_are_not_recorded_by_a_backend_of_ones_own_nor_where_compiling_raises(
    tmp_path: Path, arguments: str, said: bool
) -> None:
    source = f"""
def counting(gm, example_inputs, **kwargs):
    return gm.forward

def step(x):
    return x.relu().sum(-1)

many = torch.cuda.device_count() > 1
fast = torch.compile(step, dynamic=True, {arguments})
for n in (3, 5, 7):
    fast(torch.randn(n, 4, device="cuda"))
"""
    (tmp_path / "m.py").write_text(PRELUDE + source)
    codes = {f.code for f in lint("m.py", cwd=tmp_path).findings}
    assert ("TCL410" in codes) is said
    assert ("TCL311" in codes) is said


def test_a_function_for_a_block_mask_is_traced_with_positions(tmp_path: Path) -> None:
    """No fixture: torch reports the branch (2.13: data-dependent branching) and then raises, as it does in eager code."""
    source = """
from torch.nn.attention.flex_attention import create_block_mask

@torch.compile
def f(x):
    def causal(b, h, q, k):
        if k > q:  # here
            return False
        return True

    return x + create_block_mask(causal, B=1, H=1, Q_LEN=128, KV_LEN=128).kv_num_blocks.sum()
"""
    (tmp_path / "m.py").write_text(PRELUDE + source)
    marked = [number for number, line in enumerate((PRELUDE + source).splitlines(), 1) if "# here" in line]
    assert [f.line for f in lint("m.py", cwd=tmp_path).findings if f.code == "TCL101"] == marked


@pytest.mark.parametrize(
    ("arguments", "compiles"),
    [
        ('mode="default"', True),
        ('mode="max-autotune-tiny"', False),
        ('mode="max-autotune-tiny", backend="eager"', True),
        ('mode="default", options={"shape_padding": True}', False),
    ],
)
def test_where_torch_compile_raises_nothing_is_compiled(tmp_path: Path, arguments: str, compiles: bool) -> None:
    """torch 2.13: an unknown mode of Inductor, and mode and options together, are refused where torch.compile is called."""
    source = f"""
def step(x):
    print(x)
    return x.relu()

def build():
    try:
        return torch.compile(step, {arguments})
    except Exception:
        return step

run = build()
run(torch.randn(4))
"""
    (tmp_path / "m.py").write_text(PRELUDE + source)
    codes = {f.code for f in lint("m.py", cwd=tmp_path).findings}
    assert ("TCL108" in codes) is compiles


_NOT_KEPT = "nothing: what torch.compile returns is not kept"
_DISABLED = "nothing: `disable=True` gives back what it was given"


@pytest.mark.parametrize(
    ("build", "unresolved"),
    [
        ("torch.compile(net)", _NOT_KEPT),
        ("net = torch.compile(net)", ""),
        ("net.compile()", ""),
        ("torch.compile(net)(torch.randn(4))", ""),
        ("net = torch.compile(net, disable=True)", _DISABLED),
        ("net.compile(disable=True)", _DISABLED),
        ("net = torch.compile(net, disable=False)", ""),
        ("net = torch.compile(net, disable=bool(torch.randn(1) > 0))", ""),
    ],
)
def test_a_site_that_compiles_nothing(tmp_path: Path, build: str, unresolved: str) -> None:
    """torch 2.13: `torch.compile(net)` leaves `net` as it is, and a disabled one gives back what it was given."""
    source = f"""
class Net(nn.Module):
    def forward(self, x):
        print(x)
        return x.relu()

net = Net()
{build}
net(torch.randn(4))
"""
    (tmp_path / "m.py").write_text(PRELUDE + source)
    report = lint("m.py", cwd=tmp_path)
    assert [f.assumed for f in report.findings if f.code == "TCL108"] == [bool(unresolved)]
    assert [site.unresolved for site in report.sites] == [unresolved]
