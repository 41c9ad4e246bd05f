"""The command lines `tclint diagnose` and `tclint compare`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tclint.commands.environment import clean_env_option
from tclint.commands.options import here, say
from tclint.commands.telling import Telling, width
from tclint.diagnose import plan
from tclint.model import codec
from tclint.model.errors import UserError
from tclint.model.settings import Settings
from tclint.output.lines import harmless
from tclint.run.project import not_loaded
from tclint.sources import configuration

if TYPE_CHECKING:
    from tclint.diagnose.session import Progress
    from tclint.diagnose.target import Target
    from tclint.verify.options import VerifyOptions

FORMATS = ("text", "json", "markdown", "html")
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.command("tclint diagnose", context_settings=_CONTEXT)
@click.argument("arguments", metavar="MODULE:TARGET | -- PROGRAM…", nargs=-1, required=True)
@click.option("--device", metavar="NAME", help="cpu, cuda, cuda:1 … (default: of [tool.tclint.verify], else cpu)")
@click.option("--skip", multiple=True, metavar="NAME", help=f"Leave one out: {', '.join(plan.NAMES)}.")
@click.option("--only", multiple=True, metavar="NAME", help="Run only these.")
@click.option("--quick", is_flag=True, help="A verdict within a minute: no sweeps, one process, one mode.")
@click.option("--ablate", metavar="OPTIONS", help="Inductor options one by one: 'epilogue_fusion;max_autotune=False'.")
@click.option("--cost", is_flag=True, help="Measure what each finding costs: with and without its fix.")
@click.option("--batch", type=click.IntRange(min=1), metavar="N", help="Rows of every input (default: as they come).")
@click.option("--output-format", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--output-file", "-o", metavar="FILE", help="Write to a file instead of stdout.")
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=150.0, show_default=True, help="Seconds for one child."
)
@click.option("--total", type=click.FloatRange(min=0), metavar="S", help="Seconds for the run; 0: no limit [240].")
@click.option(
    "--steps",
    type=click.IntRange(min=0),
    default=0,
    help="Stop a program after this many optimizer steps; where it has no optimizer, calls of a compiled object.",
)
@click.option("--path", "folders", multiple=True, metavar="DIR", help="Where the target's modules lie.")
@click.option("--python", metavar="FILE", help="The interpreter that has torch.")
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration file.")
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.option("--allow-rules", is_flag=True, default=None, help="Run the rules that the configuration file names.")
@clean_env_option
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def command(
    arguments: tuple[str, ...],
    device: str | None,
    skip: tuple[str, ...],
    only: tuple[str, ...],
    quick: bool,
    ablate: str | None,
    cost: bool,
    batch: int | None,
    output_format: str,
    output_file: str | None,
    timeout: float,
    total: float | None,
    steps: int,
    folders: tuple[str, ...],
    python: str | None,
    config_file: str | None,
    isolated: bool,
    allow_rules: bool | None,
    quiet: bool,
) -> int:
    """Measure a module: its graph breaks and recompiles, whether compiling pays, and what costs what.

    MODULE:TARGET is package.module:Target or path/to/file.py:Target: an nn.Module class, a function, or a factory (a
    function without required arguments that returns a module, or a module and its calls). Inputs come from
    [tool.tclint.verify.factories], @tclint.example, conventions, or are inferred. Every diagnostic runs in its own
    process.

    tclint diagnose -- python train.py runs your own program as it is and listens: how long its steps take, where Dynamo
    breaks and compiles again.
    """
    if len(arguments) > 1:
        how = _of_program(device, total, config_file, isolated, allow_rules)
        return _listened(arguments, how, steps, Telling(output_format, output_file))
    (target,) = arguments
    names = plan.selected(skip, only)
    parts = plan.ablations(ablate) if ablate is not None else ()
    if not names:
        raise UserError("--skip and --only leave no diagnostic to run")
    if "breaks" not in names and cost:
        raise UserError("--cost needs the diagnostic breaks: it says which findings there are")
    cwd = os.path.realpath(here())
    for folder in folders:
        if not os.path.isdir(folder):
            raise UserError(f"--path {folder}: no such folder")
    found, settings = _settled(target, [os.path.realpath(f) for f in folders], cwd, config_file, isolated, allow_rules)
    if line := not_loaded(settings):
        say(line)

    from tclint.commands.verify import options_from
    from tclint.diagnose.session import Options, diagnose

    verify = options_from(replace(settings, no_cache=True), device, timeout, python)
    root = _root(found.path, [os.path.realpath(f) for f in folders], settings, cwd)
    known = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*map(os.path.realpath, folders), *known]))
    options = Options(
        names=names,
        asked=only,
        device=verify.device,
        quick=quick,
        ablate=parts,
        timeout=timeout,
        total=total if total is not None else plan.QUICK_TOTAL if quick else plan.TOTAL,
        batch=batch or 0,
        python=verify.python,
        memory_mb=verify.memory_mb,
        threads=max(1, (os.cpu_count() or 1) // 2),
        root=root,
        cwd=cwd,
        factories=verify.factories,
        cost=cost,
    )
    telling = Telling(output_format, output_file)
    with _progress(quiet) as progress:
        diagnosis = diagnose(found, options, settings, progress, telling.tell)
    if not diagnosis.unfinished and all(
        state.status in ("failed", "left out", "not begun") for state in diagnosis.states
    ):
        why = next((state.words for state in diagnosis.states if state.status == "failed"), "")
        raise UserError(f"{target}: nothing could be measured: {why}")
    telling.end(diagnosis)
    if diagnosis.unfinished:
        # What there is has been told; whoever stopped the run learns from the exit code that this is not all.
        raise KeyboardInterrupt
    return 0


def _of_program(
    device: str | None, total: float | None, config_file: str | None, isolated: bool, allow_rules: bool | None
) -> tuple[VerifyOptions, Settings]:
    from tclint.commands.verify import options_from

    cwd = os.path.realpath(here())
    settings = configuration.load(["."], cwd=cwd, config=config_file, isolated=isolated, allow_rules=allow_rules)
    if line := not_loaded(settings):
        say(line)
    return options_from(replace(settings, no_cache=True), device, total or 365 * 86400.0, None), settings


def _listened(program: Sequence[str], how: tuple[VerifyOptions, Settings], steps: int, telling: Telling) -> int:
    """Run a program and tell what was heard. Its own words come first; it may take as long as it takes."""
    import shutil

    from tclint.diagnose.program import diagnose_program

    if shutil.which(program[0]) is None:
        raise UserError(f"{program[0]}: no such program; write tclint diagnose -- python train.py")
    options, settings = how
    diagnosis = diagnose_program(program, options, settings, steps, os.path.realpath(here()))
    if diagnosis.steps is None and not diagnosis.torch:
        raise UserError(f"{' '.join(program)}: {diagnosis.states[-1].words or 'nothing was heard'}")
    telling.end(diagnosis)
    return 0


def _settled(
    target: str, folders: list[str], cwd: str, config_file: str | None, isolated: bool, allow_rules: bool | None
) -> tuple[Target, Settings]:
    """The target and the settings of the folder it lies in; the settings may name more folders to look in."""
    from tclint.diagnose.target import parse

    def load(start: str) -> Settings:
        return configuration.load([start], cwd=cwd, config=config_file, isolated=isolated, allow_rules=allow_rules)

    found = parse(target, [*folders, cwd])
    settings = load(found.path or (folders[0] if folders else "."))
    if not found.path:
        base = os.path.dirname(settings.config_file) if settings.config_file else cwd
        more = [os.path.normpath(os.path.join(base, str(each))) for each in settings.verify.get("path", ())]
        found = parse(target, [base, *more])
    return found, settings


def _root(path: str, folders: list[str], settings: Settings, cwd: str) -> str:
    """The folder whose files are the user's."""
    for folder in (*folders, os.path.realpath(settings.root or cwd), cwd):
        if not path or path.startswith(os.path.join(folder, "")):
            return folder
    return os.path.dirname(path)


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """A bar on a terminal's stderr, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda title, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description:<36}"), BarColumn(), MofNCompleteColumn())
    # Tables that are printed meanwhile go above the bar, where both are one terminal.
    above = sys.stdout.isatty()
    console = Console(stderr=True)
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, redirect_stdout=above, redirect_stderr=above
    ) as bar:
        task = bar.add_task("starting torch", total=None)

        def show(title: str, done: int, total: int) -> None:
            if total:
                bar.update(task, description=title, completed=done, total=total)
            else:
                bar.update(task, description=title)

        yield show


def _percent(context: click.Context, parameter: click.Parameter, value: str) -> float:
    try:
        number = float(value.strip().removesuffix("%")) / 100
    except ValueError:
        raise click.BadParameter(f"{value!r} is no percentage: write 5%") from None
    if not 0 <= number < 10:
        raise click.BadParameter(f"{value!r}: write a percentage between 0% and 1000%")
    return number


@click.command("tclint compare", context_settings=_CONTEXT)
@click.argument("before", metavar="A.json")
@click.argument("after", metavar="B.json")
@click.option("--threshold", default="5%", show_default=True, callback=_percent, help="What counts as a regression.")
@click.option("--output-format", type=click.Choice(("text", "markdown", "json")), default="text", show_default=True)
def compare_command(before: str, after: str, threshold: float, output_format: str) -> int:
    """Put two results of `tclint diagnose --output-format json` side by side; exit 1 where B is worse than A."""
    from tclint.diagnose import compare, report_json

    first, second = (codec.mapped(report_json.read(path), harmless) for path in (before, after))
    result = compare.compared(first, second, threshold)
    renderers: dict[str, Callable[[compare.Comparison], str]] = {
        "text": lambda each: compare.text(each, width(to_stdout=True), sys.stdout.isatty()),
        "markdown": compare.markdown,
        "json": compare.json_text,
    }
    click.echo(renderers[output_format](result), nl=False, color=True)
    return 1 if result.regressions else 0
