"""The query API: what a release does, by name and by effect."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tclint.torch_facts import calls, effect, facts, overlay, traits
from tclint.torch_facts.kind import Kind


def test_the_newest_release_is_the_last_of_the_table() -> None:
    known = facts.table().releases
    assert f"2.{known[-1]}" == facts.NEWEST
    assert f"2.{known[0]}" == facts.OLDEST
    assert list(known) == sorted(known)


def test_unknown_stays_unknown() -> None:
    torch = facts.at(facts.NEWEST)
    assert torch.call("torch.nn.functional.no_such_function") is None
    assert torch.method("tensor", "no_such_method") is None
    assert torch.attribute("tensor", "no_such_attribute") is None


@pytest.mark.parametrize(
    ("version", "nearest"),
    [("1.13", facts.OLDEST), ("2.0.1", facts.OLDEST), ("2.99", facts.NEWEST), ("3.0", facts.NEWEST)],
)
def test_a_release_out_of_range_is_read_as_the_nearest_with_a_note(version: str, nearest: str) -> None:
    torch = facts.at(version)
    assert torch.version == nearest
    assert torch.note is not None
    assert version in torch.note


def test_a_known_release_has_no_note() -> None:
    assert facts.at("2.13.0+cpu").note is None
    assert facts.at("2.13.0+cpu").version == "2.13"
    with pytest.raises(ValueError, match="not a torch version"):
        facts.at("nightly")


def test_what_a_call_returns_follows_its_arguments() -> None:
    torch = facts.at("2.13")
    where = torch.call("torch.where")
    assert where is not None
    mask, floats, integers = Kind.of("Tb2"), Kind.of("Tf2"), Kind.of("Ti2")
    assert where.result_for([mask, floats, floats]) == floats
    assert where.result_for([mask, integers, integers]) == integers
    indices = where.result_for([mask])
    assert indices is not None
    assert indices.name == "tuple"


def test_the_five_wrong_inferences_of_the_issue() -> None:
    torch = facts.at("2.13")
    enum = torch.call("torch.nn.functional._Reduction.get_enum")
    assert enum is not None
    assert enum.result == Kind("int")
    check = torch.call("torch.nn.functional._mha_shape_check")
    assert check is not None
    assert check.result == Kind("bool")
    kind = torch.method("tensor", "type")
    assert kind is not None
    assert kind.result_for([Kind.of("Tf2")]) == Kind("str")
    cumsum = torch.method("ndarray", "cumsum")
    assert cumsum is not None
    assert cumsum.result is not None
    assert cumsum.result.name == "ndarray"
    integers = torch.method("numpy.random.Generator", "integers")
    assert integers is not None
    assert all(not form.result.is_tensor for form in integers.forms)


def test_effects() -> None:
    torch = facts.at("2.13")
    assert {"tensor#item", "torch.equal", "builtins.float"} <= torch.names(effect.reads_number)
    assert {"torch.nonzero", "torch.unique", "tensor#masked_select"} <= torch.names(effect.shape_follows_values)
    assert {"torch.nonzero", "time.time", "torch.manual_seed"} <= torch.names(effect.always_breaks)
    assert {"tensor#add_"} <= torch.names(effect.mutates)
    assert {"tensor#view", "tensor#transpose"} <= torch.names(effect.aliases)
    assert "torch.sin" not in torch.names(effect.breaks)
    assert "tensor#shape" not in torch.names(effect.reads_values)


def test_methods_and_attributes() -> None:
    torch = facts.at("2.13")
    shape, item = torch.attribute("tensor", "shape"), torch.method("torch.Tensor", "item")
    assert shape is not None
    assert shape.result == Kind("size")
    assert item is not None
    assert item.breaks == "always"
    assert item.ids == ("GB0124",)
    assert torch.call("torch.Tensor.item") is item
    assert torch.call("len") is torch.call("builtins.len")
    linear = torch.module("torch.nn.Linear")
    assert linear is not None
    assert linear is torch.module("torch.nn.modules.linear.Linear")


def test_every_line_of_the_table_can_be_read() -> None:
    for release in facts.table().releases:
        for answer in facts.at(f"2.{release}").answers():
            assert answer.forms
            for form in answer.forms:
                assert form.outcome in ("traced", "breaks", "raises", "skipped", "crashes"), answer.name
                assert (form.reason is not None) == (form.outcome in ("breaks", "raises")), answer.name


def test_the_overlay_gives_reasons() -> None:
    for item in overlay.ENTRIES:
        assert len(item.reason) > 30, item.key
        assert item.first <= item.last
        assert facts._answer(item.key, item.first) is not None


def test_the_table_is_sorted() -> None:
    names = list(facts.table().names)
    assert names == sorted(names)


def test_loading_is_quick() -> None:
    """Less than ten milliseconds of CPU for the table and a first question; the best of five fresh processes."""
    code = (
        "import time; import json, re, functools, dataclasses, pathlib\n"
        "from tclint.torch_facts import facts\n"
        "start = time.process_time(); facts.at('2.11').call('torch.nonzero')\n"
        "print(time.process_time() - start)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    assert min(float(run.stdout) for run in runs) < 0.010


def test_torch_is_not_imported() -> None:
    code = "import sys; from tclint.torch_facts import facts; facts.at('2.11').call('torch.sin'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_effects_by_hand_give_reasons_and_are_asked_for() -> None:
    """Each says why it cannot be asked, names each name once, and somebody asks for it."""
    root = Path(__file__).resolve().parents[2]
    asking = [path for folder in ("rules", "tclint") for path in (root / folder).rglob("*.py")]
    texts = "\n".join(path.read_text(encoding="utf-8") for path in asking)
    for said, parts in overlay.effects().items():
        assert f'("{said}")' in texts, f"nobody asks for {said!r}"
        for part in parts:
            assert len(part.why) > 25, said
            assert part.first <= part.last, said
            assert part.names, said
        names = [name for part in parts for name in part.names]
        assert len(names) == len(set(names)), said
    with pytest.raises(KeyError):
        facts.named("no such effect")


def test_places_of_arguments() -> None:
    sizes = facts.places("takes sizes")
    assert sizes["torch.narrow"] == facts.Places((2, 3), ("start", "length"))
    assert sizes["Tensor.view"].within(3) == (0, 1, 2)
    assert sizes["torch.narrow"].within(3) == (2,)


def test_names_by_what_they_do() -> None:
    assert {"torch.nonzero", "Tensor.unique", "numpy.nonzero"} <= set(calls.breaking_with("GB0036"))
    assert calls.burned("float")["Tensor.clamp"] == facts.Places((0, 1), ("max", "min"))
    assert calls.burned("int")["math.gcd"].every
    assert "math.sqrt" not in calls.burned("float")
    assert {"Tensor.add_", "Tensor.copy_", "Tensor.requires_grad_"} <= set(traits.in_place())
    assert [m for m in ("view", "detach", "to", "expand", "unbind", "type_as") if not traits.is_view(m)] == []
    assert [m for m in ("clone", "sum", "index_select", "repeat", "add_") if traits.is_view(m)] == []


def test_what_a_release_has() -> None:
    assert facts.has("torch.compile", "2.13")
    assert facts.has("torch.nn.functional", "2.4")
    assert facts.has("torch.compiler.disable", "2.13")
    assert not facts.has("torch.no_such", "2.13")
    assert not facts.has("torch.nn.LinearCrossEntropyLoss", "2.12")
    assert facts.has("torch.nn.LinearCrossEntropyLoss", "2.13")


@pytest.mark.parametrize(("release", "breaks"), [("2.11.0", "always"), ("2.13.0", "never"), ("2.15.0", "never")])
def test_waiting_for_the_device_is_part_of_the_graph_since_2_13(release: str, breaks: str) -> None:
    verdict = calls.verdict("torch.cuda.synchronize", release, (), {})
    assert verdict is not None
    assert verdict.breaks == breaks
