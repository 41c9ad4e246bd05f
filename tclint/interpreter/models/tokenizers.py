"""Tokenizers: which calls make one."""

from __future__ import annotations

from typing import Final

TOKENIZER: Final = "tokenizer"
"""The name of an `Object` that is a tokenizer of whatever library."""

CLASS_ENDINGS: Final = ("Tokenizer", "TokenizerFast", "TokenizerBase")
_MAKERS: Final = frozenset({"get_tokenizer", "load_tokenizer", "build_tokenizer", "make_tokenizer"})


def made_by(name: str) -> bool:
    """Whether a call of this dotted name gives a tokenizer."""
    owner, _, short = name.rpartition(".")
    if short.endswith(CLASS_ENDINGS) or short in _MAKERS:
        return True
    return short == "from_pretrained" and owner.rpartition(".")[2].endswith(CLASS_ENDINGS)
