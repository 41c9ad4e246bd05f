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
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tclint.verify.job import Job
from tclint.verify.options import VerifyOptions
from tclint.verify.process import Limits, environment, run_job, stop_servers
from tclint.verify.targets import absolute, relative, targets_of
from tclint.verify.verdict import Outcome, Verdict


class NotConfirmed(ValueError):
    """Only what Dynamo confirmed can be reproduced."""


def script_of(job: Job, recipe: Mapping[str, Any], verdict: Verdict) -> str:
    """A script that makes the target and its calls as verify did, and runs them under `torch.compile`; without tclint."""
    path, name = str(recipe["path"]), str(recipe["module"])
    inner = [relative(folder, job.root) for folder in (_top(path), os.path.dirname(path), job.root)]
    folders = list(dict.fromkeys("." if os.path.isabs(folder) else folder for folder in inner))
    told = f"{verdict.finding.path}:{verdict.finding.line} {verdict.finding.code}: {verdict.finding.message}"
    words = [told, "", *textwrap.wrap(f"{verdict.words} {verdict.gb_id}".strip(), 110), f"Inputs: {verdict.inputs}"]
    lines = [
        *(f"# {line}".rstrip() for line in "\n".join(words).splitlines()),
        "",
        "import importlib.util",
        "import sys",
        "from pathlib import Path",
        "",
        "HERE = Path(__file__).resolve().parent",
        'SOURCE = HERE / "source"  # the files of the project that the target imports',
        f"sys.path[:0] = [str(SOURCE / folder) for folder in {folders!r}]",
        "",
        "import torch",
        "",
    ]
    if "." in name:
        lines.append(f"module = importlib.import_module({name!r})")
    else:
        lines += [
            f"spec = importlib.util.spec_from_file_location({name!r}, SOURCE / {relative(path, job.root)!r})",
            "module = importlib.util.module_from_spec(spec)",
            f"sys.modules[{name!r}] = module",
            "spec.loader.exec_module(module)",
        ]
    lines += ["", f"torch.manual_seed({job.seed})", *_target_lines(job, recipe), ""]
    return "\n".join(lines)


def _target_lines(job: Job, recipe: Mapping[str, Any]) -> list[str]:
    kind, device, mode = recipe["kind"], job.device, recipe["mode"]
    if recipe["trouble"]:
        return [f"# {recipe['trouble']}", 'raise SystemExit("write here: the target, and its calls")']
    if kind == "main":
        return [f"print(module.main({device!r}))"]
    if kind == "get_inputs":
        lines = [
            f"target = module.{recipe['class']}(*module.get_init_inputs()).to({device!r})",
            f"calls = [([x.to({device!r}) if torch.is_tensor(x) else x for x in module.get_inputs()], {{}})]",
        ]
        if mode:
            lines.append(f"target.train({mode == 'train'})")
    else:
        lines = [
            'kept = torch.load(HERE / "inputs.pt", weights_only=False)',
            'target, calls = kept["target"], kept["calls"]',
        ]
    if not recipe["wrap"]:
        return [*lines, "for args, kwargs in calls:", "    target(*args, **kwargs)"]
    # What a graph overwrites shows in the calls that follow.
    times = " * 5" if _effect(job) == "cudagraph" else ""
    return [
        *lines,
        f"function = torch.compile(target, {_arguments(job)})",
        f"for args, kwargs in calls{times}:",
        "    function(*args, **kwargs)",
    ]


def _effect(job: Job) -> str:
    return job.places[0].effect


def _arguments(job: Job) -> str:
    """The arguments of `torch.compile`: the site's, and the backend of the experiment."""
    site, effect = job.compiled, _effect(job)
    found = [f"{name}={value!r}" for name, value in (("dynamic", site.dynamic), ("fullgraph", site.fullgraph)) if value]
    if effect != "cudagraph":
        backend = "aot_eager" if effect == "recompile" else "eager"
        return ", ".join([f'backend="{backend}"', *found])
    if site.backend == "cudagraphs":
        return ", ".join(['backend="cudagraphs"', *found])
    if ("triton.cudagraphs", "True") in site.options:
        options = ", ".join(f"{name!r}: {value}" for name, value in site.options)
        return ", ".join([f"options={{{options}}}", *found])
    mode = site.mode if site.mode in ("reduce-overhead", "max-autotune") else "reduce-overhead"
    return ", ".join([f'mode="{mode}"', *found])


def _top(path: str) -> str:
    """The folder that holds the top package of a file."""
    folder = Path(path).parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return str(folder)


def write_repro(verdict: Verdict, options: VerifyOptions, folder: str) -> Path:
    """The pack of one confirmed finding: script, sources, inputs, versions, command, and the trace of a run of it."""
    if verdict.outcome is not Outcome.CONFIRMED:
        raise NotConfirmed(f"{verdict.finding.path}:{verdict.finding.line} is {verdict.outcome.value}")
    finding = verdict.finding
    stem = re.sub(r"\W+", "-", Path(finding.path).stem)
    pack = (Path(folder) / f"{finding.code}-{stem}-{finding.line}").resolve()
    pack.mkdir(parents=True, exist_ok=True)
    (target,) = targets_of([finding], options)
    job = replace(target.job, pack=str(pack))
    limits = Limits(options.python, options.device, options.timeout, options.memory_mb)
    try:
        heard = run_job(job, limits)
    finally:
        if not options.keep:
            stop_servers()
    recipe_file = pack / "recipe.json"
    if not recipe_file.is_file():
        why = heard.trouble or "its line was not reached again"
        raise NotConfirmed(f"{finding.path}:{finding.line} cannot be run once more: {why}")
    recipe = json.loads(recipe_file.read_text(encoding="utf-8"))
    recipe_file.unlink()
    for source in (*heard.sources, absolute(finding.path, options.root)):
        inner = relative(source, job.root)
        if not os.path.isabs(inner):
            (pack / "source" / inner).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, pack / "source" / inner)
    (pack / "repro.py").write_text(script_of(job, recipe, verdict), encoding="utf-8")
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
