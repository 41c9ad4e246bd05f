"""What torch takes in the places of a call."""

from __future__ import annotations

from tclint.torch_facts import takes

NEWEST = "2.13"


def test_a_mask_and_an_index_are_told_apart() -> None:
    assert takes.by_method("masked_fill", NEWEST)[0] == "b"
    assert takes.by_method("gather", NEWEST)[1] == "i"
    assert takes.by_function("torch.where", NEWEST)[0] == "b"
    assert takes.by_layer("torch.nn.Embedding", NEWEST)[0] == "i"
    assert takes.by_layer("torch.nn.MSELoss", NEWEST)[1] == ""


def test_a_place_that_takes_numbers_or_nothing_tells_nothing() -> None:
    assert 0 not in takes.by_method("add", NEWEST)
    assert 1 not in takes.by_method("masked_fill", NEWEST)
    assert takes.by_function("torch.maximum", NEWEST) == {}
    assert 2 not in takes.by_function("torch.nn.functional.linear", NEWEST)


def test_what_hands_on_what_it_gets_takes_anything() -> None:
    assert takes.by_layer("torch.nn.Identity", NEWEST) == {}
    assert takes.by_layer("torch.nn.LSTM", NEWEST) == {}
