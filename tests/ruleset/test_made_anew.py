"""What is looked for once in a process, and what is not: rules are found and checked once, and made for every run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tclint.ruleset import loading, packs


def test_every_run_has_rules_of_its_own() -> None:
    first, second = loading.load_rules(), loading.load_rules()
    assert [rule.code for rule in first] == [rule.code for rule in second]
    assert not {id(rule) for rule in first} & {id(rule) for rule in second}


def test_our_own_classes_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loading.load_rules()
    monkeypatch.setattr(loading, "_fit", lambda kind, origin: pytest.fail(f"{kind} is checked again"))
    assert loading.load_rules()


def test_metadata_is_read_again_only_where_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    points = info / "entry_points.txt"
    points.write_text("[tclint.rules]\nacme = acme_rules\n", encoding="utf-8")
    (found,) = packs.installed([str(tmp_path)])
    assert (found.name, found.target) == ("acme", "acme_rules")
    read: list[str] = []
    opened = open

    def noted(path: str, **given: str) -> object:
        read.append(os.path.basename(path))
        return opened(path, **given)  # type: ignore[call-overload]

    monkeypatch.setattr(packs, "open", noted, raising=False)
    assert packs.installed([str(tmp_path)]) == (found,)
    assert read == []
    points.write_text("[tclint.rules]\nacme = acme_rules\nmore = acme_more\n", encoding="utf-8")
    assert [pack.name for pack in packs.installed([str(tmp_path)])] == ["acme", "more"]
    assert read == ["entry_points.txt"]
    (tmp_path / "other-2.0.dist-info").mkdir()
    (tmp_path / "other-2.0.dist-info" / "entry_points.txt").write_text("[tclint.rules]\nother = other\n")
    assert [pack.name for pack in packs.installed([str(tmp_path)])] == ["acme", "more", "other"]
