"""The command line of verification: `tclint --verify`, `tclint verify -- python train.py`, `tclint verify --trace DIR`."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import click

from tclint.commands.environment import clean_env_option
from tclint.commands.options import here, listed, say
from tclint.commands.show import Show
from tclint.model import codec
from tclint.model.errors import UserError
from tclint.model.finding import Finding, Verification
from tclint.model.report import Report
from tclint.model.settings import Settings
from tclint.output.lines import shown
from tclint.run import cachedir
from tclint.verify.makers import mistakes, unfound
from tclint.verify.options import VerifyOptions, default_jobs
from tclint.verify.verdict import Missed, Outcome, Verdict, VerifyReport

JSONL = "jsonl"
NO_TORCH = "torch cannot be imported by "
INTERRUPTED = 130


def options_from(settings: Settings, device: str | None, timeout: float | None, python: str | None) -> VerifyOptions:
    """The command line over `[tool.tclint.verify]` over the defaults."""
    table = settings.verify
    base = os.path.dirname(settings.config_file) if settings.config_file else here()
    extra = [os.path.normpath(os.path.join(base, str(p))) for p in table.get("path", ())]
    if extra:
        # Children inherit it: where packages lie that the flagged modules import.
        known = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*extra, *known]))
    factories: dict[str, str] = table.get("factories", {})
    where = f"{settings.source.get('verify', 'configuration')}: verify.factories: "
    folders = (base, *settings.src, os.path.join(base, "src"), *extra, here())
    chosen = python or str(table.get("python", sys.executable))
    executor = str(table.get("executor", ""))
    # What other machines have installed cannot be seen from here.
    wrong = mistakes(factories, folders) or ([] if executor else unfound(factories, folders, chosen))
    if wrong:
        raise UserError("; ".join(where + each for each in wrong))
    kept = None if settings.no_cache else cachedir.opened(settings)  # the linting run has told why there is none
    return VerifyOptions(
        device=device or str(table.get("device", "cpu")),
        timeout=timeout or float(table.get("timeout", 120)),
        memory_mb=int(table.get("memory", 0)),
        jobs=settings.jobs or default_jobs(),
        python=chosen,
        factories=factories,
        factories_at=where,
        executor=executor,
        cache_dir=None if kept is None else kept.path,
    )


def check(report: Report, options: VerifyOptions, confirmed_only: bool = False, quiet: bool = False) -> Report:
    """The report with a verdict on every finding."""
    from tclint.verify import verify

    show = _progress(quiet)
    answers = verify(_claims(report), options, show, _lines(show) if show else None)
    return judged(report, heeded(answers, options), confirmed_only)


def _claims(report: Report) -> list[Finding]:
    """What the compiler can be asked about: not tclint's own complaints about a file."""
    return [f for f in report.findings if not f.code.startswith("TCL9")]


def heeded(answers: VerifyReport, options: VerifyOptions, option: str = "--verify-python") -> VerifyReport:
    """Refuse answers that nothing was asked for: no torch; or that were given without a factory which the configuration
    names, and so answer another question. `option` names the interpreter that has torch.
    """
    if answers.verdicts and all(NO_TORCH in verdict.words for verdict in answers.verdicts):
        # The same of every finding: it is said once, and with the option that this command has.
        raise UserError(f"{answers.verdicts[0].words}; pip install torch there, or name another with {option}")
    if answers.bad_factories:
        raise UserError("; ".join(options.factories_at + broken for broken in answers.bad_factories))
    return answers


def judged(report: Report, answers: VerifyReport, confirmed_only: bool) -> Report:
    findings: list[Finding] = []
    verdicts = {_place(v.finding): v for v in answers.verdicts}
    for finding in report.findings:
        verdict = verdicts.get(_place(finding))
        if verdict is not None:
            finding = replace(finding, verified=_verification(verdict))
        if confirmed_only and (verdict is None or verdict.outcome is not Outcome.CONFIRMED):
            continue
        findings.append(finding)
    notes = [*report.notes, _summary(answers), *(_missed(m) for m in answers.missed), *answers.notes]
    return replace(report, findings=tuple(findings), notes=tuple(notes))


