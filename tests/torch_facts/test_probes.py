"""The facts agree with the small programs of shared/micro/versions that are about one callable: torch judged both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tclint.torch_facts import facts
from tclint.torch_facts.kind import Kind

PROBES = Path(__file__).resolve().parents[3] / "shared" / "micro" / "versions" / "versions.json"
#: Probe -> key, and the kinds of the arguments where the probe is about one of several ways of calling.
SINGLE: dict[str, tuple[str, str | None]] = {
    ".item() arithmetic": ("tensor#item", "Tf0"),
    ".tolist()": ("tensor#tolist", "Tf1"),
    "int(tensor)": ("builtins.int", "Tf0"),
    "float(tensor)": ("builtins.float", "Tf0"),
    "torch._check_tensor_all": ("torch._check_tensor_all", None),
    "print()": ("builtins.print", ""),
    "warnings.warn": ("warnings.warn", None),
    "logger.warning": ("logging.Logger#warning", None),
    "bool mask x[x>0]": ("tensor#__getitem__", "Tf2,Tb2"),
    "x[mask]=scalar": ("tensor#__setitem__", "Tf2,Tb2,float"),
    "torch.nonzero": ("torch.nonzero", "Tb2"),
    "torch.where(cond)": ("torch.where", "Tb2"),
    "torch.unique": ("torch.unique", "Tf2"),
    "bincount": ("torch.bincount", "Ti1"),
    "repeat_interleave(tensor)": ("tensor#repeat_interleave", "Tf2,Ti1,int"),
    "np fn on .numpy()": ("tensor#numpy", "Tf2"),
    "random.random()": ("random.random", None),
    "np.random.rand()": ("numpy.random.rand", ""),
    "deepcopy(tensor)": ("copy.deepcopy", "Tf2"),
    "deepcopy(dict)": ("copy.deepcopy", "dict"),
    "os.environ.get": ("os.environ.get", None),
    "os.getenv": ("os.getenv", None),
    "time.time()": ("time.time", None),
    "time.perf_counter()": ("time.perf_counter", None),
    "datetime.now()": ("datetime.datetime.now", None),
    "nn.LSTM": ("torch.nn.LSTM#__call__", "Tf3"),
    "autograd.grad inside": ("torch.autograd.grad", None),
    "loss.backward() inside": ("tensor#backward", None),
    "optimizer.zero_grad inside": ("torch.optim.SGD#zero_grad", None),
    "data_ptr()": ("tensor#data_ptr", "Tf2"),
    "WeakKeyDictionary[mod]": ("weakref.WeakKeyDictionary#__getitem__", None),
    "inspect.signature": ("inspect.signature", None),
    "math.ceil(tensor)": ("math.ceil", "Tf0"),
    "for row in tensor": ("tensor#__iter__", None),
    "x[i] i tensor scalar": ("tensor#__getitem__", "Tf2,Ti0"),
    "range(tensor)": ("builtins.range", "Ti0"),
    "manual_seed inside": ("torch.manual_seed", None),
    "Tensor(list of 0-d tensors)": ("torch.tensor", "list[Tf0*]"),
    "x.is_contiguous branch": ("tensor#is_contiguous", "Tf2"),
    "str.replace/format": ("str#replace", None),
    "re.findall": ("re.Pattern#findall", None),
    "x.view_as_complex": ("torch.view_as_complex", None),
    "sparse to_sparse": ("tensor#to_sparse", "Tf2"),
    "jit.script fn": ("torch.jit.script#__call__", None),
    "torch.save": ("torch.save", None),
    "vars(self)/__dict__": ("builtins.vars", "module"),
    "id(obj)": ("builtins.id", "module"),
    "hash(str)": ("builtins.hash", "str"),
    "torch.set_default_dtype": ("torch.get_default_dtype", None),
    "tensor.new_tensor(py)": ("tensor#new_tensor", None),
    "x.numpy().tolist": ("ndarray#tolist", None),
    "torch._assert_async": ("torch._assert_async", None),
    "torch.where fix": ("torch.where", "Tb2,Tf2,Tf2"),
    "torch.cond fix": ("torch.cond", None),
    "set(list of ints)": ("builtins.set", None),
    "sorted(list of tensors)": ("builtins.sorted", "list[Tf0*]"),
}
#: Where the two differ, and why torch is right both times.
EXPLAINED: dict[tuple[str, str], str] = {
    ("data_ptr()", release): "the call is traced; what breaks there is the probe's `> 0` (the asking uses `== 0`)"
    for release in ("2.4", "2.6", "2.9", "2.10", "2.11", "2.12")
} | {
    ("vars(self)/__dict__", release): "vars(module) is traced; what breaks there is the probe's len() of the result"
    for release in ("2.4", "2.6", "2.9", "2.10", "2.11")
}


def says(key: str, kinds: str | None, release: str) -> str | None:
    """`breaks`, `traced`, or None where it was not asked."""
    answer = facts._answer(key, int(release.split(".")[1]))
    if answer is None:
        return None
    forms = answer.forms
    if kinds is not None:
        wanted = tuple(Kind.of(word) for word in kinds.split(",")) if kinds else ()
        forms = tuple(form for form in forms if tuple(a.kind for a in form.arguments) == wanted)
    told = {form.outcome in ("breaks", "skipped", "raises") for form in forms}
    return None if len(told) != 1 else "breaks" if told.pop() else "traced"


def disagreements() -> tuple[int, list[tuple[str, str, str | None, str]]]:
    """How many pairs of probe and release were compared, and those where the two do not say the same."""
    probes = json.loads(PROBES.read_text(encoding="utf-8"))["probes"]
    known = {f"2.{release}" for release in facts.table().releases}
    compared, found = 0, []
    for probe, (key, kinds) in SINGLE.items():
        for version, seen in probes[probe].items():
            release = version.rsplit(".", 1)[0]
            if release not in known:
                continue
            wanted = "traced" if seen.get("full") == "ok" and not seen.get("gb") else "breaks"
            told = says(key, kinds, release)
            compared += told is not None
            if told != wanted:
                found.append((probe, release, told, wanted))
    return compared, found


@pytest.mark.skipif(not PROBES.exists(), reason="the probes are beside the repository")
def test_the_facts_agree_with_the_probes() -> None:
    compared, found = disagreements()
    wrong = [row for row in found if row[2] is not None and (row[0], row[1]) not in EXPLAINED]
    assert compared > 100
    assert len(wrong) <= 0.03 * compared, wrong
