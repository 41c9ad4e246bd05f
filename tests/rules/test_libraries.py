"""Transforms of torchvision and torchaudio and layers of torch_geometric in compiled code."""

from __future__ import annotations

from pathlib import Path

from tclint.api import lint

PROGRAM = """\
import torchaudio
import torchvision.transforms.functional as TF
from torch import nn
from torchvision import transforms


class Net(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.mel = torchaudio.transforms.MelSpectrogram(rate)
        self.norm = transforms.Normalize([0.5], [0.5])
        self.cut = transforms.CenterCrop(16)
        self.layers = nn.Sequential(transforms.Normalize([0.5], [0.5]), nn.Linear(3, 3))

    def forward(self, waveform, images, other):
        mel = self.mel(waveform)
        images = self.norm(images)
        images = self.cut(images)
        images = TF.normalize(TF.resize(images, [8, 8]), mean=[0.5], std=[0.5])
        known = TF.normalize(other.path, mean=[0.5], std=[0.5])
        return self.layers(images), mel, known
"""


def test_the_transforms_whose_code_breaks_are_named_where_they_get_tensors(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAM)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(n, "TCL110") for n in (16, 17, 19, 21)]
    assert "`torchaudio.transforms.MelSpectrogram`" in report.findings[0].message


LAYERS = """\
from torch import nn
from torch_geometric.nn import ChebConv, GATConv, GCNConv, SAGEConv
from torch_geometric.utils import degree, remove_self_loops


class Net(nn.Module):
    def __init__(self, width, **options):
        super().__init__()
        self.first = GCNConv(width, width, add_self_loops=True)
        self.alone = GCNConv(width, width, add_self_loops=False)
        self.given = GATConv(width, width, **options)
        self.mean = SAGEConv(width, width)
        self.layers = nn.ModuleList([ChebConv(width, width, 2) for _ in range(3)])

    def forward(self, data):
        x, edges = data.x, data.edge_index
        x = self.first(x, edges)
        x = self.alone(x, edges)
        x = self.given(x, edges)
        x = self.mean(x, edges)
        for layer in self.layers:
            x = layer(x, edges)
        edges, _ = remove_self_loops(edges)
        return x, degree(edges[0], 5)
"""


def test_what_takes_tensors_alone_needs_no_name_of_one(tmp_path: Path) -> None:
    """torchaudio asks nobody whether it is given a tensor; of torchvision's transforms one may be given an image."""
    (tmp_path / "m.py").write_text(PROGRAM.replace("waveform", "anything").replace("images", "something"))
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.confidence.value) for f in report.findings if f.line in (16, 17)] == [(16, "medium")]


def test_the_layers_of_graphs_that_take_self_loops_away_are_named(tmp_path: Path) -> None:
    """Each was asked of torch 2.13 with torch_geometric 2.8; `add_self_loops=False` and `SAGEConv` are one graph."""
    (tmp_path / "m.py").write_text(LAYERS)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(n, "TCL110") for n in (17, 22, 23)]


MASKED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2), 2)

    def forward(self, x, memory, mask=None):
        causal = torch.triu(x.new_ones(5, 5), 1)
        a = self.encoder(x, mask=causal)
        b = self.encoder(x, causal)
        c = self.decoder(tgt=x, memory=memory, tgt_mask=causal)
        d = self.encoder(x, mask=causal, is_causal=True)
        e = self.encoder(x, mask)
        f = self.encoder(x, src_key_padding_mask=causal)
        return a, b, c, d, e, f
"""


def test_a_transformer_that_is_not_told_reads_its_mask(tmp_path: Path) -> None:
    """Dynamo breaks in torch's own code (GB0124); asked on 2.4, 2.11 and 2.13."""
    (tmp_path / "m.py").write_text(MASKED)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(n, "TCL103") for n in (13, 14, 15)]


MACHINE_CODE = """\
import torch
from numba import njit
from torch import nn


@njit(cache=True)
def root_of(parent, x):
    while parent[x] != x:
        x = parent[x]
    return x


class Net(nn.Module):
    def forward(self, x):
        parent = x.detach().numpy()
        return x + root_of(parent, 3)
"""


def test_a_function_that_another_compiler_takes_breaks_where_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MACHINE_CODE)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(16, "TCL110")]
    assert "`numba.njit`" in report.findings[0].message


BARS = """\
import networkx as nx
from foreign import batch_of
from torch import nn
from tqdm.auto import tqdm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.graph = nx.Graph()

    def forward(self, x, show, steps=3):
        bar = tqdm(range(steps), disable=not show)
        for step in bar:
            x = x + step
        for step in tqdm(range(steps)):
            x = x + step
        several = range(steps)
        if show:
            several = tqdm(several)
        for step in several:
            x = x + step
        return x


class Dense(nn.Module):
    def forward(self, x):
        dense, mask = batch_of(x)
        degree = mask.sum(dim=1)
        table = mask.sum(axis=1)
        named = mask.sum(dim="row")
        if degree.max() > 3:
            return dense
        if table.max() > 3:
            return x
        return x + 1 if named.max() > 3 else x


class Graphs(nn.Module):
    def forward(self, x):
        return x + nx.number_of_nodes(nx.Graph())
"""


