"""Messages and helps that say what the line says."""

from __future__ import annotations

from pathlib import Path

from tclint.api import lint

PROGRAM = """\
import logging

import torch

log = logging.getLogger(__name__)


@torch.compile
def f(x: torch.Tensor):
    logging.warning("a")
    log.warning("b")
    while x.sum() > 3:
        x = x / 2
    if x.sum() > 1:
        x = -x
    return x.tolist(), x.sum().item()
"""


def test_a_line_is_called_by_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAM)
    found = {f.line: f for f in lint(["m.py"], cwd=str(tmp_path), isolated=True).findings}
    assert found[10].message.startswith("`logging.warning`")
    assert found[11].message.startswith("`logger.warning`")
    assert "torch.where" not in found[12].help, "a loop cannot become one"
    assert "torch.where" in found[14].help


def test_what_is_no_number_is_not_called_one(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAM)
    helps = {f.span.column: f.help for f in lint(["m.py"], cwd=str(tmp_path), isolated=True).findings if f.line == 16}
    assert ["0-d" in each for _, each in sorted(helps.items())] == [False, True]


DRAWN = """\
import numpy as np
import torch
from elsewhere import draw


@torch.compile
def f(x: torch.Tensor, rows: np.ndarray):
    return x, rows.tolist(), draw().tolist(), x.tolist()
"""


def test_only_a_tensor_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(DRAWN)
    read = [f for f in lint(["m.py"], cwd=str(tmp_path), isolated=True).findings if f.code == "TCL103"]
    said = {f.span.column: ("device" in f.message, "capture_scalar_outputs" in f.help, f.fix is not None) for f in read}
    assert [each for _, each in sorted(said.items())] == [
        (False, False, True),  # an array is a tensor there: the switch cures it
        (False, False, False),
        (True, True, True),
    ]


def test_where_nothing_on_the_line_helps_the_help_names_the_callers_side(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "import torch\n\n\n@torch.compile\ndef f(x):\n    while x.norm() > 1:\n        x = x / 2\n    return x\n\n\n"
        "@torch.compile\ndef g(x):\n    if x.sum() > 0:\n        x = x + 1\n    return x\n\n\n"
        "def main():\n    for x in (torch.ones(3), torch.zeros(3)):\n        f(x)\n        g(x)\n\n\nmain()\n"
    )
    helps = {f.line: f.help for f in lint(["m.py"], cwd=str(tmp_path), isolated=True).findings if f.code == "TCL101"}
    assert "called at m.py:20; decide there" in helps[6]
    assert "called at" not in helps[13], "a change at the line helps"


def test_the_line_of_another_file_is_not_told_as_one_of_this(tmp_path: Path) -> None:
    (tmp_path / "gate.py").write_text(
        "def gate(x):\n    y = x * 2\n    # the caller's line\n    if x.sum() > 0:\n        return y\n    return x\n"
    )
    (tmp_path / "m.py").write_text(
        "import torch\nfrom gate import gate\n\n\n@torch.compile\ndef f(a: torch.Tensor):\n    b = a + 1\n    return gate(b)\n"
    )
    (found,) = lint(["."], cwd=str(tmp_path), isolated=True).findings
    assert (found.path, found.line) == ("gate.py", 4)
    assert "(line" not in found.message
    assert "`x.sum() > 0`" in found.message
