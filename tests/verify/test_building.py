"""Modules that nobody describes are built and called: one class for each way to learn what they want."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

MODELS = '''
import argparse
import dataclasses
from collections import namedtuple

import torch
import torch.distributed
from torch import nn

from keys import IMAGE
from torch.hub import load_state_dict_from_url


class Shown(nn.Module):
    """Looks up names.

    >>> table = {"red": 3, "green": 5}
    >>> layer = Shown(table, [["red"], ["green"]])
    >>> layer(torch.zeros(4, 5)).shape
    torch.Size([4, 3])
    """

    def __init__(self, table, groups):
        super().__init__()
        self.layer = nn.Linear(table[groups[1][0]], table[groups[0][0]])

    def forward(self, x):
        return self.layer(x)


class Part(nn.Module):
    def __init__(self, table, which):
        super().__init__()
        self.layer = nn.Linear(table["deep"][which], 4)

    def forward(self, x, weights):
        return self.layer(x) * weights["gain"][0]


class Whole(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.table = {"deep": {"a": 4}}
        self.parts = nn.ModuleList(Part(self.table, "a") for _ in range(depth))

    def forward(self, x):
        for part in self.parts:
            x = part(x, {"gain": (torch.ones(4),)})
        return x


class Widths(nn.Module):
    def __init__(self, sides, ends):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sides, sides[1:]))
        self.total = sum(ends)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Factory(nn.Module):
    def __init__(self, conv, n_feat):
        super().__init__()
        self.body = conv(n_feat, n_feat, 3, bias=False)

    def forward(self, x):
        return self.body(x)


class Chosen(nn.Module):
    def __init__(self, style):
        super().__init__()
        if style not in ("warm", "cold"):
            raise ValueError(style)
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)


class Base(nn.Module):
    def __init__(self, width, style):
        super().__init__()
        self.inner = Chosen(style)
        self.layer = nn.Linear(width, 8)

    def forward(self, x):
        return self.inner(self.layer(x))


class Derived(Base):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)


class NotNone(nn.Module):
    def __init__(self, hidden_size=None):
        super().__init__()
        if hidden_size is None:
            raise ValueError("hidden_size must be given")
        self.layer = nn.Linear(hidden_size, 8)

    def forward(self, x):
        return self.layer(x)


class Batched(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, batch):
        return self._inner(batch) + batch["offset"].mean()

    def _inner(self, batch):
        return self.layer(batch[IMAGE])


class Fields(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, data):
        return self.layer(data.pos) + data.velocity.sum()


class Rest(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, *things):
        return self.layer(things[0])


class Channels(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.ModuleList([nn.Linear(4, 4)])
        self.second = nn.Conv1d(16, 8, 3)

    def forward(self, x):
        return self.second(x)


class Alike(nn.Module):
    def __init__(self, num_in_ch, num_out_ch):
        super().__init__()
        self.mean = torch.zeros(1, 3, 1, 1)
        self.layer = nn.Conv2d(num_in_ch, num_out_ch, 3, padding=1)

    def forward(self, x):
        return self.layer(x - self.mean) + self.mean


class Asked(nn.Module):
    def __init__(self, vocabulary, unit_range):
        super().__init__()
        self.table = nn.Embedding(vocabulary.size(), vocabulary.width)
        self.layer = nn.Linear(vocabulary.width, 4).double()
        self.scale = unit_range

    def forward(self, x):
        if x.ndim != 4:
            raise ValueError("expected number of dimensions to be 4")
        if x.min() < 0:
            raise ValueError("values must be between 0 and 1")
        return self.layer(x)


class Listed(nn.Module):
    def __init__(self, shape_name: str, heads, dim):
        super().__init__()
        if not (MEANT := [name for name in sorted({"round": 1, "flat": 2}) if name == shape_name]):
            raise ValueError(f"could not resolve {shape_name!r} among choices {{'round', 'flat'}}")
        assert heads % 3 == 0
        self.layer = nn.Linear(dim, len(MEANT))

    def forward(self, x):
        return self.layer(x)


class ForGpu(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.layer = nn.Linear(table["a"]["b"], 4)

    def forward(self, x):
        return self.layer(x)


class Wrapper(nn.Module):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
        self.first = nn.Linear(net.inner_width, net.inner_width)

    def forward(self, x):
        return self.net(self.first(x))


class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(12, 4)
        self.last = nn.Linear(4, 1)

    def forward(self, obs, action):
        return self.last(self.first(torch.cat([obs, action], -1)))


class Handed(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 16)
        self.cell = nn.GRUCell(16, 24)
        self.layers = nn.ModuleList([nn.Conv1d(7, 16, 1)])

    def forward(self, first, second, third):
        for layer in self.layers:
            third = layer(third)
        return self.cell(self.table(first), second) + third.mean()


class Labels(nn.Module):
    def forward(self, scores, y):
        rows = torch.einsum("ij->i", scores)
        return rows.gather(0, y) + torch.zeros(rows.shape[0], 3).scatter_(1, y.view(-1, 1), 1.0).sum(1)


class Said(nn.Module):
    def forward(self, x, cell):
        if tuple(cell.shape) != (3, 3):
            raise ValueError("cell must have shape (3, 3)")
        if tuple(x.shape[-2:]) != (48, 16):
            raise ValueError(f"expects input size (48, 16), got {tuple(x.shape[-2:])}")
        return x.sum() + cell.sum()


class Decided(Base):
    def __init__(self, **kwargs):
        super().__init__(style="warm", **kwargs)


class Tuples(nn.Module):
    def __init__(self, layers: list[tuple[int, int, int]], widths=(8, 8)):
        super().__init__()
        widths.append(4)
        self.layers = nn.ModuleList(nn.Conv1d(a, b, c) for a, b, c in layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Guided(nn.Module):
    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model
        self.layer = nn.Linear(8, 8)

    def forward(self, x, scale: float):
        return self.model(x=self.layer(x), t=scale, extra=None)


class Fetched(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layer = nn.Linear(width, width)
        state = load_state_dict_from_url("https://weights.invalid/never/there.pth")
        self.layer.load_state_dict({name.removeprefix("m."): value for name, value in state["model"].items()})

    def forward(self, x):
        return self.layer(x)


class Wrapped(nn.Module):
    def __init__(self, inner_width: int):
        super().__init__()
        self.inner_width = inner_width
        self.layer = nn.Linear(inner_width, 4)

    def forward(self, x):
        return self.layer(x)


@dataclasses.dataclass
class Data:
    instruments: int
    labels: int = 10


@dataclasses.dataclass
class Setup:
    data: Data = "???"
    dim: int = 16


class Unset(nn.Module):
    def __init__(self, cfg: Setup):
        super().__init__()
        self.head = nn.Linear(cfg.dim, cfg.data.instruments * cfg.data.labels)

    def forward(self, x):
        return self.head(x)


class Inner(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        if cfg.model.kind == "deep":
            self.body = nn.Sequential(*[nn.Linear(cfg.model.width, cfg.model.width) for _ in cfg.model.turns])
        else:
            raise ValueError(cfg.model.kind)

    def forward(self, x):
        return self.body(x)


class Imaginary(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.real, self.imag = nn.Linear(features, features), nn.Linear(features, features)

    def forward(self, z):
        return torch.complex(self.real(z.real), self.imag(z.imag))


class Pooled(nn.Module):
    def __init__(self, planes):
        super().__init__()
        self.pool, self.head = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(planes, 10)

    def forward(self, x):
        x = self.pool(x)
        return self.head(x.flatten(1))


class Tupled(nn.Module):
    def __init__(self, hidden_sizes):
        super().__init__()
        assert isinstance(hidden_sizes, tuple), "hidden_sizes must be of type tuple"
        self.layers = nn.ModuleList(nn.Linear(size, size) for size in hidden_sizes)

    def forward(self, x):
        return self.layers[0](x)


class Checked(nn.Module):
    def __init__(self, name):
        super().__init__()
        if name.endswith(".dnn"):
            raise ValueError(name)
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)


class Spread(nn.Module):
    """Written for many processes."""

    def __init__(self, features):
        super().__init__()
        self.share = features // torch.distributed.get_world_size()
        self.layer = nn.Linear(features, self.share)

    def forward(self, x):
        return self.layer(x)


class Compared(nn.Module):
    """Both signals must be longer than the window."""

    def __init__(self, fft=64):
        super().__init__()
        self.fft = fft

    def forward(self, x, y):
        window = torch.ones(self.fft)
        mags = [torch.stft(signal, self.fft, window=window, return_complex=True).abs() for signal in (x, y)]
        return (mags[0] - mags[1]).pow(2).mean()


class Windows(nn.Module):
    """Cuts images into windows.

    Args:
        sizes (dict | None): nothing by default
        turns (tuple[int]): how often
    """

    def __init__(self, sizes, turns):
        super().__init__()
        assert sizes is None
        self.turns = turns + (1,)

    def __call__(self, pixels):
        return super().__call__(pixels)

    def forward(self, x):
        return x * len(self.turns)


class Sensor:
    """What measures: made by guessing, handed to a module as it is called."""

    def __init__(self, width):
        self.width = width

    def measure(self, x):
        return x * 2


class Measured(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layer = nn.Linear(features, features)

    def forward(self, x, sensor: Sensor):
        assert isinstance(sensor, Sensor)
        return self.layer(sensor.measure(x))


class Operated(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layer = nn.Linear(features, features)

    def forward(self, x, physics):
        return physics.adjoint(self.layer(physics.apply(x)))


class Indexed(nn.Module):
    def __init__(self, indices=None):
        super().__init__()
        self.count = len(indices.data.output.names)
        self.table = {key: value for key, value in indices.data.lookup.items()}
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)


class Volume(nn.Module):
    def __init__(self, shape, vocab_size=0):
        super().__init__()
        depth, height, width = shape
        self.table = nn.Embedding(vocab_size, depth, padding_idx=1)

    def forward(self, ids):
        return self.table(ids)


class Equal(nn.Module):
    def __init__(self, model_dim, num_heads, head_dim):
        super().__init__()
        assert num_heads * head_dim * 3 == model_dim
        self.layer = nn.Linear(model_dim, num_heads * head_dim)

    def forward(self, x):
        return self.layer(x)


class Descent(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                weight.sub_(weight.grad * group["lr"])


class Spaced(nn.Module):
    def __init__(self, cfg: argparse.Namespace):
        super().__init__()
        if cfg.flavour == "plain":
            self.layers = nn.ModuleList(nn.Linear(size, size) for size in cfg.mlp_layers)
        else:
            raise NotImplementedError(cfg.flavour.lower())

    def forward(self, x):
        return self.layers[0](x)


class Above(nn.Module):
    def __init__(self, width, maker, parts, *, turns):
        super().__init__()
        assert parts is None
        self.layers = nn.ModuleList(maker(width, width) for _ in range(turns))

    def forward(self, x):
        return self.layers[0](x)


class Below(Above):
    """Decides what the one above it asks for, but for one."""

    def __init__(self, width, **rest):
        super().__init__(width, maker=nn.Linear, parts=None, **rest)


ACTS = {"gelu": nn.GELU(), "relu": nn.ReLU()}


class Acting(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.act = ACTS[config.hidden_act] if isinstance(config.hidden_act, str) else config.hidden_act

    def forward(self, x):
        return self.act(self.dense(x))


class Paired(nn.Module):
    """Only rows of features fit each other."""

    def forward(self, student, teacher):
        a, b = student / student.norm(dim=1, keepdim=True), teacher / teacher.norm(dim=1, keepdim=True)
        return (a @ a.transpose(0, 1))[:, :1] * (b @ b.transpose(0, 1))[:1, 0]


import no_such_package_of_layers


class Foreign(no_such_package_of_layers.Layer):
    def forward(self, x):
        return x


class Squared(nn.Module):
    expansion = 4

    def __init__(self, planes, narrow):
        super().__init__()
        self.first = nn.Conv2d(planes, narrow, 1)
        self.last = nn.Conv2d(narrow, narrow * self.expansion, 1)

    def forward(self, x):
        return self.last(self.first(x)) + x


class Stacked(nn.Module):
    def __init__(self, block, layers):
        super().__init__()
        self.width = 16
        self.one = self._stage(block, layers[0])
        self.two = self._stage(block, layers[1])
        self.three = self._stage(block, layers[2])
#       self.four = self._stage(block, layers[3])
        self.head = nn.Linear(self.width, 2)

    def _stage(self, block, count):
        parts = [block(self.width, self.width // block.expansion) for _ in range(count)]
        return nn.Sequential(*parts)

    def forward(self, x):
        return self.head(self.three(self.two(self.one(x))).mean((2, 3)))


class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 6
        self.tables = nn.ModuleList(nn.Embedding(8, 8) for _ in range(self.count))

    def forward(self, chosen, idx):
        batch, time, codes = idx.size()
        assert chosen > 0, "the first is given"
        assert codes == self.count, (batch, time, codes)
        return self.tables[chosen](idx[:, :, chosen])


DEPTHS = {18: 1, 34: 2}
KINDS = {"mean": torch.mean, "amax": torch.amax}


class Numbered(nn.Module):
    def __init__(self, depth: int, how: str):
        super().__init__()
        self.parts = nn.Sequential(*(nn.Linear(8, 8) for _ in range(DEPTHS[depth])))
        self.how = KINDS[how]

    def forward(self, x):
        return self.how(self.parts(x), 1)


@dataclasses.dataclass
class Where:
    encoding: torch.Tensor
    learned: bool


@dataclasses.dataclass
class Observed:
    seen: torch.Tensor
    where: Where


class Observer(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.fc = nn.Linear(width, 12)

    def forward(self, batch: Observed):
        return self.fc(batch.seen) * batch.where.encoding.unsqueeze(3).sum(3)[..., :12]


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(24, 8, 1) for _ in range(2))

    def forward(self, features: list[torch.Tensor]):
        batch, channels, height, width = features[0].shape
        return sum(conv(part) for conv, part in zip(self.convs, features))


class Perceptron(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), activation(), nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x)


class Bounded(nn.Module):
    def __init__(self, width, powers):
        super().__init__()
        self.fc = nn.Linear(width, powers)

    def forward(self, x):
        y = self.fc(x)
        count = y.shape[-1]
        assert count <= 4, "too many powers"
        return y ** torch.arange(count)


class Mixed(nn.Module):
    def __init__(self, weights: torch.Tensor, count: int):
        super().__init__()
        if weights.dim() != 2 or weights.shape[0] > count:
            raise ValueError("weights of another kind")
        self.register_buffer("weights", weights)

    def forward(self, x):
        return x * self.weights.sum()


class Uncopied:
    def __deepcopy__(self, memo):
        raise RuntimeError("cannot be copied")


class Holder(nn.Module):
    def __init__(self, held: Uncopied | None, width: int):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)


class Along(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return x.softmax(self.dim)


class Forgetful(nn.Module):
    def __init__(self, sizes, dropouts):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, sizes[0]), nn.Dropout(dropouts[0]), nn.Dropout(dropouts[1]))

    def forward(self, x):
        return self.layers(x)


class Switched(nn.Module):
    def __init__(self, dim, halved=True):
        super().__init__()
        self.layer, self.kind = nn.Linear(dim, dim), "half" if halved else "whole"

    def forward(self, x):
        if self.kind == "half":
            raise NotImplementedError("not yet")
        return self.layer(x)


class Sparse(namedtuple("Sparse", ["title", "count"])):
    def __new__(cls, title, count):
        return super().__new__(cls, str(title), int(count))


class Columns(nn.Module):
    def __init__(self, columns):
        super().__init__()
        sparse = list(filter(lambda column: isinstance(column, Sparse), columns))
        self.tables = nn.ModuleList([nn.Embedding(column.count, 4) for column in sparse])
        if not sparse:
            raise ValueError("nothing to look up")

    def forward(self, codes):
        return sum(table(codes) for table in self.tables)


class Recurring(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.cell = nn.GRUCell(dim, dim)

    def forward(self, x, carried):
        if carried is None:
            return self.cell(x)
        return self.cell(x, carried["deep"]["state"].only())


class Branches(nn.Module):
    def __init__(self, *branches, axis=1):
        super().__init__()
        self.branches, self.axis = nn.ModuleList(branches), axis

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], self.axis)


class Viewed(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.sizes = sizes

    def forward(self, x):
        return x.view(*self.sizes)


class Divided(nn.Module):
    def forward(self, x):
        rows = x.shape[0] // 2
        if rows % 3 != 0:
            raise ValueError("not so many")
        return x.view(2, 3, -1)


class Raised(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.up = nn.ConvTranspose3d(in_channels, in_channels // 2, 2, stride=2)
        self.conv = nn.Conv3d(in_channels, out_channels, 3, padding=1)

    def forward(self, below, beside):
        return self.conv(torch.cat([beside, self.up(below)], dim=1))


class Edges(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.layer = nn.Linear(dim, dim)

    def forward(self, x, edge_index):
        source, target = edge_index
        return torch.zeros_like(x).index_add(0, target, self.layer(x)[source])


def named(word):
    if word == "smooth":
        return nn.GELU()
    if word == "sharp":
        return nn.ReLU()
    raise ValueError(f"no function {word}")


class Called(nn.Module):
    def __init__(self, activations):
        super().__init__()
        self.layers = nn.Sequential(*[named(word) for word in activations])

    def forward(self, x):
        return self.layers(x)


class Promise(nn.Module):
    def forward(self, x):
        raise NotImplementedError("those below")


class Kept(Promise):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)


class Keeping(nn.Module):
    def __init__(self, inside: Promise):
        super().__init__()
        self.inside = inside

    def forward(self, x):
        return self.inside(x)


class Deep(nn.Module):
    def forward(self, batch: dict[str, torch.Tensor]):
        return batch["out"]["logits"].float() + 1


class Frames(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        b, c, t, h, w = x.shape
        return self.conv(x.reshape(b, c * t, h, w))


class Nested(nn.Module):
    def __init__(self, convolutions):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(item[0], item[1]) for item in convolutions])

    def forward(self, x):
        return [layer(x) for layer in self.layers]


class Told(nn.Module):
    def forward(self, x):
        """Turns.

        :param x: Float tensor of size ``(batch_size, rows, 5, 7)``
        """
        if x.shape[2:] != (5, 7):
            raise RuntimeError
        return x * 2
'''

USED = """
import torch
from models import ForGpu