def test_a_loop_over_a_progress_bar_breaks_where_it_loops(tmp_path: Path) -> None:
    """Run on 2.13: GB0007 where the bar is made, GB0008 at the loop; a bar that is only sometimes there says nothing."""
    (tmp_path / "m.py").write_text(BARS)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [f.line for f in report.findings if f.code == "TCL108"] == [13, 14, 16, 20]
    (loop,) = [f for f in report.findings if f.line == 14]
    assert loop.graph_breaks[0] == "GB0008"


def test_what_is_summed_in_compiled_code_is_a_tensor_or_an_array(tmp_path: Path) -> None:
    """Run on 2.13: a branch on an array of numpy breaks the graph, too, since Dynamo traces it as a tensor."""
    (tmp_path / "m.py").write_text(BARS)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [f.line for f in report.findings if f.code == "TCL101"] == [32, 34, 36]


def test_packages_that_dynamo_skips(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(BARS)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert {f.line for f in report.findings if f.code == "TCL110"} == {41}


KERNEL = """\
import tilewise
import tilewise.language as T
import torch


@tilewise.jit(out_idx=[])
def build(n, size):
    @T.prim_func
    def kernel(q: T.Tensor([n], "float32"), ends: T.Tensor([4], "int32"), o: T.Tensor([n], "float32")):
        with T.Kernel(4, threads=128) as (i, j):
            tail = ends[i + 1] - ends[i]
            if tail > 0:
                T.copy(q[:tail], o)

    return kernel


@tilewise.checked
def plain(q: T.Tensor, ends: torch.Tensor):
    T.check(q)
    if torch.any(ends > 0):
        return q
    return -q


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, ends: torch.Tensor):
        o = torch.empty_like(x)
        run = build(8, 4)
        run(x, ends, o)
        return plain(o, ends)
"""


def test_a_program_in_a_foreign_language_is_not_read_as_python(tmp_path: Path) -> None:
    """The kernel is typed, and written, in the words of the package that decorates it; what calls torch is Python."""
    (tmp_path / "m.py").write_text(KERNEL)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(21, "TCL101")]


CHOSEN = """\
import torch
from torch.nn.attention.flex_attention import create_block_mask


def by_offsets(mask, offsets):
    counts = offsets[1:] - offsets[:-1]
    ids = torch.repeat_interleave(torch.arange(len(counts)), counts)
    return lambda b, h, q, k: ids[q] == ids[k]


def causal(b, h, q, k):
    return q >= k


MASKS = {"causal": causal, "offsets": by_offsets}


def main(name: str):
    make = torch.compile(create_block_mask)
    return make(MASKS[name], 1, 1, 128, 128, device="cpu")
"""


