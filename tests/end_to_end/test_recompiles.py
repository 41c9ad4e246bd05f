"""Small programs that torch has judged (benchmarks/recompiles.json, specialised.json): what tclint says of them."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
ANSWERS = json.loads((BENCHMARKS / "recompiles.json").read_text(encoding="utf-8"))
NUMBERS = json.loads((BENCHMARKS / "specialised.json").read_text(encoding="utf-8"))
# What cannot be seen in the source, or not yet. One that is found must leave this list.
MISSED = {
    "bound__param_or_tensor",
    "cfgobj__simple_namespace_mode_str",
    "dtype__quant_levels_mixed",
    "everyday__aug_strength_partial",
    "everyday__hidden_state_none_and_grad",  # linted beside programs that freeze parameters
    "everyday__sequence_bucket_iter",
    "everyday__speculative_lengths",
    "everyday__swa_then_eval",  # training, evaluation and no gradients: each is compiled once, and needed
    "everyday__task_router_strings",
    "everyday__train_eval_dropout_grad",  # the same
    "intattr__layer_offset_tuple",
    "kv__dict_cache_by_layer",
    "kv__layers_partly_empty",
    "loop__augment_module_per_batch",
    "loop__compile_inside_loop",
    "loop__dataclass_config",
    "loop__kv_cache_cat",
    "loop__list_of_features",  # found where the list is read first, a line that is not marked
    "loop__meta_device_shapes",
    "loop__pad_to_longest",
    "loop__train_eval_grad_variants",  # found where gradients are turned off, a line that is not marked
    "loop__tuple_state_growth",  # found where the tuple is read first
    "mode__grad_train_combo",  # found at the call, under a context that gets both values
    "optim__add_param_group",
    "optim__add_param_group_progressive",
    "optim__onecycle_betas",
    "optim__sgd_nesterov_flags",
    "shape__name_from_length",
    "site__stages_with_strides",
    "users__class_attr_switch",
    "users__contiguity",
    "users__module_argument_sizes",
    "users__numpy_lengths",
    "users__queue_server",
    "users__train_eval_phases",
    "users__unfreeze_each_epoch",
}


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_programs() -> None:
    told = loaded("recompiles").score(ANSWERS["compiles"])
    assert told.missed == MISSED
    assert told.false == frozenset()
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    hazards = len(told.found) + len(told.missed)
    assert (
        f"{hazards} of {len(ANSWERS['compiles'])} recompile under torch {ANSWERS['torch']}: {len(told.found)} found,"
        f" {len(told.false)} others flagged"
    ) in page


def test_every_hazard_has_its_line() -> None:
    recompiles = loaded("recompiles")
    assert sorted(path.stem for path in recompiles.FOLDER.glob("*.py")) == sorted(ANSWERS["compiles"])
    for name, count in ANSWERS["compiles"].items():
        assert bool(recompiles.marked(recompiles.FOLDER / f"{name}.py")) == (count >= recompiles.HAZARD), name


@pytest.mark.dynamo
@pytest.mark.parametrize("name", ["intattr__clip_range_annealed", "glob__kl_weight_float"])
def test_torch_still_compiles_as_often(name: str) -> None:
    torch = pytest.importorskip("torch")
    if torch.__version__ != ANSWERS["torch"]:
        pytest.skip(f"the answers are of torch {ANSWERS['torch']}")
    recompiles = loaded("recompiles")
    assert recompiles.judge(recompiles.FOLDER / f"{name}.py") == ANSWERS["compiles"][name]


def test_the_table_of_numbers_is_what_was_measured() -> None:
    from tclint.torch_facts import calls

    measured = loaded("specialised")
    for kind in ("float", "int"):
        told = {name: at for name, at in calls.burned(kind).items() if at.positions or at.keywords}
        told = {name: at for name, at in told.items() if re.match(r"(torch|Tensor)(\.[a-z]\w*)+$", name)}
        assert measured.burnt(NUMBERS["rows"], kind) == {
            name: (at.positions, at.keywords) for name, at in sorted(told.items())
        }


@pytest.mark.dynamo
@pytest.mark.parametrize(
    "body",
    ["return v - x", "return x - v", "return torch.nn.functional.huber_loss(x, y, delta=v)", "return d8.sum(dim=v)"],
)
def test_torch_still_burns_them_in(body: str) -> None:
    torch = pytest.importorskip("torch")
    if torch.__version__ != NUMBERS["torch"]:
        pytest.skip(f"the answers are of torch {NUMBERS['torch']}")
    measured = loaded("specialised")
    rows = [row for row in NUMBERS["rows"] if row["body"] == body]
    assert rows, body
    for row in rows:
        assert measured.judge(row, measured.inputs()) == row["compiled"]
