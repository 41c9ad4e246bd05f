"""Small programs that Dynamo has judged (benchmarks/probes.json): what tclint says of them, and what it does not."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = json.loads((ROOT / "benchmarks" / "probes.json").read_text(encoding="utf-8"))
# Corners of Python's library, and what cannot be seen in the source. One that is found must leave this list.
# `1 in x` is asked of a list as well as of a tensor, and nothing but its name calls this one a tensor.
MISSED = {
    "classes": {"sorted_o", "getattribute_o", "err", "err_shape"},
    "containers": {"template", "in_if"},
    "stdlib": {
        *("inspect_sig", "callable_", "template"),
    },
    # `dir` of a module and the length of a storage: what is asked breaks, but only with what the program makes of it.
    "tensors": {"own", "dir_mod", "t_storage"},
    "torch_api": set(),
}
# The same object on both sides: Python asks for identity first, and never for the tensor's truth.
# What a `cached_property` gives is kept by the object, and the judge had read it before.
FALSE = {"stdlib": {"index_list", "eq_list"}, "classes": {"cached_p"}}


@pytest.fixture(scope="module")
def probes() -> ModuleType:
    spec = importlib.util.spec_from_file_location("probes", ROOT / "benchmarks" / "probes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("stem", sorted(ANSWERS["programs"]))
def test_programs(stem: str, probes: ModuleType) -> None:
    truth = ANSWERS["programs"][stem]
    said = probes.flagged((ROOT / "benchmarks" / "probes" / f"{stem}.py").read_text(encoding="utf-8"))
    assert {name for name, why in truth.items() if why and name not in said} == MISSED[stem]
    assert {name for name, why in truth.items() if not why and name in said} == FALSE.get(stem, set())


def test_the_page_has_the_numbers() -> None:
    breaks = sum(bool(why) for truth in ANSWERS["programs"].values() for why in truth.values())
    found = breaks - sum(map(len, MISSED.values()))
    others = sum(map(len, FALSE.values()))
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert f"{breaks} break under torch {ANSWERS['torch']}: {found} found, {others} others flagged" in page
    assert f"there are {sum(map(len, ANSWERS['programs'].values()))} small programs" in page


@pytest.mark.dynamo
def test_dynamo_still_says_so(probes: ModuleType) -> None:
    """One file, asked again: the answers are of the torch that is installed for the tests."""
    torch = pytest.importorskip("torch")
    if torch.__version__ != ANSWERS["torch"]:
        pytest.skip(f"the answers are of torch {ANSWERS['torch']}")
    told = probes.judge(ROOT / "benchmarks" / "probes" / "containers.py")
    assert {name for name, why in told.items() if why} == {
        name for name, why in ANSWERS["programs"]["containers"].items() if why
    }
