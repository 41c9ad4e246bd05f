"""Which sizes of a sweep a model takes: found out where a wrong one raises, not where it ends the process."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from verify_helpers import finding_on

pytest.importorskip("torch")

import torch

from tclint.verify.child import repeated
from tclint.verify.child.experiments import EagerFailed, Setup
from tclint.verify.child.inputs import Call, Example
from tclint.verify.child.sweep import sweeps
from tclint.verify.claims import claim_of, is_about, is_varied
from tclint.verify.heard import Fault


class Positions(torch.nn.Module):
    """Takes eleven positions at most."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(11, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(torch.arange(ids.shape[1], device=ids.device)) + ids[..., None]


EXAMPLE = Example("test", Positions, lambda: [Call((torch.zeros(4, 10, dtype=torch.long),))])
LENGTH = next(each for each in sweeps(EXAMPLE.calls()[0]) if each.label.startswith("length"))


def setup(device: str) -> Setup:
    return Setup(device=device, seed=0, wanted=lambda path: False, title="test")


def lengths(numbers: list[int]) -> list[int]:
    return [LENGTH.calls(EXAMPLE.calls()[0])[number].args[0].shape[1] for number in numbers]


def test_a_length_that_the_model_does_not_take_is_left_out() -> None:
    found = lengths(repeated.working_calls(EXAMPLE, LENGTH, setup("cpu")))
    assert found
    assert max(found) <= 11
    assert len(found) < len(LENGTH.calls(EXAMPLE.calls()[0]))


def test_no_size_goes_to_a_gpu_that_has_not_run_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    real, on_gpu = repeated.run_eager, []

    def run_eager(where: Setup, example: Example, mode: str = "") -> object:
        if where.device == "cpu":
            return real(where, example, mode)
        on_gpu.append(example.calls()[0].args[0].shape[1])
        return {}, []

    monkeypatch.setattr(repeated, "run_eager", run_eager)
    found = lengths(repeated.working_calls(EXAMPLE, LENGTH, setup("cuda")))
    assert found == on_gpu == lengths(repeated.working_calls(EXAMPLE, LENGTH, setup("cpu")))


def test_a_model_for_gpus_alone_is_tried_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_eager(where: Setup, example: Example, mode: str = "") -> object:
        if where.device == "cpu":
            raise EagerFailed(Fault("eager", "RuntimeError", "needs cuda"))
        return {}, []

    monkeypatch.setattr(repeated, "run_eager", run_eager)
    assert len(repeated.working_calls(EXAMPLE, LENGTH, setup("cuda"))) == len(LENGTH.calls(EXAMPLE.calls()[0]))


def test_the_same_call_runs_once_and_the_cores_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    real, asked = repeated.run_eager, []

    def run_eager(where: Setup, example: Example, mode: str = "") -> object:
        asked.append((where.device, torch.get_num_threads()))
        return real(where, example, mode) if where.device == "cpu" else ({}, [])

    monkeypatch.setattr(repeated, "run_eager", run_eager)
    same = next(sweeps(EXAMPLE.calls()[0]))
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        assert repeated.working_calls(EXAMPLE, same, setup("cuda")) == [0, 1, 2, 3]
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        # First whether it runs there at all, then the call itself; the GPU's steps are launched by one thread.
        assert asked == [("cpu", cores), ("cpu", cores), ("cuda", 1)]
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_a_dict_is_passed_with_less_where_somebody_says_so() -> None:
    """One key at a time, and all but one: only for a finding that says that the program does so."""
    call = Call(({"image": torch.ones(2, 3), "text": torch.ones(2, 3), "audio": torch.ones(2, 3)},))
    assert not any("keys" in sweep.varied for sweep in sweeps(call, ["batch"]))
    (sweep,) = [sweep for sweep in sweeps(call, ["batch"], keys=True) if "keys" in sweep.varied]
    held = [tuple(each.args[0]) for each in sweep.calls(call)]
    assert held[:4] == [("image", "text", "audio"), ("image",), ("text",), ("audio",)]
    assert len(held) == len(set(held)) == 7


def test_other_sizes_are_no_other_keys() -> None:
    claim = claim_of(
        replace(finding_on("m.py", 3), message="what `batch` holds changes from call to call (batch = {})")
    )
    assert not is_varied(("size",), claim)
    assert not is_varied(("batch",), claim)
    assert is_varied(("batch", "keys"), claim)
    assert is_about("0/0: ___dict_contains('text', args[0])", claim)
