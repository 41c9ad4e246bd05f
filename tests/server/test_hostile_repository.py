"""A repository with everything in it that was ever used against its reader: linted and opened, it changes nothing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from lintkit import ROOT
from test_server import MODEL, TRAIN, Editor, codes, environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and such names need more there")
BOTH = [("TCL101", 8), ("TCL108", 10)]
SHADOWS = "click ast typing libcst pathspec tomllib hashlib pygls lsprotocol json re".split()
CIRCLES = """\
import torch
from torch import nn
from circles import *


class Net(Net.Module):
    def forward(self, x):
        return x


class A(A()):
    pass


def f(x, y=f(1)):
    return f(y)
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The repository, and beside it what belongs to the user."""
    for i in range(40):
        _write(tmp_path / "mine" / f"{i}.txt", f"mine {i}")
    root = tmp_path / "clone"
    mark = f"import os; open(os.path.join({str(tmp_path)!r}, 'RAN-' + __name__), 'w').close()\n"
    # 1: code that a configuration names.
    _write(root / "pyproject.toml", '[tool.tclint]\nrules = ["lint"]\ntarget-torch = "2.13"\n')
    _write(root / "lint" / "evil.py", mark)
    _write(root / "evil.py", mark)
    _write(root / "evil-1.0.egg-info" / "entry_points.txt", "[tclint.rules]\nevil = evil\n")
    # 2: files that end a run.
    _write(root / "circles.py", CIRCLES)
    _write(root / "coded.py", "# coding: hex\nimport torch\n")
    _write(root / "book.ipynb", '{"cells": [' + "9" * 5000 + "]}")
    _write(root / "torch_nul.py", "import torch\n\0\n")
    _write(root / ".gitignore", "!\n\\\na\\\n[z-a]\n*a*a*a*a*a*a*a*b\n")
    (root / "\x1b[31m::error::.py").write_text("import torch\n")
    (root / os.fsdecode(b"bytes\xff.py")).write_text("import torch\n")
    # 3: files called like what we import.
    for name in SHADOWS:
        _write(root / f"{name}.py", mark)
    _write(root / "tclint" / "__init__.py", mark)
    _write(root / "tclint" / "__main__.py", mark)
    # 4: a cache of somebody else, with links that lead out of it.
    _write(root / ".tclint_cache" / "CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# tclint\n")
    (root / ".tclint_cache" / "parts").symlink_to("../../mine")
    (root / ".tclint_cache" / "runs").symlink_to("../../mine")
    (root / ".tclint_cache" / "stats").symlink_to("/dev/zero")
    (root / "everything").symlink_to("/")
    (root / "linked.py").symlink_to("../mine/0.txt")
    os.mkfifo(root / "pipe.py")
    # git's own ways to run something.
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "core.hooksPath"):
        subprocess.run(["git", "-C", str(root), "config", key, f"touch {tmp_path}/RAN-git;"], check=True)
    _write(root / "model.py", MODEL)
    _write(root / "train.py", TRAIN)
    return root


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def everything(folder: Path) -> dict[str, tuple[int, object]]:
    """All below a folder but the cache, with its bytes; links are not followed."""
    found: dict[str, tuple[int, object]] = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".tclint_cache"]
        for name in (*folders, *names):
            path = os.path.join(here, name)
            mode = os.lstat(path).st_mode
            held: object = os.readlink(path) if stat.S_ISLNK(mode) else None
            if stat.S_ISREG(mode):
                held = Path(path).read_bytes()
            found[os.path.relpath(path, folder)] = mode, held
    return found


def command(*args: str) -> list[str]:
    """As the script that pip installs: the current folder is not on its path."""
    return [sys.executable, "-P" if sys.version_info >= (3, 11) else "-I", "-m", "tclint", *args]


@pytest.mark.parametrize("args", [["."], ["-j2", "."], ["model.py"], ["--no-cache", "--diff", "."], ["clean"]])
def test_linting_it(clone: Path, tmp_path: Path, args: list[str]) -> None:
    before = everything(tmp_path)
    done = subprocess.run(
        command(*args), cwd=clone, env={**environment(), "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=200
    )
    assert everything(tmp_path) == before
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr
    if args[-1] in (".", "model.py") and "--diff" not in args:
        assert done.returncode == 1, done.stderr
        for code in (b"TCL101", b"TCL108"):
            assert code in done.stdout


def test_opening_it(clone: Path, tmp_path: Path) -> None:
    before = everything(tmp_path)
    process = subprocess.Popen(
        command("server", "--delay", "0.05"),
        cwd=clone,
        env={**environment(), "PYTHONPATH": str(ROOT), "TCLINT_ALLOW_RULES": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        editor = Editor(clone, process.stdout, process.stdin)
        editor.start()
        assert codes(editor.open("model.py", MODEL)) == BOTH
        for name in ("circles.py", "coded.py", "tclint/__init__.py"):
            editor.open(name, (clone / name).read_text())
        editor.change("model.py", f"{MODEL}\n", 2)
        assert codes(editor.diagnostics("model.py", 2)) == BOTH
    finally:
        process.kill()
        process.communicate()
    assert everything(tmp_path) == before