def _place(finding: Finding) -> tuple[str, int, int, str]:
    return (finding.path, finding.span.line, finding.span.column, finding.code)


def _verification(verdict: Verdict) -> Verification:
    return Verification(
        verdict.outcome.value,
        verdict.words,
        verdict.gb_id,
        verdict.torch,
        verdict.device,
        verdict.dtype,
        verdict.inputs,
        verdict.hint,
    )


def _summary(answers: VerifyReport) -> str:
    counts = {o: sum(v.outcome is o for v in answers.verdicts) for o in Outcome}
    said = ", ".join(f"{n} {o.value.replace('-', ' ')}" for o, n in counts.items() if n) or "nothing to verify"
    on = f" on {answers.device}," if answers.device else " against"  # a trace does not say where it was made
    where = f"{on} torch {answers.torch}" if answers.torch else ""
    return f"verified{where}: {said}, {len(answers.missed)} missed"


def _missed(missed: Missed) -> str:
    name = f" ({missed.gb_id})" if missed.gb_id else ""
    words = missed.words.splitlines()[0] if missed.words else missed.effect
    return f"missed: {missed.path}:{missed.line}: {words}{name}"


def _progress(quiet: bool) -> Callable[[int, int, str], None] | None:
    """A line on the terminal that says what runs, how long, and how many are left."""
    if quiet or not sys.stderr.isatty():
        return None
    begun = time.monotonic()

    def show(done: int, total: int, name: str) -> None:
        text = f"verifying {done}/{total}, {time.monotonic() - begun:.0f} s, {shown(name[:60])}"
        print(_CLEARED + (text if done < total else ""), end="", file=sys.stderr, flush=True)

    return show


_CLEARED = "\r\x1b[K"


def _lines(progress: object) -> Callable[[Verdict], None]:
    """One line for each verdict as it is reached, above the progress line where there is one."""

    def tell(verdict: Verdict) -> None:
        if NO_TORCH in verdict.words:
            return  # said once, at the end
        finding = verdict.finding
        first = verdict.words.strip().splitlines()[0][:160] if verdict.words.strip() else ""
        place = f"{finding.path}:{finding.line}: {finding.code}"
        start = _CLEARED if progress is not None else ""
        print(f"{start}{verdict.outcome.value:<13}{shown(f'{place} {first}')}", file=sys.stderr, flush=True)

    return tell


def _json_line(verdict: Verdict) -> None:
    """A verdict on a line of its own, for programs that read while we run."""
    finding = verdict.finding
    place = {"path": finding.path, "line": finding.line, "column": finding.span.column, "code": finding.code}
    print(json.dumps({**place, **codec.encode(_verification(verdict))}), flush=True)


