"""Standard streams, folders and paths that are not what a program expects: one line, exit 2, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tclint.cli import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
ROOT = Path(__file__).resolve().parents[2]
HAZARD = "import torch\n\n@torch.compile\ndef f(x):\n    return x.sum().item()\n"
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no disk that is always full")


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    tclint = f'"{sys.executable}" -P -m tclint'
    return subprocess.run(
        ["/bin/sh", "-c", command.replace("TCLINT", tclint)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(HAZARD)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("TCLINT . --no-cache >&-", 2, "cannot read or write"),
        ("TCLINT . --no-cache 2>&-", 1, ""),
        ("TCLINT . --no-cache >&- 2>&-", 2, ""),
        ("TCLINT --version >&-", 2, "cannot read or write"),
        ("TCLINT rule >&-", 2, "cannot read or write"),
        ("TCLINT - --no-cache <&-", 2, "cannot read or write"),
        ("TCLINT . --no-cache <&-", 1, ""),
        ("TCLINT nothing 2>&-", 2, ""),
        ("mkdir x; cd x; rmdir ../x; TCLINT .", 2, "the current folder is gone"),
        ("mkdir x; cd x; rmdir ../x; TCLINT rule", 2, "the current folder is gone"),
        pytest.param("TCLINT . --no-cache >/dev/full", 2, "cannot read or write: No space left", marks=FULL),
        pytest.param("TCLINT . --no-cache --diff >/dev/full", 2, "cannot read or write", marks=FULL),
        pytest.param("TCLINT . --no-cache -v 2>/dev/full", 1, "", marks=FULL),
        pytest.param("TCLINT nothing 2>/dev/full", 2, "", marks=FULL),
        pytest.param("TCLINT --version >/dev/full", 2, "cannot read or write", marks=FULL),
    ],
)
def test_streams(folder: Path, command: str, code: int, words: str) -> None:
    done = shell(command, folder)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert "internal error" not in done.stderr + done.stdout


def test_a_closed_stdout_is_not_the_next_file(folder: Path) -> None:
    """Without a descriptor 1 the first file that is opened would be it, and what is printed would go into that file."""
    assert shell("TCLINT . --no-cache >&-", folder).returncode == 2
    assert (folder / "m.py").read_text() == HAZARD
    assert shell("TCLINT . --fix --unsafe-fixes --no-cache >&-", folder).returncode == 2
    fixed = HAZARD.replace("import torch\n", "import torch\n\ntorch._dynamo.config.capture_scalar_outputs = True\n", 1)
    assert (folder / "m.py").read_text() == fixed


@pytest.mark.parametrize(
    "text",
    [
        'rules = ["a\\u0000b"]',
        'cache-dir = "a\\u0000b"',
        f"[a{'.a' * 60_000}]",
        f"x = {{a{'.a' * 60_000} = 1}}",
        f"a = {'[' * 100_000}",
        f'target-torch = "{"9" * 5000}.1"',
    ],
    ids=["nul-rules", "nul-cache", "long-key", "long-inline-key", "deep", "digits"],
)
def test_a_configuration_that_is_meant_to_hurt(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "tclint.toml").write_text(text + "\n")
    assert main(["."]) == 2
    err = capsys.readouterr().err
    assert err.startswith("tclint: error: ")
    assert "tclint.toml" in err
    assert "internal error" not in err


def test_a_nul_in_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a\0b"]) == 2
    assert main(["--config", "a\0b", "."]) == 2
    assert "internal error" not in capsys.readouterr().err
