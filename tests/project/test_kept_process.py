"""tests/kept_process.py: a fork does what the process would do in whose place it stands, and goes with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lintkit import ROOT, tclint_command

pytestmark = pytest.mark.skipif("TCLINT_TESTS_TCLINT" not in os.environ, reason="nothing is kept on this system")

CODE = b"import torch\n\n\n@torch.compile\ndef f(x):\n    print(x, '\xc3\xbc')\n    return x\n"


def test_a_fork_is_called_as_the_real_one_and_answers_the_same(tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_text('ignore = ["TCL5"]\n')
    kept = tclint_command("-", "--stdin-filename", "m.py", "--no-cache")
    answers = []
    for command in ([sys.executable, *kept[1:]], kept, [*kept, "--no-such-option"]):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "90"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, input=CODE, capture_output=True, check=False)
        answers.append((done.returncode, done.stdout, done.stderr))
    real, fork, wrong = answers
    assert fork == real
    assert b"TCL108" in real[1]
    assert (real[0], wrong[0]) == (1, 2)
    assert b"--no-such-option" in wrong[2]


def test_a_fork_ends_with_the_process_in_whose_place_it_stands(tmp_path: Path) -> None:
    pytest.importorskip("pygls")
    pipe = subprocess.PIPE
    server = subprocess.Popen(tclint_command("server"), cwd=tmp_path, stdin=pipe, stdout=pipe)
    assert server.stdin is not None
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": null, "capabilities": {}}}'
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()
    assert server.stdout is not None
    assert server.stdout.readline().startswith(b"Content-Length")
    server.kill()
    server.stdout.read()  # to its end: as long as the fork lives, it could write
    server.wait()
    for stream in (server.stdin, server.stdout):
        stream.close()
