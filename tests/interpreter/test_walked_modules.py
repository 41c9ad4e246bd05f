"""Modules that a walk through a module of unknown class comes to are compiled by `.compile()`: a site, whichever they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint


@pytest.mark.parametrize(
    ("model", "walk", "count"),
    [
        ("model: torch.nn.Module", "for module in model.children():", 1),
        ("model: torch.nn.Module", "for module in model.modules():", 1),
        ("model: torch.nn.Module", "for name, module in model.named_modules():", 1),
        ("model", "for name, module in model.named_children():", 1),
        ("pattern", "for module in pattern.children():", 0),
    ],
)
def test_what_a_walk_comes_to_is_compiled(tmp_path: Path, model: str, walk: str, count: int) -> None:
    code = f"def mark({model}, options):\n    {walk}\n        if options:\n            module.compile()\n"
    Project(tmp_path).write({"a.py": PRELUDE + code})
    unresolved = [site.unresolved for site in lint(cwd=tmp_path).sites]
    assert unresolved == ["which module it compiles cannot be read"] * count
