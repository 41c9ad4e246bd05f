"""The tables of what torch does: well-known facts, their shape, and that an installed torch still says the same."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tclint.torch_facts import generated as facts
from tclint.torch_facts import graph_break, graph_breaks, history

ROOT = Path(__file__).resolve().parents[2]
SIMPLE = {
    *("tensor", "bool-tensor", "int-tensor", "tensors", "bool", "int", "float", "scalar", "str", "none", "dtype"),
    *("device", "size", "list", "ndarray", "object", "unknown"),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch.add", "tensor"),
        ("torch.allclose", "bool"),
        ("torch.arange", "tensor"),
        ("torch.argmax", "int-tensor"),
        ("torch.cdist", "tensor"),
        ("torch.chunk", "tensors"),
        ("torch.eq", "bool-tensor"),
        ("torch.equal", "bool"),
        ("torch.isfinite", "bool-tensor"),
        ("torch.is_tensor", "bool"),
        ("torch.linalg.norm", "tensor"),
        ("torch.logical_and", "bool-tensor"),
        ("torch.max", "tensor"),
        ("torch.nn.functional.gelu", "tensor"),
        ("torch.nn.functional.scaled_dot_product_attention", "tensor"),
        ("torch.numel", "int"),
        ("torch.searchsorted", "int-tensor"),
        ("torch.topk", "tuple:tensor,int-tensor"),
        ("torch.where", "tensor"),
        ("torch.cuda.is_available", "bool"),
    ],
)
def test_kind_of_function(name: str, kind: str) -> None:
    assert facts.FUNCTIONS[name] == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("add_", "tensor"),
        ("all", "bool-tensor"),
        ("argsort", "int-tensor"),
        ("backward", "none"),
        ("dim", "int"),
        ("is_contiguous", "bool"),
        ("isnan", "bool-tensor"),
        ("item", "scalar"),
        ("long", "int-tensor"),
        ("numel", "int"),
        ("numpy", "ndarray"),
        ("size", "size"),
        ("sort", "tuple:tensor,int-tensor"),
        ("split", "tensors"),
        ("sum", "tensor"),
        ("tolist", "list"),
        ("view", "tensor"),
    ],
)
def test_kind_of_method(name: str, kind: str) -> None:
    assert facts.METHODS[name] == kind


def test_kind_of_attributes() -> None:
    assert facts.ATTRIBUTES["shape"] == "size"
    assert facts.ATTRIBUTES["ndim"] == "int"
    assert facts.ATTRIBUTES["is_cuda"] == "bool"
    assert all(facts.ATTRIBUTES[name] == "tensor" for name in facts.VIEW_ATTRIBUTES)


def test_every_kind_is_one_we_name() -> None:
    for table in (facts.FUNCTIONS, facts.METHODS, facts.ATTRIBUTES):
        for name, kind in table.items():
            assert set(kind.removeprefix("tuple:").split(",")) <= SIMPLE, (name, kind)


def test_few_popular_names_are_unknown() -> None:
    """A linter that does not know what `torch.x` returns is blind from there on."""
    for prefix in ("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special."):
        unknown = {n for n, kind in facts.FUNCTIONS.items() if n.startswith(prefix) and kind == "unknown"}
        assert len(unknown) <= 3, unknown
    assert sum(kind == "unknown" for kind in facts.METHODS.values()) <= 10


def test_modules() -> None:
    assert facts.MODULES["torch.nn.Linear"] == "tensor"
    assert facts.MODULES["torch.nn.LSTM"] == "rnn"
    assert facts.MODULES["torch.nn.Identity"] == "same"
    assert facts.MODULES["torch.nn.modules.container.ModuleList"] == "container"
    assert facts.MODULES["torch.nn.MultiheadAttention"] == "tuple:tensor,tensor"
    assert facts.MODULES["torch.nn.CrossEntropyLoss"] == "tensor"


def test_only_tensors_have_these() -> None:
    assert {"unsqueeze", "masked_fill", "permute", "contiguous", "expand", "scatter_"} <= facts.TENSOR_ONLY_METHODS
    for shared in ("sum", "split", "copy", "view", "to", "float", "update", "relu", "train", "item"):
        assert shared not in facts.TENSOR_ONLY_METHODS, shared


def test_what_depends_on_the_data() -> None:
    assert {"nonzero", "torch.nonzero", "Tensor.masked_select", "unique"} <= facts.DYNAMIC_SHAPE_OPS
    assert {"item", "torch.equal", "torch.allclose", "Tensor.is_nonzero", "tolist"} <= facts.DATA_DEPENDENT_OUTPUT
    assert not facts.DYNAMIC_SHAPE_OPS & {"index", "where", "add", "masked_fill"}


def test_views() -> None:
    assert {"view", "reshape", "detach", "contiguous", "to", "type_as", "unbind", "expand"} <= facts.VIEW_METHODS
    assert not facts.VIEW_METHODS & {"clone", "sum", "index_select", "masked_fill", "repeat"}
    assert {"torch.reshape", "torch.chunk", "torch.nn.functional.dropout"} <= facts.VIEW_FUNCTIONS
    assert not facts.VIEW_FUNCTIONS & {"torch.cat", "torch.where", "torch.nn.functional.unfold"}
    assert {"add_", "copy_", "requires_grad_"} <= facts.INPLACE_METHODS


def test_numpy() -> None:
    assert {"sin", "concatenate", "prod"} <= facts.NUMPY_SUPPORTED
    assert not facts.NUMPY_SUPPORTED & {"load", "savez", "vectorize"}
    assert "uniform" in facts.NUMPY_RANDOM_SUPPORTED
    assert "default_rng" not in facts.NUMPY_RANDOM_SUPPORTED
    assert {"random", "re", "pandas"} <= facts.SKIPPED_MODULES


@pytest.mark.parametrize(
    "name",
    [
        "torch.manual_seed",
        "torch.nonzero",
        "torch.equal",
        "torch.unique",
        "Tensor.item",
        "torch.get_rng_state",
        "torch.nn.LSTM.forward",
    ],
)
def test_torch_calls_that_break(name: str) -> None:
    assert re.fullmatch(r"GB\d{4}", facts.GRAPH_BREAK_OPS[name])


@pytest.mark.parametrize(
    "name", ["torch.add", "torch.nn.functional.softmax", "Tensor.view", "torch.is_tensor", "torch._assert_async"]
)
def test_torch_calls_that_do_not(name: str) -> None:
    assert name not in facts.GRAPH_BREAK_OPS
    assert name not in facts.GRAPH_BREAK_SOMETIMES


@pytest.mark.parametrize(
    "name", ["print", "time.time", "random.random", "logging.Logger.info", "warnings.warn", "open"]
)
def test_calls_that_break(name: str) -> None:
    assert re.fullmatch(r"GB\d{4}", facts.BREAKING_CALLS[name])


@pytest.mark.parametrize(
    "name", ["math.sqrt", "os.getenv", "os.path.join", "itertools.chain", "isinstance", "numpy.prod"]
)
def test_calls_that_do_not(name: str) -> None:
    assert name not in facts.BREAKING_CALLS


def test_some_break_only_in_some_ways() -> None:
    assert {
        "torch.where",
        "torch.repeat_interleave",
        "torch.nn.functional.one_hot",
    } <= facts.GRAPH_BREAK_SOMETIMES.keys()
    assert facts.GRAPH_BREAK_EXAMPLES["torch.where"] == "torch.where(b)"
    assert (
        facts.GRAPH_BREAK_EXAMPLES.keys() == facts.GRAPH_BREAK_SOMETIMES.keys() | facts.BREAKING_CALLS_SOMETIMES.keys()
    )
    assert {"Tensor.detach_", "Tensor.unsqueeze_"} <= facts.GRAPH_BREAK_ON_INPUT.keys()
    assert not facts.GRAPH_BREAK_OPS.keys() & (facts.GRAPH_BREAK_SOMETIMES.keys() | facts.GRAPH_BREAK_ON_INPUT.keys())


def test_measured_ids_are_in_the_registry() -> None:
    registry = graph_breaks()
    torch_names = (facts.GRAPH_BREAK_OPS, facts.GRAPH_BREAK_ON_INPUT, facts.GRAPH_BREAK_SOMETIMES)
    for table in (*torch_names, facts.BREAKING_CALLS, facts.BREAKING_CALLS_SOMETIMES):
        assert set(table.values()) <= registry.keys()


def test_registry() -> None:
    registry = graph_breaks()
    numbers = [int(key.removeprefix("GB")) for key in registry]
    assert numbers == sorted(set(numbers)), "each id once, in order"
    assert numbers[:375] == list(range(375)), "later ids are spread over the rest by torch"
    visibilities = {"static", "runtime", "internal", "obsolete", "unclassified"}
    assert {entry.visibility for entry in registry.values()} <= visibilities
    assert graph_break("GB0170").gb_type == "Data-dependent branching"
    assert json.loads((ROOT / "tclint/torch_facts/graph_breaks.json").read_text()).keys() == registry.keys()


def test_versions() -> None:
    known = history.KNOWN_VERSIONS
    assert facts.TORCH in known
    for table in (history.BREAKS, history.FULLGRAPH_REFUSES, history.SILENTLY_WRONG):
        assert all(set(releases) <= set(known) for releases in table.values())
    assert all(len(counts) == len(known) for counts in history.GRAPHS_COMPILED.values())
    assert "2.13.0" in history.BREAKS["random.random()"]
    assert "2.14.1" not in history.BREAKS["random.random()"]
    assert not set(history.BREAKS) & history.BREAKS_EVERYWHERE


def test_reading_the_facts_does_not_import_torch() -> None:
    code = "import sys, tclint.torch_facts.generated, tclint.torch_facts.history; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="reads the installed torch")
def test_the_tables_are_what_the_installed_torch_says() -> None:
    import torch

    if torch.__version__.split("+")[0] != facts.TORCH:
        pytest.skip(f"the tables are of torch {facts.TORCH}")
    command = [sys.executable, str(ROOT / "scripts" / "make_torch_facts.py"), "--check"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
