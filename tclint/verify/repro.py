"""A repro pack: what one attaches to an upstream bug."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import textwrap
from pathlib import Path

from tclint.verify.job import Job
from tclint.verify.options import VerifyOptions
from tclint.verify.process import CHILD, environment
from tclint.verify.targets import absolute, targets_of
from tclint.verify.verdict import Outcome, Verdict


class NotConfirmed(ValueError):
    """Only what Dynamo confirmed can be reproduced."""


def script_of(job: Job, verdict: Verdict) -> str:
    """A script that makes the target and its calls as verify did, and runs them under `torch.compile`."""
    job_text = json.dumps(job.to_json(), indent=1)
    words = textwrap.fill(f"{verdict.words} {verdict.gb_id}".strip(), 110)
    return f'''"""{verdict.finding.path}:{verdict.finding.line} {verdict.finding.code}: {verdict.finding.message}

{words}
Inputs: {verdict.inputs}
"""

import json
import sys

sys.path.insert(0, {str(CHILD.parents[2])!r})  # where tclint is installed: it makes the inputs

import torch

from tclint.verify.child_inputs import Example, sources
from tclint.verify.child_load import load
from tclint.verify.job import job_from_json

job = job_from_json(json.loads(r"""{job_text}"""))
mode = "reduce-overhead" if any(place.effect == "cudagraph" for place in job.places) else None
for candidate in job.candidates:
    module = load(candidate.path, job.root)
    example = next((found for found in sources(job, candidate, module) if isinstance(found, Example)), None)
    if example is None:
        continue
    print("inputs:", example.source)
    torch.manual_seed(job.seed)
    target = example.build()
    backend = "inductor" if mode else "eager"
    function = torch.compile(target, mode=mode, backend=backend) if example.wrap else target
    for call in example.calls():
        function(*call.args, **call.kwargs)
    break
'''


def write_repro(verdict: Verdict, options: VerifyOptions, folder: str) -> Path:
    """The pack of one confirmed finding: script, source, versions, command, and the trace of a run of it."""
    if verdict.outcome is not Outcome.CONFIRMED:
        raise NotConfirmed(f"{verdict.finding.path}:{verdict.finding.line} is {verdict.outcome.value}")
    finding = verdict.finding
    stem = re.sub(r"\W+", "-", Path(finding.path).stem)
    pack = Path(folder) / f"{finding.code}-{stem}-{finding.line}"
    pack.mkdir(parents=True, exist_ok=True)
    (target,) = targets_of([finding], options)
    (pack / "repro.py").write_text(script_of(target.job, verdict), encoding="utf-8")
    shutil.copyfile(absolute(finding.path, options.root), pack / Path(finding.path).name)
    logs = "graph_breaks,recompiles,cudagraphs"
    command = f"TORCH_LOGS={logs} TORCH_TRACE=trace {shlex.quote(options.python)} repro.py"
    (pack / "command.txt").write_text(command + "\n", encoding="utf-8")
    versions = _versions(options, verdict)
    (pack / "versions.json").write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")
    _run(pack, options, logs)
    return pack


def _run(pack: Path, options: VerifyOptions, logs: str) -> None:
    """Run the script once, so that the pack holds the trace and proves itself."""
    scratch = pack / "scratch"
    scratch.mkdir(exist_ok=True)
    base = {**environment(options.device, str(scratch)), "TORCH_LOGS": logs, "TORCH_TRACE": str(pack / "trace")}
    try:
        done = subprocess.run(
            [options.python, "repro.py"],
            cwd=pack,
            env=base,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=options.timeout,
            check=False,
            start_new_session=True,
        )
        said = done.stdout.decode("utf-8", errors="replace") + f"\n[exit status {done.returncode}]\n"
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode("utf-8", errors="replace") + f"\n[stopped after {options.timeout:g} s]\n"
    (pack / "output.txt").write_text(said, encoding="utf-8")
    shutil.rmtree(scratch, ignore_errors=True)


def _versions(options: VerifyOptions, verdict: Verdict) -> dict[str, str]:
    found = {
        "torch": verdict.torch,
        "device": verdict.device,
        "dtype": verdict.dtype,
        "platform": platform.platform(),
        "python": _output([options.python, "-c", "import sys; print(sys.version)"]),
    }
    if options.device.startswith("cuda"):
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        found["gpu and driver"] = _output(query)
    return found


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ))
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown ({type(error).__name__})"
    return done.stdout.strip()
