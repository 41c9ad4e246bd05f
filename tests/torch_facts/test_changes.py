"""What came and went between releases."""

from __future__ import annotations

import pytest

from tclint.torch_facts import facts

KNOWN = {f"2.{release}" for release in facts.table().releases}
NEEDED = pytest.mark.skipif(len(KNOWN) < 9, reason="the table has few releases")


@NEEDED
def test_random_stopped_breaking_after_2_13() -> None:
    assert facts.breaks_until("random.random") == "2.13"
    assert "2.14" in facts.changed("random.random")


@NEEDED
def test_deepcopy_of_a_dict_breaks_until_2_11() -> None:
    for release, breaks in (("2.11", True), ("2.12", False)):
        answer = facts.at(release).call("copy.deepcopy")
        assert answer is not None
        told = {form.breaks for form in answer.forms if form.arguments[0].kind.name == "dict"}
        assert told == {breaks}, release


@NEEDED
def test_fullgraph_accepts_item_since_2_10() -> None:
    for release, accepts in (("2.9", False), ("2.10", True), ("2.15", True)):
        item = facts.at(release).method("tensor", "item")
        assert item is not None
        assert item.breaks == "always"
        assert all(form.fullgraph_accepts == accepts for form in item.forms), release


@NEEDED
def test_what_never_changed_says_so() -> None:
    assert facts.changed("torch.sin") == ()
    assert facts.breaks_until("torch.nonzero") is None
    assert facts.breaks_since("torch.nonzero") is None
