"""What a second attack by a stranger found: each of it once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from lintkit import ROOT, tclint_command

CODE = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x\n"


def tclint(folder: Path, *args: str, given: bytes = b"", limit: int = 60) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        tclint_command(*args), cwd=folder, env=env, input=given, capture_output=True, timeout=limit, check=False
    )


@pytest.mark.parametrize("name", ["a.py", "pyproject.toml", "link.txt", "book.ipynb"])
def test_a_report_does_not_go_over_a_source(tmp_path: Path, name: str) -> None:
    for each, text in (("a.py", CODE), ("pyproject.toml", "[tool.tclint]\n"), ("book.ipynb", "{}")):
        (tmp_path / each).write_text(text, encoding="utf-8")
    (tmp_path / "link.txt").symlink_to("a.py")
    before = (tmp_path / name).read_bytes()
    done = tclint(tmp_path, "a.py", "-o", name)
    assert done.returncode == 2
    assert f"--output-file {name}: not written: a file of source or settings is there".encode() in done.stderr
    assert (tmp_path / name).read_bytes() == before
    assert tclint(tmp_path, "a.py", "-o", "report.json", "--output-format", "json").returncode == 1
    assert (tmp_path / "report.json").exists()


@pytest.mark.parametrize("kind", ["clean", "process"])
def test_no_filter_of_the_repository_runs_for_a_diff(tmp_path: Path, kind: str) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "a.py").write_text(CODE, encoding="utf-8")

    def git(*args: str) -> None:
        subprocess.run(["git", *args], cwd=repository, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "one")
    ran = tmp_path / "ran"
    git("config", f"filter.a b.{kind}", f"touch {ran}; cat")
    git("config", "filter.a b.required", "true")
    (repository / ".gitattributes").write_text('*.py "filter=a b"\n*.py filter=a\n', encoding="utf-8")
    git("config", f"filter.a.{kind}", f"touch {ran}; cat")
    with open(repository / "a.py", "a", encoding="utf-8") as file:
        file.write("\n\n@torch.compile\ndef g(x):\n    print(x)\n    return x\n")
    done = tclint(repository, "--diff-base", "HEAD", "--output-format", "concise")
    assert not ran.exists()
    assert done.returncode == 1, done.stderr
    assert b"a.py:12:5: TCL108" in done.stdout
    assert b"a.py:6:5" not in done.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such thing here")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["pipe.py"], "pipe.py: not a regular file; name files and folders, or - for stdin"),
        (["zero.py"], "zero.py: not a regular file"),
        (["a.py", "--config", "pipe.toml"], "pipe.toml: not a regular file"),
        (["a.py", "--baseline", "pipe.py"], "--baseline pipe.py: not a regular file"),
    ],
)
def test_what_never_ends_is_not_read(tmp_path: Path, args: list[str], said: str) -> None:
    (tmp_path / "a.py").write_text(CODE, encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    done = tclint(tmp_path, *args)
    assert (done.returncode, said in done.stderr.decode()) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [("[" * 100_000, "its entries are others"), ("{", "line 1"), ('{"a": 1}', "its entries are others")],
)
def test_a_baseline_that_is_none(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    done = tclint(tmp_path, "a.py", "--baseline", "b.json")
    assert done.returncode == 2
    assert f"--baseline b.json: not a baseline of tclint ({said}" in done.stderr.decode()
    missing = tclint(tmp_path, "a.py", "--baseline", "no/such.json", "--update-baseline")
    assert b"--baseline" in missing.stderr
    assert b"--output-file" not in missing.stderr


def test_the_server_refuses_a_message_that_nobody_can_hold(tmp_path: Path) -> None:
    pytest.importorskip("pygls")
    done = tclint(tmp_path, "server", given=b"Content-Length: 99999999999999\r\n\r\n{}")
    assert done.returncode == 1, done.stderr
    assert b"is none of an editor's: the server ends" in done.stderr
    assert b"internal error" not in done.stderr
