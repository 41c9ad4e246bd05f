"""What torch does, by name: well-known facts of results, views and breaks, and that an installed torch still says the same."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tclint.program.libraries import is_read
from tclint.torch_facts import calls, facts, graph_break, graph_breaks, returns, traits
from tclint.torch_facts.kind import Kind

ROOT = Path(__file__).resolve().parents[2]
SIMPLE = {
    *("tensor", "bool-tensor", "int-tensor", "tensors", "bool", "int", "float", "scalar", "str", "none", "dtype"),
    *("device", "size", "list", "ndarray", "object", "unknown", "mixed", "tuple", "function", "iterator", "generator"),
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
        ("torch.nn.functional._Reduction.get_enum", "int"),
        ("torch.utils.checkpoint.checkpoint", "unknown"),
        ("torch.nn.functional.no_such_function", None),
        ("tensor#add_", "tensor"),
        ("tensor#all", "bool-tensor"),
        ("tensor#argsort", "int-tensor"),
        ("tensor#backward", "none"),
        ("tensor#dim", "int"),
        ("tensor#is_contiguous", "bool"),
        ("tensor#isnan", "bool-tensor"),
        ("tensor#item", "scalar"),
        ("tensor#long", "int-tensor"),
        ("tensor#numpy", "ndarray"),
        ("tensor#size", "size"),
        ("tensor#sort", "tuple:tensor,int-tensor"),
        ("tensor#split", "tensors"),
        ("tensor#sum", "tensor"),
        ("tensor#tolist", "list"),
        ("tensor#type", "mixed"),
        ("tensor#view", "tensor"),
        ("tensor@shape", "size"),
        ("tensor@ndim", "int"),
        ("tensor@is_cuda", "bool"),
        ("torch.nn.Linear#__call__", "tensor"),
        ("torch.nn.CrossEntropyLoss#__call__", "tensor"),
        ("torch.nn.ModuleList#__call__", None),
    ],
)
def test_kind(name: str, kind: str | None) -> None:
    assert returns.kind(name) == kind


def test_every_kind_is_one_we_name() -> None:
    for name in facts.table().names:
        if name.startswith(("torch.", "tensor#", "tensor@")):
            kind = returns.kind(name) or "unknown"
            assert kind.startswith("tuple:") or kind in SIMPLE, (name, kind)


def test_modules() -> None:
    assert returns.is_module_class("torch.nn.Linear")
    assert returns.is_module_class("torch.nn.modules.container.ModuleList")
    assert not returns.is_module_class("torch.nn.functional.linear")
    assert traits.gives_argument("torch.nn.Identity#__call__")
    assert not traits.gives_argument("torch.nn.ReLU#__call__")
    lstm = returns.kind("torch.nn.LSTM#__call__")
    assert lstm is not None
    assert lstm.startswith("tuple:tensor,")


def test_only_tensors_have_these() -> None:
    alone = facts.named("is a method of tensors alone")
    assert {"unsqueeze", "masked_fill", "permute", "contiguous", "expand", "scatter_"} <= set(alone)
    for shared in ("sum", "split", "copy", "view", "to", "float", "update", "relu", "train", "item"):
        assert shared not in alone, shared


def test_pairs_come_where_a_dimension_is_given() -> None:
    assert all(returns.gives_pair(f"tensor#{name}") for name in ("max", "min", "median", "mode", "kthvalue"))
    assert not any(returns.gives_pair(f"tensor#{name}") for name in ("sum", "unique_consecutive", "amax"))


def test_what_depends_on_the_data() -> None:
    sized = ("tensor#nonzero", "torch.nonzero", "tensor#masked_select", "torch.unique", "torch.nn.functional.one_hot")
    assert all(traits.is_sized_by_values(name) for name in sized)
    assert not any(traits.is_sized_by_values(name) for name in ("torch.add", "tensor#split", "torch.arange"))
    assert not traits.is_sized_by_values("tensor#repeat_interleave", "T,int")
    assert all(traits.reads_values(name) for name in ("tensor#item", "torch.equal", "torch.allclose"))
    assert not traits.reads_values("tensor#is_contiguous")


def test_views() -> None:
    assert all(traits.is_view_function(f"torch.{name}") for name in ("reshape", "chunk", "nn.functional.dropout"))
    assert not any(traits.is_view_function(f"torch.{name}") for name in ("cat", "where", "nn.functional.unfold"))


@pytest.mark.parametrize(
    ("key", "first", "others", "made"),
    [
        ("tensor#eq", "", ("",), "b"),
        ("tensor#exp", "i", (), "f"),
        ("tensor#exp", "", (), "f"),
        ("tensor#exp", "c", (), "c"),
        ("tensor#sum", "b", (), "i"),
        ("tensor#sum", "", (), ""),
        ("tensor#abs", "c", (), "f"),
        ("tensor#gather", "f", ("i",), "f"),
        ("torch.maximum", "i", ("f",), ""),
        ("torch.maximum", "i", ("i",), "i"),
        ("tensor#softmax", "", (), "f"),
        ("torch.cat", "i", (), "i"),
        ("torch.no_such", "f", (), ""),
    ],
)
def test_dtypes_follow(key: str, first: str, others: tuple[str, ...], made: str) -> None:
    assert traits.result_dtype(key, first, others) == made


@pytest.mark.parametrize(
    ("key", "way", "change"),
    [
        ("tensor#sum", "T", "0"),
        ("tensor#sum", "T,int", "-1"),
        ("torch.sum", "T,dim=int", "-1"),
        ("tensor#sum", "T,dim=int,keepdim=bool", "="),
        ("tensor#unsqueeze", "T,int", "+1"),
        ("tensor#squeeze", "T", None),
        ("tensor#nonzero", "T", "2"),
        ("tensor#exp", "T,unheard=int", "="),
        ("tensor#norm", "T,int", "0"),
        ("torch.nn.functional.cross_entropy", "T,T", "0"),
    ],
)
def test_ranks_follow(key: str, way: str, change: str | None) -> None:
    assert traits.rank_change(key, way) == change


def test_makers() -> None:
    assert traits.makes_tensor("torch.zeros")
    assert traits.makes_tensor("torch.hann_window")
    assert not traits.makes_tensor("torch.zeros_like")
    assert not traits.makes_tensor("torch.sin")
    assert traits.is_shaped_by_numbers("torch.rand")
    assert not traits.is_shaped_by_numbers("torch.eye")
    assert (traits.made_dtype("torch.randperm"), traits.made_rank("torch.arange")) == ("i", 1)
    assert not traits.is_steady("torch.rand")


@pytest.mark.parametrize(
    "name",
    [
        *("torch.manual_seed", "torch.nonzero", "torch.equal", "torch.unique", "Tensor.item", "torch.get_rng_state"),
        *("builtins.print", "time.time", "random.random", "logging.Logger.info", "warnings.warn", "builtins.open"),
        *("numpy.load", "numpy.vectorize"),
    ],
)
def test_calls_that_break(name: str) -> None:
    told = calls.verdict(name, "2.13")
    assert told is None or told.breaks != "never"
    assert name.startswith("numpy.") or (told is not None and re.fullmatch(r"GB\d{4}", told.id))


@pytest.mark.parametrize(
    "name",
    [
        *("torch.add", "torch.nn.functional.softmax", "Tensor.view", "torch.is_tensor", "torch._assert_async"),
        *("math.sqrt", "os.getenv", "os.path.join", "itertools.chain", "builtins.isinstance", "numpy.sin"),
    ],
)
def test_calls_that_do_not(name: str) -> None:
    told = calls.verdict(name, "2.13", [Kind.of("Tf2")] if name.startswith("Tensor.") else ())
    assert told is not None
    assert told.breaks != "always"


def test_some_break_only_in_some_ways() -> None:
    for name in ("torch.where", "torch.repeat_interleave", "torch.nn.functional.one_hot"):
        told = calls.verdict(name, "2.13")
        assert told is not None
        assert told.breaks == "sometimes", name
    on_input = calls.verdict("Tensor.unsqueeze_", "2.13")
    assert on_input is not None
    assert on_input.only_on_input


def test_ids_are_in_the_registry() -> None:
    registry = graph_breaks()
    told = {id_ for text in facts.table().names.values() for id_ in re.findall(r"!(GB\d+)", text)}
    # Ids of releases after the one whose registry is stored.
    newer = {id_ for text in facts.table().names.values() for id_ in re.findall(r"\[1[45][^\]]*\][^;]*!(GB\d+)", text)}
    assert told - newer <= registry.keys()


def test_registry() -> None:
    registry = graph_breaks()
    numbers = [int(key.removeprefix("GB")) for key in registry]
    assert numbers == sorted(set(numbers)), "each id once, in order"
    assert numbers[:375] == list(range(375)), "later ids are spread over the rest by torch"
    visibilities = {"static", "runtime", "internal", "obsolete", "unclassified"}
    assert {entry.visibility for entry in registry.values()} <= visibilities
    assert graph_break("GB0170").gb_type == "Data-dependent branching"
    assert json.loads((ROOT / "tclint/torch_facts/graph_breaks.json").read_text()).keys() == registry.keys()


@pytest.mark.dynamo
def test_switches_are_there_and_off() -> None:
    config = pytest.importorskip("torch._dynamo.config")
    switches = {entry.switch for entry in graph_breaks().values() if entry.switch}
    assert switches
    assert [getattr(config, switch) for switch in switches] == [False] * len(switches)


@pytest.mark.dynamo
def test_no_text_is_read_of_packages_that_dynamo_skips() -> None:
    rules = pytest.importorskip("torch._dynamo.trace_rules")
    assert "tree" in rules.THIRDPARTY_SKIPLIST
    assert [package for package in sorted(rules.THIRDPARTY_SKIPLIST) if is_read(package)] == []


def test_a_library_is_known_where_it_defines_what_it_shows() -> None:
    assert facts.shown("torch_geometric.nn.conv.cheb_conv.ChebConv") == "torch_geometric.nn.conv.ChebConv"
    assert facts.shown("torchaudio.transforms._transforms.Resample") == "torchaudio.transforms.Resample"
    apart = "torchvision.transforms.v2.RandomApply"  # a class of its own, of the same name
    assert facts.shown(apart) == apart


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="reads the installed torch")
def test_the_registry_is_that_of_the_installed_torch() -> None:
    import torch

    asked = json.loads((ROOT / "tclint/torch_facts/results.json").read_text())["torch"]
    if torch.__version__.split("+")[0] != asked:
        pytest.skip(f"the registry is of torch {asked}")
    command = [sys.executable, str(ROOT / "scripts" / "ask" / "registry.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="asks the installed torch")
@pytest.mark.parametrize("key", ["tensor#exp", "tensor#sum", "torch.maximum", "torch.nn.functional.cross_entropy"])
def test_the_installed_torch_still_gives_such_results(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    stored = json.loads((ROOT / "tclint/torch_facts/results.json").read_text())
    if torch.__version__.split("+")[0] != stored["torch"]:
        pytest.skip(f"the answers are of torch {stored['torch']}")
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "ask"))
    spec = importlib.util.spec_from_file_location("asked_results", ROOT / "scripts" / "ask" / "results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.ask(key) == stored["names"][key]
