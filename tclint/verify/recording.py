"""The user's own program as the experiment: run with a recorder in it, then read what Dynamo said there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tclint.model.finding import Finding
from tclint.verify.heard import Heard, with_paths
from tclint.verify.judgement import verdicts_of
from tclint.verify.missed import missed_of
from tclint.verify.options import VerifyOptions
from tclint.verify.ranks import by_rank, differences, missed_by_rank, told_by_rank
from tclint.verify.spans import Outline, outline
from tclint.verify.targets import absolute, relative
from tclint.verify.trace import NoTrace, read_trace
from tclint.verify.verdict import VerifyReport

_DROPPED = ("TORCH_LOGS", "TORCH_TRACE", "TORCH_LOGS_OUT", "TORCHDYNAMO_DISABLE")


def recording_environment(folder: Path, steps: int, base: Mapping[str, str], timed: bool = False) -> dict[str, str]:
    """The user's environment with a recorder: the structured trace, and the injected `sitecustomize`."""
    site = folder / "site"
    site.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(__file__).parent / "child" / "recorder.py", site / "sitecustomize.py")
    kept = {name: value for name, value in base.items() if name not in _DROPPED}
    paths = [str(site), *([kept["PYTHONPATH"]] if kept.get("PYTHONPATH") else [])]
    kept.update(
        TORCH_TRACE=str(folder / "trace"),
        TCLINT_RECORD=str(folder / "trace"),
        TCLINT_STEPS=str(steps),
        PYTHONPATH=os.pathsep.join(paths),
        **({"TCLINT_CLOCK": "1"} if timed else {}),
    )
    return kept


def record(
    command: Sequence[str], folder: Path, options: VerifyOptions, steps: int = 0, timed: bool = False
) -> tuple[Heard, int]:
    """Run a program and hear it. Its output goes where the user sees it; the second value is its exit status.

    `timed`: the ends of its steps are noted too, in `steps_*.json` of the folder `trace`.
    """
    (folder / "trace").mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        list(command),
        env=recording_environment(folder, steps, os.environ, timed),
        start_new_session=True,
    )
    trouble = ""
    try:
        code = process.wait(timeout=options.timeout)
    except subprocess.TimeoutExpired:
        trouble = f"stopped after {options.timeout:g} s"
        code = _end(process)
    except BaseException:
        _end(process)
        raise
    try:
        heard = read_trace(folder / "trace")
    except NoTrace:
        reason = trouble or f"it ended with status {code}"
        return Heard(trouble=f"the program compiled nothing ({reason})"), code
    return replace(heard, device=options.device), code


def _end(process: subprocess.Popen[bytes]) -> int:
    """End a program and what it started."""
    for number, grace in ((signal.SIGINT, 10.0), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
            return process.wait(timeout=grace)
        except ProcessLookupError:
            return process.wait()
        except subprocess.TimeoutExpired:
            continue
    return process.wait()


def verify_program(
    findings: Sequence[Finding], command: Sequence[str], options: VerifyOptions, steps: int = 0
) -> VerifyReport:
    """`tclint verify -- python train.py`: the program is the only input source."""
    with tempfile.TemporaryDirectory(prefix="tclint-record-") as folder:
        heard, code = record(command, Path(folder), options, steps)
    report = _report(findings, heard, options)
    return replace(report, notes=(*report.notes, f"{' '.join(command)} ended with status {code}"))


def verify_trace(findings: Sequence[Finding], folder: str, options: VerifyOptions) -> VerifyReport:
    """`tclint verify --trace DIR`: what a job elsewhere left behind. Raises NoTrace where that is nothing."""
    return _report(findings, read_trace(Path(folder)), replace(options, device=""))


def _report(findings: Sequence[Finding], raw: Heard, options: VerifyOptions) -> VerifyReport:
    root = os.path.realpath(options.root)
    heard = with_paths(raw, renamer({finding.path for finding in findings}, root))

    def outlines(path: str) -> Outline:
        return outline(absolute(path, root))

    verdicts = tuple(verdicts_of(findings, heard, outlines))
    missed = tuple(missed_of(findings, [heard], outlines))
    alone = by_rank(heard)
    if alone:
        verdicts = told_by_rank(verdicts, alone, lambda one: verdicts_of(findings, one, outlines))
        missed = missed_by_rank(missed, alone, lambda one: missed_of(findings, [one], outlines))
    return VerifyReport(
        verdicts=verdicts,
        missed=missed,
        torch=heard.torch,
        device=heard.device,
        notes=differences(alone),
    )


def renamer(known: set[str], root: str) -> Callable[[str], str]:
    """Paths of another machine as the findings have them: the longest finding path that ends the traced one."""

    def rename(path: str) -> str:
        own = relative(path, root)
        if own != path or not os.path.isabs(path):
            return own
        endings = [item for item in known if path.endswith("/" + item)]
        return max(endings, key=len, default=path)

    return rename