def _end_on_sigterm() -> None:
    """A run that is told to end prints and keeps what it has, as on Ctrl-C."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


@click.command(
    "tclint verify", context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": False}
)
@click.argument("arguments", nargs=-1)
@click.option("--device", metavar="NAME", help="cpu, cuda, cuda:1 …")
@click.option("--trace", "trace_dir", metavar="DIR", help="Read an existing TORCH_TRACE folder; needs no torch.")
@click.option(
    "--steps",
    type=int,
    default=0,
    help="Stop the program after this many optimizer steps; where it has no optimizer, calls of a compiled object.",
)
@click.option("--repro", "repro_dir", metavar="DIR", help="Write a repro pack for every confirmed finding.")
@click.option("--timeout", type=float, help="Seconds for one target.")
@click.option("--python", "python", metavar="FILE", help="The interpreter that has torch.")
@click.option("--jobs", "-j", type=int, help="Targets at a time; on CUDA several to a GPU, as its memory allows.")
@click.option("--memory", type=int, metavar="MB", help="Memory for one target.")
@click.option("--executor", metavar="URL", help="ray://host:port runs the targets on a Ray cluster (extra: ray).")
@click.option("--no-cache", is_flag=True, help="Ask again what is known already.")
@click.option("--confirmed-only", is_flag=True, help="Show only what was confirmed.")
@click.option("--output-format", default="full", help="How findings are written; jsonl: each verdict as it is reached.")
@click.option(
    "--all", "everything", is_flag=True, help="Run also what no finding speaks of, and tell what lint missed."
)
@click.option("--select", multiple=True, callback=listed, metavar="RULES", help="Ask only about these rules.")
@click.option("--output-file", "-o", metavar="FILE", help="Write the report to a file instead of stdout.")
@click.option("--quiet", "-q", is_flag=True, help="The judged findings only: no progress, no summary.")
@click.option("--scaffold", metavar="FILE", help="Write an @tclint.example for every target that could not be run.")
@clean_env_option
@click.option("--allow-rules", is_flag=True, default=None, help="Run the rules that the configuration file names.")
def command(
    arguments: tuple[str, ...],
    device: str | None,
    trace_dir: str | None,
    steps: int,
    repro_dir: str | None,
    timeout: float | None,
    python: str | None,
    jobs: int | None,
    memory: int | None,
    executor: str | None,
    no_cache: bool,
    confirmed_only: bool,
    output_format: str,
    everything: bool,
    select: list[str] | None,
    output_file: str | None,
    quiet: bool,
    scaffold: str | None,
    allow_rules: bool | None,
) -> int:
    """Hold findings against the compiler.

    tclint verify PATHS… runs the flagged modules; tclint verify -- python train.py listens to your own program;
    tclint verify --trace DIR PATHS… reads what a cluster job left.
    """
    from tclint.run.project import Project
    from tclint.verify import verify, verify_program, verify_trace, warm_up, write_repro

    stream = output_format == JSONL
    if stream and output_file is not None:
        raise click.UsageError(
            "--output-format jsonl writes each verdict as it is reached, to stdout: no --output-file"
        )
    show = Show("full" if stream else output_format, output_file, quiet=quiet)
    program = _program(arguments)
    paths = ["."] if program or not arguments else arguments
    project = Project.open(
        paths,
        cwd=here(),
        overrides={**({"no-cache": True} if no_cache else {}), **({"select": select} if select else {})},
        say=say,
        allow_rules=allow_rules,
    )
    options = options_from(project.settings, device, timeout, python)
    options = replace(
        options,
        jobs=jobs or options.jobs,
        memory_mb=memory or options.memory_mb,
        executor=executor if executor is not None else options.executor,
    )
    if not program and trace_dir is None:
        warm_up(options)
    report = project.lint()
    claims = _claims(report)
    if program:
        answers = verify_program(claims, list(program), options, steps=steps)
    elif trace_dir is not None:
        answers = verify_trace(claims, trace_dir, options)
    else:
        _end_on_sigterm()
        progress = _progress(quiet)
        heard = None if quiet else _lines(progress)
        also = project.reported if everything else ()
        answers = heeded(
            verify(claims, options, progress, _json_line if stream else heard, also),
            options,
            "--python",
        )
    if repro_dir is not None:
        from tclint.verify import NotConfirmed

        for verdict in answers.verdicts:
            if verdict.outcome is Outcome.CONFIRMED:
                try:
                    write_repro(verdict, options, repro_dir)
                except NotConfirmed as error:
                    say(f"no repro: {error}")
    if scaffold is not None:
        from tclint.verify.scaffold import write_scaffold

        count = write_scaffold(answers, options, scaffold)
        say(
            f"{count} {'example' if count == 1 else 'examples'} to fill in: {scaffold}"
            if count
            else "nothing to fill in"
        )
    report = judged(report, answers, confirmed_only)
    if stream:
        for line in () if quiet else report.notes:
            say(line)
    else:
        show(report, project)
    return INTERRUPTED if answers.stopped else 1 if report.findings else 0


def _program(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """What follows `--`: click drops the dashes, so a first word that is a program counts as one, be it on the PATH or a
    file that can be run (`.venv/bin/python`). What can be linted is a path."""
    if len(arguments) < 2 or os.path.isdir(arguments[0]) or arguments[0].endswith((".py", ".ipynb")):
        return ()
    import shutil

    if shutil.which(arguments[0]) is not None:
        return arguments
    if os.path.exists(arguments[0]):
        return ()
    raise UserError(f"{arguments[0]}: neither a path nor a program; write tclint verify -- python train.py")
