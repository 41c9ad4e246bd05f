"""Attributes of which a program puts the names together."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, lint

MODEL = """
class Model(nn.Module):
    def __init__(self, tables):
        super().__init__()
        for i, table in enumerate(tables):
            self.register_buffer({name}, table)

    def forward(self, x):
        if self.table_0:
            return x + 1
        if self.verbose:
            return x + 2
        return x
"""


@pytest.mark.parametrize(
    ("name", "asked"),
    [('f"table_{i}"', ["self.table_0"]), ("name_of(i)", ["self.table_0", "self.verbose"]), ('f"[*]_{i}"', [])],
)
def test_a_name_that_fits(tmp_path: Path, name: str, asked: list[str]) -> None:
    (tmp_path / "a.py").write_text(PRELUDE + MODEL.replace("{name}", name))
    lines = (PRELUDE + MODEL.replace("{name}", name)).splitlines()
    found = lint("a.py", cwd=tmp_path).findings
    assert [lines[f.span.line - 1].strip() for f in found if f.code == "TCL101"] == [f"if {each}:" for each in asked]


HANDED = """
class Model(nn.Module):
    def __init__(self, sizes, **settings):
        super().__init__()
        for name, value in settings.items():
            setattr(self, name, value)
        for size in sizes:
            self.register_buffer(name_of(size), torch.eye(size))

    def forward(self, x):
        if self.verbose:
            return x + 2
        return x
"""


def test_a_name_under_which_a_setting_may_lie(tmp_path: Path) -> None:
    """Tensors lie under some of the names that a constructor puts together, and under others what it was handed."""
    (tmp_path / "a.py").write_text(PRELUDE + HANDED)
    assert [f.code for f in lint("a.py", cwd=tmp_path).findings if f.code == "TCL101"] == []
