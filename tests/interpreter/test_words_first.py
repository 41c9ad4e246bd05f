"""What asks the text of all files looks for a word first: it finds what the plain pattern finds."""

from __future__ import annotations

import random
import re

from tclint.interpreter import left_alone, mode_switches, namings
from tclint.program import Program

_SWITCHES = re.compile(rb"\.[ \t]*(?:eval|train)\b|\.training[ \t]*=(?!=)|[\"']training[\"']")
_CALLED = rb"(?<![\w.])([\w.]*[\])]?)\.[ \t]*train\b([ \t]*\()?"
_GIVEN = re.compile(rb"(?<![\w.])train[ \t]*=[ \t]*(?!=)(\w*)")
_PIECES = [piece.encode() for piece in ("train", "eval", "training", "self", *". \t='\"\nx()]_", "True")]


def texts() -> list[bytes]:
    draw = random.Random(1)
    return [b"".join(draw.choices(_PIECES, k=draw.randint(1, 14))) for _ in range(20_000)]


def test_switches_of_a_mode() -> None:
    for text in texts():
        assert mode_switches._may_switch(text) is (_SWITCHES.search(text) is not None), text


def test_a_name_on_its_lines() -> None:
    for text in texts():
        plain = [(found.span(), found.groups()) for found in re.finditer(_CALLED, text)]
        there = namings._on_its_lines(_CALLED, b"train", text)
        assert [(found.span(), found.groups()) for found in there] == plain, text


def test_flags_that_are_given() -> None:
    for text in texts()[:4_000]:
        program = Program.build([("a.py", "/a.py", text, True)])
        plain = any(found[1] != b"True" for found in _GIVEN.finditer(text))
        assert left_alone._gives_another(program.modules[0], "train", "True") is plain, text
