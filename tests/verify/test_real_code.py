"""Targets as they are in real projects: imported, made and called as their program does it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.model.finding import Effect
from tclint.verify import Outcome, VerifyOptions, verify

pytestmark = [pytest.mark.dynamo, pytest.mark.slow]
Project = Callable[[str, str], Path]

BLOCK = """
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, width, table):
            super().__init__()
            self.fc = nn.Linear(width, len(table))
            self.table = table

        def forward(self, tokens, *, scale):
            y = self.fc(tokens) * scale
            if y.sum() > self.table["limit"]:   # branch
                return y
            return -y
"""


@pytest.fixture
def options(tmp_path: Path, torch_python: str) -> VerifyOptions:
    return VerifyOptions(python=torch_python, root=str(tmp_path), timeout=100, keep=True)


def test_a_package_that_holds_a_module_of_its_own_name(project: Project, options: VerifyOptions) -> None:
    project("attend/__init__.py", "from attend.attend import Attend\n")
    project("attend/helper.py", "LIMIT = 0\n")
    text = BLOCK.replace("Block", "Attend").replace(
        "import torch\n", "import torch\n    from attend.helper import LIMIT\n", 1
    )
    path = project("attend/attend.py", text)
    project(
        "tests/test_it.py",
        "import torch\nfrom attend import Attend\n\ndef test_it():\n    Attend(4, {'limit': 0})(torch.ones(2, 4), scale=2)\n",
    )
    source = path.read_text()
    report = verify([finding_at("attend/attend.py", "# branch", source=source)], options)
    assert report.verdicts[0].outcome is Outcome.CONFIRMED, report.verdicts[0].words
    assert report.verdicts[0].inputs.startswith("as in tests/test_it.py:5")


def test_packages_that_the_target_does_not_need(project: Project, options: VerifyOptions) -> None:
    head = "import no_such_logger\nfrom no_such_kernels.fast import jit, Base\ntry:\n    import no_such_extra\nexcept ImportError:\n    no_such_extra = None\n\n@jit(level=3)\ndef kernel(x): ...\n\nclass Other(Base): ...\n"
    body = """
import torch

def helper(x):
    assert no_such_extra is None
    print(x)  # break
    return x + 1

def needs(x):
    print(kernel(x))  # missing
    return x
"""
    path = project("m.py", head + body)
    report = verify([finding_at(path, "# break"), finding_at(path, "# missing")], options)
    fine, missing = report.verdicts
    assert fine.outcome is Outcome.CONFIRMED, fine.words
    assert missing.outcome is Outcome.INCONCLUSIVE
    assert "no_such_kernels" in missing.words


def test_a_script_that_trains_when_it_is_imported(project: Project, options: VerifyOptions) -> None:
    path = project(
        "train.py",
        """
        import os
        import torch

        rank = int(os.environ["NO_SUCH_VARIABLE"])

        @torch.compile
        def update(x):
            print(x)  # break
            return x * 2

        model = torch.nn.Linear(2, 2)
        for step in range(10**9):
            model(torch.ones(2, 2)).sum().backward()
        """,
    )
    report = verify([finding_at(path, "# break")], options)
    assert report.verdicts[0].outcome is Outcome.CONFIRMED, report.verdicts[0].words


def test_a_changed_attribute_is_the_guard_that_confirms(project: Project, options: VerifyOptions) -> None:
    from dataclasses import replace

    path = project(
        "m.py",
        """
        import torch
        from torch import nn

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.limit = 3
                self.unused = 3

            def forward(self, x):
                return x * self.limit  # here
        """,
    )
    claim = finding_at(path, "# here", Effect.RECOMPILE)
    limit = replace(claim, message="`self.limit` is changed by eager code; each change compiles again")
    unused = replace(claim, message="`self.unused` is changed by eager code; each change compiles again")
    nothing = replace(claim, message="something changes")
    outcomes = [verdict.outcome for verdict in verify([limit, unused, nothing], options).verdicts]
    assert outcomes == [Outcome.CONFIRMED, Outcome.REFUTED, Outcome.INCONCLUSIVE]


HANGS = """
    import time
    import torch

    def get_init_inputs():
        return []

    class Model(torch.nn.Module):
        def forward(self, x):
            print("x")  # here
            return x

    def get_inputs():
        return [torch.ones(2)]
