"""The mode of a compile site, where it comes out of options."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

WAYS = {
    "a dict": (
        "OPTIONS = {'mode': 'reduce-overhead'}\n\ndef make(f):\n    return torch.compile(f, **OPTIONS)\n",
        "reduce-overhead",
    ),
    "a dict without": (
        "OPTIONS = {'dynamic': True}\n\ndef make(f):\n    return torch.compile(f, **OPTIONS)\n",
        "default",
    ),
    "an item": (
        "OPTIONS = {'mode': 'reduce-overhead'}\n\ndef make(f):\n    return torch.compile(f, mode=OPTIONS['mode'])\n",
        "reduce-overhead",
    ),
    "left out": (
        "def make(f, options):\n    return torch.compile(f, mode=options.get('mode', 'reduce-overhead'))\n",
        "reduce-overhead",
    ),
    "unknown": ("def make(f, config):\n    return torch.compile(f, **config.options)\n", "?"),
    "said beside": (
        "def make(f, config):\n    return torch.compile(f, mode='max-autotune', **config.options)\n",
        "max-autotune",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_mode(tmp_path: Path, way: str) -> None:
    source, mode = WAYS[way]
    step = "def step(x):\n    return x * 2\n\nfast = make(step, {})\n" if "make(f, " in source else ""
    Project(tmp_path).write({"main.py": f"{PRELUDE}\n{source}\n{step or 'fast = make(lambda x: x)'}\n"})
    [site] = lint(cwd=tmp_path).sites
    assert site.mode == mode