def main():
    model = ForGpu({"a": {"b": 4}}).cuda()
    model(torch.zeros(2, 4, device="cuda"))
"""

DRIVE = """
import sys
sys.path.insert(0, {root!r})
import torch
from tclint.verify.child.experiments import Setup, run_eager
from tclint.verify.child.inputs import NoInputs
from tclint.verify.child.load import load
from tclint.verify.child.sources import sources
from tclint.verify.job import Candidate, Job
torch.set_num_threads(1)
file, folder = {file!r}, {folder!r}
module = load(file, folder)
setup = Setup("cpu", 0, lambda path: path == file, "")
for name in {names!r}:
    candidate, said = Candidate(file, name), []
    for example in sources(Job(folder, (candidate,), ()), candidate, module):
        if isinstance(example, NoInputs):
            said.append(str(example))
            continue
        run_eager(setup, example, "eval")
        print(name, "|", example.source)
        break
    else:
        print(name, "| not built:", said)
"""

HOW = {
    "Shown": "as in models.py",
    "Part": "a part of Whole in models.py: parts.0, called as there",
    "Widths": "inferred",
    "Factory": "inferred",
    "Chosen": "inferred",
    "Derived": "inferred",
    "NotNone": "inferred",
    "Batched": "inferred from the signatures of Batched (batch[image]=",
    "Fields": "inferred from the signatures of Fields (data.pos=",
    "Rest": "inferred from the signatures of Rest (*things=",
    "Channels": "inferred",
    "Asked": "inferred from the signatures of Asked (x=float64",
    "Wrapper": "inferred",
    "Listed": "inferred",
    "Joined": "inferred from the signatures of Joined (obs=float32[2, 8, 6], action=float32[2, 8, 6])",
    "Handed": "inferred from the signatures of Handed (first=int64[2], second=float32[2, 24], third=float32[",
    "Labels": "inferred",
    "Said": "inferred from the signatures of Said (x=float32[2, 48, 16], cell=float32[3, 3])",
    "Decided": "inferred",
    "Tuples": "inferred",
    "Fetched": "inferred",
    "Guided": "inferred",
    "ForGpu": "as in train.py:6",
    "Alike": "inferred from the signatures of Alike, with 3 channels everywhere",
    "Unset": "inferred",
    "Foreign": "not built: [\"Foreign cannot be made: No module named 'no_such_package_of_layers'",
    "Below": "inferred",
    "Acting": "inferred",
    "Paired": "inferred",
    "Spaced": "inferred",
    "Equal": "inferred",
    "Descent": "the step of Descent",
    "Volume": "inferred",
    "Measured": "inferred",
    "Operated": "inferred",
    "Indexed": "inferred",
    "Windows": "inferred from the signatures of Windows (pixels=",
    "Inner": "inferred",
    "Imaginary": "inferred from the signatures of Imaginary (z=complex64",
    "Pooled": "inferred",
    "Tupled": "inferred",
    "Checked": "inferred",
    "Spread": "inferred",
    "Compared": "inferred",
    "Squared": "inferred from the signatures of Squared (x=float32[2, 128, 32, 32])",
    "Stacked": "inferred",
    "Codes": "inferred from the signatures of Codes (chosen=1, idx=int64[2, 8, 6])",
    "Numbered": "inferred",
    "Observer": "inferred from the signatures of Observer (batch=Observed(...), batch.seen=float32[2, 8, 32]",
    "Pyramid": "inferred from the signatures of Pyramid (features=list of 2)",
    "Perceptron": "inferred",
    "Bounded": "inferred",
    "Mixed": "inferred",
    "Holder": "inferred",
    "Along": "inferred",
    "Forgetful": "inferred",
    "Switched": "inferred",
    "Columns": "inferred",
    "Branches": "inferred",
    "Viewed": "inferred",
    "Divided": "inferred",
    "Raised": "inferred",
    "Called": "inferred",
    "Keeping": "inferred",
    "Frames": "inferred",
    "Nested": "inferred",
    "Recurring": "inferred from the signatures of Recurring (x=float32[2, 32], carried=None)",
    "Edges": "inferred from the signatures of Edges (x=float32[8, 32], edge_index=int64[2, 8])",
    "Deep": "inferred from the signatures of Deep (batch[out][logits]=",
    "Told": "inferred from the signatures of Told (x=float32[2, 32, 5, 7])",
}


@pytest.fixture(scope="module")
def built(torch_python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("building")
    (folder / "models.py").write_text(MODELS)
    (folder / "train.py").write_text(USED)
    (folder / "keys.py").write_text('IMAGE = "image"\n')
    drive = folder.parent / "drive_building.py"
    values = {"root": str(ROOT), "file": str(folder / "models.py"), "folder": str(folder), "names": list(HOW)}
    drive.write_text(textwrap.dedent(DRIVE).format(**values))
    done = subprocess.run([torch_python, str(drive)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(line.split(" | ", 1) for line in done.stdout.splitlines() if " | " in line)


@pytest.mark.dynamo
@pytest.mark.parametrize("name", HOW)
def test_a_class_is_built_and_runs(name: str, built: dict[str, str]) -> None:
    assert built[name].startswith(HOW[name]), built[name]


AGAIN = """
import sys
sys.path.insert(0, {root!r})
from tclint.verify.child.load import load
module = load({file!r}, {folder!r})
print(module.__name__, module.Block().forward(1), hasattr(module.pack, "util"))
"""


@pytest.mark.dynamo
def test_a_package_whose_import_failed_once_is_imported_whole(torch_python: str, tmp_path: Path) -> None:
    """What a failed attempt has left behind is not taken for the package that is imported afterwards."""
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "__init__.py").write_text("from pack.core import Core\n")
    (pack / "core.py").write_text("import pack.util\nimport no_such_package\nSIZE = pack.util.SIZE\nclass Core: ...\n")
    (pack / "util.py").write_text("SIZE = 3\n")
    (pack / "block.py").write_text(
        "import pack.util\nclass Block:\n    def forward(self, x): return x + pack.util.SIZE\n"
    )
    drive = tmp_path / "drive.py"
    values = {"root": str(ROOT), "file": str(pack / "block.py"), "folder": str(pack)}
    drive.write_text(textwrap.dedent(AGAIN).format(**values))
    done = subprocess.run([torch_python, str(drive)], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.split() == ["pack.block", "4", "True"], done.stderr[-2000:]


WARM = """
import gc, sys
sys.path.insert(0, {root!r})
from tclint.verify.child.serve import _warm
_warm()
from torch._dynamo import guards
print("sympy" in sys.modules, gc.get_freeze_count() > 0, guards.profile_guard_manager(None, {{}}, 1) == 0.0)
"""


@pytest.mark.dynamo
def test_what_every_fork_needs_is_there_before_the_first(torch_python: str, tmp_path: Path) -> None:
    drive = tmp_path / "drive.py"
    drive.write_text(WARM.format(root=str(ROOT)))
    done = subprocess.run([torch_python, str(drive)], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.split() == ["True", "True", "True"], done.stderr[-2000:]
