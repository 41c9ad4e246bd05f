"""Packing: the answers of releases become lines with ranges."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ASK = Path(__file__).resolve().parents[2] / "scripts" / "ask"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(ASK))
    sys.modules.pop("store", None)
    import store

    return store


def form(source: str, outcome: str, **more: object) -> dict[str, object]:
    return {"source": source, "arguments": {"0": "Tf2"}, "result": "Tf2", "outcome": outcome, "mutates": [], **more}


def pack(store: object, folder: Path, answers: dict[str, dict[str, list[dict[str, object]]]]) -> dict[str, str]:
    for release, forms in answers.items():
        raw = {"torch": f"{release}.0", "forms": forms, "asked": list(forms)}
        (folder / f"{release}.json").write_text(json.dumps(raw))
    return store.Table(folder).lines()  # type: ignore[attr-defined, no-any-return]


def test_what_holds_everywhere_has_no_range(store: object, tmp_path: Path) -> None:
    answers = {release: {"torch.some": [form("torch.some(x)", "traced")]} for release in ("2.11", "2.12", "2.14")}
    assert pack(store, tmp_path, answers)["torch.some"] == "Tf2>Tf2"


def test_a_break_that_went_has_two_ranges_and_borrows_no_id(store: object, tmp_path: Path) -> None:
    broken = form("torch.some(x)", "breaks", why=["GB0036 Dynamic shape operator"])
    answers = {"2.11": {"torch.some": [broken]}, "2.12": {"torch.some": [broken]}}
    answers |= {"2.14": {"torch.some": [form("torch.some(x)", "traced")]}}
    assert pack(store, tmp_path, answers)["torch.some"] == "[11-12]Tf2>Tf2 !GB0036 ; [14]Tf2>Tf2"


def test_an_old_reason_gets_the_id_of_a_later_release(store: object, tmp_path: Path) -> None:
    old = form("torch.some(x)", "breaks", why=["GB? dynamic shapes"])
    new = form("torch.some(x)", "breaks", why=["GB0036 Dynamic shape operator"])
    answers = {"2.4": {"torch.some": [old]}, "2.9": {"torch.some": [new]}}
    assert pack(store, tmp_path, answers)["torch.some"] == "Tf2>Tf2 !GB0036"


def test_a_name_that_a_release_lacks_is_not_invented(store: object, tmp_path: Path) -> None:
    answers: dict[str, dict[str, list[dict[str, object]]]] = {
        "2.9": {},
        "2.10": {"torch.some": [form("torch.some(x)", "traced")]},
    }
    assert pack(store, tmp_path, answers)["torch.some"] == "[10]Tf2>Tf2"


def test_an_unasked_way_stands_in_only_where_the_asked_ones_agree(store: object, tmp_path: Path) -> None:
    first, second = form("torch.some(x)", "traced"), form("torch.some(n)", "traced", arguments={"0": "Ti2"})
    broken = form("torch.some(x)", "breaks", why=["GB0036 Dynamic shape operator"])
    agreeing = {"2.12": {"torch.some": [first]}, "2.13": {"torch.some": [first, second]}}
    assert pack(store, tmp_path, agreeing)["torch.some"] == "Tf2>Tf2 ; Ti2>Tf2"
    differing = {"2.12": {"torch.some": [broken]}, "2.13": {"torch.some": [first, second]}}
    assert pack(store, tmp_path, differing)["torch.some"] == "[12]Tf2>Tf2 !GB0036 ; [13]Tf2>Tf2 ; [13]Ti2>Tf2"


TABLE = {
    "about": {"releases": ["2.12", "2.13"], "torch": {"2.12": "2.12.1", "2.13": "2.13.0"}, "numbers": ["2.13"]},
    "names": {
        "torch.gone": "Tf2>Tf2",
        "torch.other": "Tf2>Tf2",
        "torch.some": "[12]Tf2>Tf2 !GB0036 ; [13]Tf2>Tf2 ; [13]Ti2>Tf2 ; #int 0 dim",
    },
}


def merged(store: object, forms: dict[str, list[dict[str, object]]], asked: list[str]) -> object:
    sys.modules.pop("merge", None)
    import merge

    return merge.Merged(TABLE, {"torch": "2.14.1+cpu", "forms": forms, "asked": asked})


def test_a_release_is_added_to_the_table_without_the_answers_of_the_others(store: object) -> None:
    asked = ["torch.some", "torch.gone", "torch.fresh"]
    forms = {
        "torch.some": [form("torch.some(x)", "traced")],
        "torch.fresh": [form("torch.fresh(x)", "breaks", why=["GB0036 Dynamic shape operator"])],
        "torch.gone": [form("torch.gone(x)", "fails")],
    }
    table = merged(store, forms, asked)
    names = json.loads(table.written())["names"]  # type: ignore[attr-defined]
    assert names["torch.some"] == "[12]Tf2>Tf2 !GB0036 ; [13-14]Tf2>Tf2 ; [13-14]Ti2>Tf2 ; #int 0 dim"
    assert names["torch.fresh"] == "[14]Tf2>Tf2 !GB0036"
    assert names["torch.gone"] == names["torch.other"] == "[12-13]Tf2>Tf2"
    report = table.report()  # type: ignore[attr-defined]
    assert report.startswith("torch 2.14 against 2.13: 2 differences")
    assert "gone, or can no longer be called (1)\n  torch.gone" in report


def test_the_report_tells_what_breaks_now_and_what_no_more(store: object) -> None:
    broken = form("torch.other(x)", "breaks", why=["GB0036 Dynamic shape operator"])
    table = merged(store, {"torch.other": [broken]}, ["torch.other"])
    assert "breaks now (1)\n  torch.other  Tf2>Tf2  ->  Tf2>Tf2 !GB0036" in table.report()  # type: ignore[attr-defined]
    assert json.loads(table.written())["names"]["torch.other"] == "[12-13]Tf2>Tf2 ; [14]Tf2>Tf2 !GB0036"  # type: ignore[attr-defined]
    table = merged(store, {"torch.other": [form("torch.other(x)", "traced", result="int")]}, ["torch.other"])
    assert "returns something else (1)" in table.report()  # type: ignore[attr-defined]