def test_a_function_that_could_not_take_what_is_passed_is_not_the_one_that_is_called(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(CHOSEN)
    assert not lint(["m.py"], cwd=str(tmp_path), isolated=True).findings


GROUPS = """\
from typing import Optional

from torch import Tensor, nn
from torch_geometric.nn import GraphNorm, LayerNorm, MeanAggregation, global_mean_pool
from torch_geometric.utils import scatter, softmax, to_dense_batch


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = GraphNorm(8)
        self.nodes = LayerNorm(8, mode="node")
        self.mean = MeanAggregation()

    def forward(self, x: Tensor, batch: Tensor, given: Optional[Tensor], count: int, other=None, **options):
        x = self.nodes(self.norm(x), batch)
        x = self.norm(x, batch)  # told
        x = self.norm(x, batch, count)
        x = self.norm(x, given)
        x = self.mean(x)  # told
        x = self.mean(x, batch, dim_size=count)
        x = scatter(x, batch, dim=0)  # told
        x = scatter(x, batch, 0, count)
        x = scatter(x, batch, 0, **options)
        x = softmax(x, batch, num_nodes=None)  # told
        x, _ = to_dense_batch(x, batch, max_num_nodes=count)  # told
        x, _ = to_dense_batch(x, batch, max_num_nodes=count, batch_size=count)
        return global_mean_pool(x, other) + global_mean_pool(x, batch, size=count) + global_mean_pool(x, None)


class Of(nn.Module):
    def forward(self, data):
        return global_mean_pool(data.x, data.batch)  # told
"""


def test_an_index_is_asked_for_the_number_of_groups_that_nobody_tells(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(GROUPS, encoding="utf-8")
    found = {f.line for f in lint([tmp_path], select=["TCL110"]).findings}
    assert found == {n for n, line in enumerate(GROUPS.splitlines(), 1) if line.endswith("# told")}


SOLVED = """\
import gpytorch
import kornia
import torch
import torchmetrics
from pytorch_metric_learning import losses
from torch import nn
from torchdiffeq import odeint_adjoint as odeint


class Field(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, t, y):
        return self.inner(y)


class Flow(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.field = Field(width)
        self.kernel = gpytorch.kernels.RBFKernel()
        self.running = torchmetrics.MeanMetric()
        self.error = torchmetrics.MeanSquaredError()
        self.pairs = losses.NTXentLoss()

    def forward(self, x, labels, image):
        times = torch.linspace(0, 1, 3)
        y = odeint(self.field, x, times, method="rk4")  # told
        k = self.kernel(y[-1], y[-1])  # told
        self.running.update(y.mean())  # told
        error = self.error(y[-1], x)
        loss = self.pairs(y[-1], labels)  # told
        edges = kornia.filters.sobel(image)
        if edges.sum() > 0:
            loss = loss + 1
        return k, loss, error
"""


def test_what_solvers_kernels_and_running_means_ask_is_told_at_their_calls(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SOLVED, encoding="utf-8")
    report = lint([tmp_path], isolated=True)
    found = {f.line for f in report.findings if f.code == "TCL110"}
    assert found == {n for n, line in enumerate(SOLVED.splitlines(), 1) if line.endswith("# told")}
    assert [f.line for f in report.findings if f.code == "TCL101"] == [36]


METRIC = """\
import torch
from torchmetrics import Metric


class Share(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("hits", default=torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("total", default=torch.tensor(0), dist_reduce_fx="sum")

    def update(self, guesses, labels):
        guesses = guesses.argmax(dim=-1)
        if (guesses == 0).all():  # told
            return
        self.hits += (guesses == labels).sum()
        self.total += labels.numel()

    def compute(self):
        if self.total == 0:  # told
            return torch.tensor(0.0)
        return self.hits / self.total

    def plot(self):
        return self.total.item()
"""


def test_the_forward_of_a_metric_calls_what_its_class_has(tmp_path: Path) -> None:
    """torchmetrics' own forward calls `update` and `compute`; what `add_state` keeps is a tensor."""
    (tmp_path / "metric.py").write_text(METRIC, encoding="utf-8")
    found = {f.line for f in lint([tmp_path], isolated=True, select=["TCL1"]).findings}
    assert found == {n for n, line in enumerate(METRIC.splitlines(), 1) if line.endswith("# told")}


MADE = """\
from torch import nn
from torch_geometric.nn import SAGEConv, global_mean_pool
from torch_geometric.utils import degree, to_dense_batch


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = SAGEConv(width, width)

    def forward(self, data):
        nodes = self.layer(data.x, data.edge_index)
        pooled = global_mean_pool(nodes, data.batch, size=3)
        if pooled.max() > 3:  # told
            return pooled
        dense, there = to_dense_batch(nodes, data.batch, batch_size=3, max_num_nodes=5)
        return dense[there], data.x[degree(data.edge_index[0], 5) > 1]  # told
"""


def test_what_layers_of_graphs_give_is_a_tensor_whatever_they_get(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MADE, encoding="utf-8")
    found = {f.line for f in lint([tmp_path], isolated=True, select=["TCL1"]).findings}
    assert found == {n for n, line in enumerate(MADE.splitlines(), 1) if line.endswith("# told")}


COMPOSED = """\
import torch
from torch import nn
from torchvision import transforms


def peak(image):
    return image / image.max().item()


class Net(nn.Module):
    def __init__(self, known):
        super().__init__()
        self.all = transforms.Compose([transforms.CenterCrop(8), peak, transforms.Normalize([0.5], [0.5])])
        self.quiet = transforms.Compose([transforms.CenterCrop(8), lambda image: image * 2])
        self.given = transforms.Compose(known)

    def forward(self, images):
        images = torch.relu(images)
        return self.all(images), self.quiet(images), self.given(images)
"""


def test_a_composition_calls_its_parts_one_after_the_other(tmp_path: Path) -> None:
    """What breaks in a function of the program breaks there, what breaks in a library where the composition is called."""
    (tmp_path / "m.py").write_text(COMPOSED)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(7, "TCL103"), (19, "TCL110")]


def test_a_library_whose_code_breaks_is_named_where_it_is_called(tmp_path: Path) -> None:
    program = "import pyro\n\n\n@torch.compile\ndef model(x):\n    pyro.factor('near', x.sum())\n    return x + 1\n"
    (tmp_path / "m.py").write_text("import torch\n" + program)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(7, "TCL110")]
