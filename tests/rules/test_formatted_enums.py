"""Members of an enumeration in an f-string: constants to Dynamo, unlike other objects with a `__str__` of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, lint

MODEL = """
from enum import Enum

class Text:
    def __str__(self):
        return "text"

class Name({bases}):
    pass

class Model(nn.Module):
    name: Name

    def forward(self, x):
        y = x + 1
        return {{f"{{self.name}}-loss": y * 2}}
"""


@pytest.mark.parametrize(("bases", "codes"), [("Text", ["TCL120"]), ("Text, Enum", [])])
def test_a_member_of_an_enumeration(tmp_path: Path, bases: str, codes: list[str]) -> None:
    (tmp_path / "a.py").write_text(PRELUDE + MODEL.format(bases=bases))
    assert [f.code for f in lint("a.py", cwd=tmp_path).findings] == codes
