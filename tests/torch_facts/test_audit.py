"""What was written by hand is held against torch where it can be tried: `scripts/ask/audit.json` has what torch said."""

from __future__ import annotations

import json

import pytest
from lintkit import ROOT, script

audit = script("ask/audit")
STORED = json.loads((ROOT / "scripts/ask/audit.json").read_text(encoding="utf-8"))
RELEASE = audit.minor(STORED["release"])
OVERLAY = dict(audit.names_of(json.loads(audit.OVERLAY.read_text(encoding="utf-8")), RELEASE))


def test_every_name_that_a_check_is_written_for_was_tried() -> None:
    assert set(STORED["effects"]) == set(audit.CHECKS) <= set(OVERLAY)
    for effect, answers in STORED["effects"].items():
        tried = {name for names in answers.values() for name in names.split()}
        assert tried | set(STORED["not there"].get(effect, ())) == set(OVERLAY[effect]), effect


def test_torch_contradicts_nothing() -> None:
    assert {effect: told["not so"] for effect, told in STORED["effects"].items() if "not so" in told} == {}


def test_names_exist_but_for_those_of_an_older_numpy() -> None:
    gone = [name for names in STORED["not there"].values() for name in names]
    assert [name for name in gone if not name.startswith("numpy.")] == []


def test_most_of_what_is_tried_can_be_tried() -> None:
    counts = dict.fromkeys(("so", "could not"), 0)
    for told in STORED["effects"].values():
        for answer, names in told.items():
            counts[answer] += len(names.split())
    assert counts["could not"] * 10 < counts["so"]


def test_a_name_that_is_not_there_is_noticed() -> None:
    for name in ("torch.compiler.mark_nothing", "Tensor.retain_grad_"):
        assert audit.missing(name), name
    for name in ("torch._higher_order_ops.cond.cond", "tokenizers.Tokenizer"):
        assert not audit.missing(name), name


@pytest.mark.dynamo
def test_torch_says_so() -> None:
    told = {
        (effect, name): answer
        for effect, answers in STORED["effects"].items()
        for answer, names in answers.items()
        for name in names.split()[:3]
    }
    assert {key: audit.holds(*key) for key in told} == told


@pytest.mark.dynamo
def test_what_is_wrong_is_noticed() -> None:
    assert audit.holds("is the same done twice", "add_") == "could not"  # takes an argument that nobody gives
    assert audit.holds("is the same done twice", "sin_") == "not so"
    assert audit.holds("gives what has no gradient", "exp") == "not so"
    assert audit.holds("is a context that Dynamo enters", "torch.random.fork_rng") == "not so"