"""


def test_what_was_learned_before_a_target_hangs_is_kept(project: Project, options: VerifyOptions) -> None:
    from dataclasses import replace

    text = HANGS.replace(
        "            return x\n", "            if not self.training: time.sleep(1000)\n            return x\n"
    )
    path = project("m.py", text)
    report = verify([finding_at(path, "# here")], replace(options, timeout=15))
    assert report.verdicts[0].outcome is Outcome.CONFIRMED, report.verdicts[0].words


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_killed_has_told_and_kept_its_verdicts(
    project: Project, tmp_path: Path, torch_python: str, ending: signal.Signals
) -> None:
    project("a.py", HANGS)
    project("b.py", HANGS.replace('print("x")  # here', 'time.sleep(1000); print("x")'))
    command = [sys.executable, "-m", "tclint", "verify", ".", "--python", torch_python, "--output-format", "jsonl"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    assert (first["path"], first["outcome"]) == ("a.py", "confirmed")
    process.send_signal(ending)
    _out, err = process.communicate(timeout=60)
    if ending is signal.SIGTERM:
        assert process.returncode == 130
        assert "stopped after 1 of 2 targets" in err
    again = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert again.stdout is not None
    begun = time.monotonic()
    kept = json.loads(again.stdout.readline())
    assert kept == first
    again.send_signal(signal.SIGTERM)
    again.communicate(timeout=60)
    assert time.monotonic() - begun < 60


def test_a_factory_that_cannot_be_imported_is_an_error(project: Project, tmp_path: Path, torch_python: str) -> None:
    project("m.py", HANGS)
    project("pyproject.toml", '[tool.tclint.verify.factories]\n"m:Model" = "makers:no_such"\n')
    project("makers.py", "")
    command = [sys.executable, "-m", "tclint", "verify", ".", "--python", torch_python, "--no-cache"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "pyproject.toml" in done.stderr
    assert "m:Model" in done.stderr
    assert "makers:no_such" in done.stderr


PROGRAM = """
    import torch

    CONFIG = {"turns": 1}

    @torch.compile
    def solve(x):
        for _ in range(CONFIG["turns"]):
            x = x * 2
        return x

    def main():
        for turns in (1, 2, 3, 4):
            CONFIG["turns"] = turns
            print(solve(torch.ones(2)))

    if __name__ == "__main__":
        main()
"""


def test_a_program_is_searched_as_it_runs_with_no_finding(project: Project, options: VerifyOptions) -> None:
    project("solve.py", PROGRAM)
    # The twin settles: what changes is read outside of the compiled function.
    project("settled.py", PROGRAM.replace('range(CONFIG["turns"])', "range(1)"))
    project(
        "layers.py",
        BLOCK.replace(", width, table", "")
        .replace("width, len(table)", "8, 8")
        .replace("self.table = table", "self.table = {'limit': 0}"),
    )
    report = verify([], options, also=["solve.py", "settled.py", "layers.py"])
    assert [(item.path, item.effect) for item in report.missed] == [
        ("layers.py", "graph-break"),
        ("solve.py", "recompile"),
    ], report.missed
    assert "4 times" in report.missed[1].words


def test_a_script_without_a_main_block_is_run_as_it_is(project: Project, options: VerifyOptions) -> None:
    """What people write first: model, loop, print, all at module level."""
    body, _, _ = PROGRAM.partition("    def main():")
    loop = """
    for turns in (1, 2, 3, 4):
        CONFIG["turns"] = turns
        print(solve(torch.ones(2)))
    """
    project("solve.py", body + loop)
    project("settled.py", (body + loop).replace('range(CONFIG["turns"])', "range(1)"))
    report = verify([], options, also=["solve.py", "settled.py"])
    assert [(item.path, item.effect) for item in report.missed] == [("solve.py", "recompile")], report.missed


def test_a_program_that_does_not_end_is_left_alone(project: Project, options: VerifyOptions) -> None:
    endless = PROGRAM.replace("for turns in (1, 2, 3, 4):", "turns = 0\n        while True:\n            turns += 1")
    source = project("endless.py", endless).read_text()
    report = verify([finding_at("endless.py", "for _ in", Effect.RECOMPILE, source)], options)
    assert report.verdicts[0].outcome is not Outcome.REFUTED


def test_all_on_the_command_line(project: Project, tmp_path: Path, torch_python: str) -> None:
    project("solve.py", PROGRAM.replace('CONFIG["turns"]):', 'CONFIG["turns"]):  # tclint: ignore'))
    command = [sys.executable, "-m", "tclint", "verify", "--all", "--no-cache", "--python", torch_python, "solve.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "missed: solve.py:" in done.stdout + done.stderr, done
