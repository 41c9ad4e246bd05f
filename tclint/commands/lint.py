"""`tclint PATHS`: lint, fix, judge, report."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tclint import __version__, output
from tclint.commands.environment import clean_env_option
from tclint.commands.narrow import add_ignores, compared, narrowed
from tclint.commands.options import CONTEXT, complete_paths, complete_rules, config_options, here, listed, say
from tclint.commands.show import Show
from tclint.model.settings import LEVELS
from tclint.run.project import AUTO, Project

if TYPE_CHECKING:
    from tclint.model.finding import Finding
    from tclint.model.report import Report
    from tclint.run import fixing
    from tclint.verify import VerifyReport

_EPILOG = """\b
Other commands: tclint rule [CODE|NAME|GBxxxx], config, clean, verify, diagnose, compare, server, new-rule,
completion; each has --help.
Exit code: 0 nothing found, 1 findings, 2 error."""


class _Lint(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # `--add-ignore path` must not take the path for the reason.
        return super().parse_args(ctx, ["--add-ignore=" if arg == "--add-ignore" else arg for arg in args])


@click.command("tclint", cls=_Lint, context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("paths", nargs=-1, shell_complete=complete_paths)
@click.option("--fix", "fix_", is_flag=True, help="Apply the safe fixes and report what is left.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix, --fix-only, --diff: the fixes with conditions too.")
@click.option("--fix-only", is_flag=True, help="Apply fixes and report nothing that is left; exit 0.")
@click.option(
    "--diff", is_flag=True, help="Show what --fix would change, change nothing; exit 1 if there is something."
)
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit 1 where something was fixed, even if nothing is left.")
@click.option("--show-fixes", is_flag=True, help="List the fixes that were applied.")
@click.option(
    "--check-fixes/--no-check-fixes",
    default=None,
    help="Show only fixes after which their hazard is gone: takes several lints (default: in sarif, rdjson, github-review).",
)
@click.option("--add-ignore", metavar="[=REASON]", help="Write a suppression for every finding.")
@click.option("--baseline", metavar="FILE", help="Do not report the findings this file knows.")
@click.option("--diff-base", metavar="REV", help="Report only lines that changed since this git revision.")
@click.option("--update-baseline", is_flag=True, help="Write what is found now to the --baseline file.")
@click.option(
    "--output-format",
    type=click.Choice(list(output.FORMATS)),
    default="full",
    show_default=True,
    help="How findings are written.",
)
@click.option("--verify", "verify_", is_flag=True, help="Run what is flagged under Dynamo and judge every finding.")
@click.option("--device", metavar="NAME", help="Where to verify: cpu, cuda, cuda:1 …")
@click.option("--confirmed-only", is_flag=True, help="With --verify: keep what was confirmed.")
@click.option("--verify-timeout", type=float, metavar="SECONDS", help="With --verify: time for one target.")
@click.option("--verify-python", metavar="FILE", help="With --verify: the interpreter that has torch.")
@clean_env_option
@click.option("--output-file", "-o", metavar="FILE", help="Write to a file instead of stdout.")
@click.option(
    "--select",
    multiple=True,
    callback=listed,
    metavar="RULES",
    shell_complete=complete_rules,
    help="Run only these: codes, prefixes, names, ALL.",
)
@click.option(
    "--extend-select",
    multiple=True,
    callback=listed,
    metavar="RULES",
    shell_complete=complete_rules,
    help="Run these too.",
)
@click.option(
    "--ignore",
    multiple=True,
    callback=listed,
    metavar="RULES",
    shell_complete=complete_rules,
    help="Do not run these.",
)
@click.option("--min-confidence", type=click.Choice(LEVELS), help="Leave out what tclint is less sure of.")
@click.option("--severity", type=click.Choice(LEVELS), help="Leave out what matters less.")
@config_options
@click.option(
    "--exclude", multiple=True, callback=listed, metavar="GLOBS", help="Leave these out, instead of the defaults."
)
@click.option("--extend-exclude", multiple=True, callback=listed, metavar="GLOBS", help="Leave these out too.")
@click.option("--force-exclude", is_flag=True, help="Apply the excludes to paths given by name as well.")
@click.option("--target-torch", metavar="VERSION", help="The torch the code runs on, such as 2.13.")
@click.option("--target-python", metavar="VERSION", help="The Python the code runs on, such as 3.12.")
@click.option(
    "--python", metavar="PATH", help="Read the libraries of this environment where the code uses them, such as .venv."
)
@click.option(
    "--assume-compiled",
    type=click.Choice(["auto", "all", "never"]),
    help="Take every nn.Module.forward as compiled: auto does where no compile site is seen.",
)
@click.option(
    "--project-root", metavar="DIR", help="Link this whole project, report only PATHS (default: found from PATHS)."
)
@click.option("--no-project", is_flag=True, help="Look at PATHS only, not at the project around them.")
@click.option("--stdin-filename", metavar="FILE", help="The name of what comes on stdin (path '-').")
@click.option("--show-files", is_flag=True, help="List the files that would be linted, and nothing else.")
@click.option("--show-settings", is_flag=True, help="Show the settings that hold for them, and nothing else.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@click.option("--group", is_flag=True, help="By root cause: the same as --output-format grouped.")
@click.option("--statistics", is_flag=True, help="Show how often each rule fired, not the findings.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--cache-dir", metavar="DIR", help="Where the cache is kept.")
@click.option("--jobs", "-j", type=click.IntRange(min=0), metavar="N", help="Processes to use; 0 decides by itself.")
@click.option("--watch", "watch_", is_flag=True, help="Lint again whenever a file changes, until interrupted.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours in the output.")
@click.option("--quiet", "-q", is_flag=True, help="Findings only, no summary.")
@click.option("--verbose", "-v", is_flag=True, help="Findings in full; on stderr what is read and how long it took.")
@click.version_option(__version__, "--version", "-V", message="tclint %(version)s")
def command(
    paths: tuple[str, ...],
    output_format: str,
    output_file: str | None,
    config_file: str | None,
    isolated: bool,
    allow_rules: bool | None,
    force_exclude: bool,
    project_root: str | None,
    no_project: bool,
    stdin_filename: str | None,
    show_files: bool,
    show_settings: bool,
    exit_zero: bool,
    group: bool,
    statistics: bool,
    no_cache: bool,
    watch_: bool,
    color: str,
    quiet: bool,
    verbose: bool,
    verify_: bool,
    device: str | None,
    confirmed_only: bool,
    verify_timeout: float | None,
    verify_python: str | None,
    fix_: bool,
    unsafe_fixes: bool,
    fix_only: bool,
    diff: bool,
    show_fixes: bool,
    exit_non_zero_on_fix: bool,
    check_fixes: bool | None,
    add_ignore: str | None,
    baseline: str | None,
    diff_base: str | None,
    update_baseline: bool,
    **overrides: Any,
) -> int:
    """Find torch.compile hazards in PATHS (files and folders; default: the current folder).

    Where only files are given, the project around them is read too, so that a compile site in train.py is seen, but
    only the given files are reported.
    """
    started = time.perf_counter()
    given = {key.replace("_", "-"): value for key, value in overrides.items() if value is not None}
    if no_cache:
        given["no-cache"] = True
    if group:
        if output_format not in ("full", "text", "grouped"):
            raise click.UsageError(f"--group is for people; --output-format {output_format} lists every finding")
        output_format = "grouped"
    if no_project and project_root is not None:
        raise click.UsageError("--no-project and --project-root exclude each other")
    show = Show(output_format, output_file, statistics, color, quiet, verbose)
    paths = paths or (".",)
    stdin = "-" in paths
    if stdin and len(paths) > 1:
        raise click.UsageError("'-' (stdin) cannot be mixed with other paths")
    if stdin_filename is not None and not stdin:
        raise click.UsageError("--stdin-filename needs the path '-'")
    fixes = fix_ or fix_only or diff

    shows_fixes = not statistics and output_format not in output.WITHOUT_FIXES
    keeps_all = add_ignore is not None or update_baseline

    def opened() -> Project:
        project = Project.open(
            ((stdin_filename,) if stdin_filename else ()) if stdin else paths,
            cwd=here(),
            config=config_file,
            isolated=isolated,
            allow_rules=allow_rules,
            overrides=given,
            text=sys.stdin.buffer.read() if stdin else None,
            force_exclude=force_exclude,
            around=None if no_project else project_root or AUTO,
            say=say,
        )
        if fixes or (shows_fixes and not keeps_all):
            return project
        return replace(project, settings=replace(project.settings, fixes=False))

    if watch_:
        if fixes or verify_ or add_ignore is not None or update_baseline or stdin:
            raise click.UsageError("--watch only reports: it goes with neither fixes, verify, suppressions nor stdin")

        def turn(project: Project) -> None:
            show(narrowed(_linted(project), project, diff_base, baseline), project)

        return _watch(opened, turn)
    project = opened()
    if show_files or show_settings:
        from tclint.commands import config

        return config.told(project, files=show_files)
    if verbose:
        say(f"settings: {project.settings.config_file or 'defaults'}")
        say(f"files: {len(project.files)}, reported: {len(project.reported)}")
    if not project.reported:
        say(f"warning: no Python files in {', '.join(paths)}")

    if add_ignore is not None:
        project = project.held()
    failed = changed = False
    if fixes:
        from tclint.run.fixing import tell

        if not verify_:
            done = project.fix(unsafe=unsafe_fixes, write=not diff and not stdin)
        elif stdin:
            raise click.UsageError("--fix --verify needs files, not stdin")
        else:
            done = _proved(project, unsafe_fixes, not diff, (device, verify_timeout, verify_python))
            verify_ = False
        tell(done, diff=diff, stdin=stdin, show=show_fixes, quiet=quiet, say=say)
        if diff:
            return 1 if done.fixed.contents else 0
        if fix_only:
            return 2 if done.failed else int(exit_non_zero_on_fix and bool(done.fixed.applied))
        report, project, failed = done.report, replace(project, files=done.files), bool(done.failed)
        changed = bool(done.fixed.applied)
    elif unsafe_fixes or show_fixes or exit_non_zero_on_fix:
        given_in_vain = "--unsafe-fixes, --show-fixes and --exit-non-zero-on-fix"
        raise click.UsageError(f"{given_in_vain} need --fix, --fix-only or --diff")
    else:
        asks = output_format in output.SUGGESTS if check_fixes is None else check_fixes
        suggests = shows_fixes and asks and not keeps_all
        ends = bool(click.get_current_context().obj) and not verify_ and not suggests
        project = project.held() if suggests else project
        report = _linted(project, ends=ends)
        if suggests:
            report = project.offered(report)
    report = narrowed(report, project, diff_base, None if keeps_all else baseline)
    if add_ignore is not None:
        return add_ignores(report, project, add_ignore)
    if update_baseline:
        if baseline is None:
            raise click.UsageError("--update-baseline needs --baseline FILE")
        report = compared(report, project, baseline, update=True)
    if verify_:
        from tclint.commands import verify as verification

        options = verification.options_from(project.settings, device, verify_timeout, verify_python)
        report = verification.check(report, options, confirmed_only, quiet)
    elif (device is not None and not fixes) or confirmed_only:
        raise click.UsageError("--device and --confirmed-only need --verify")
    if verbose:
        say(f"torch: {report.torch}, functions: {report.functions}, suppressed: {report.suppressed}")
        say(f"time: {time.perf_counter() - started:.2f} s")
    if fix_ and stdin and output_file is None:
        # stdout has the fixed source.
        say(f"{len(report.findings)} left" if report.findings else "nothing left")
    else:
        show(report, project)
    if failed:
        return 2
    if changed and exit_non_zero_on_fix:
        return 1
    return 0 if exit_zero or not report.findings else 1


def _linted(project: Project, *, ends: bool = False) -> Report:
    from tclint.output.progress import Progress

    with Progress() as progress:
        return project.lint(ends=ends, progress=progress)


def _watch(opened: Callable[[], Project], turn: Callable[[Project], None]) -> int:
    from tclint.commands import watch
    from tclint.output.words import plural

    def lint(project: Project) -> None:
        started = time.perf_counter()
        if sys.stdout.isatty():
            print("\x1b[2J\x1b[H", end="")
        turn(project)
        sys.stdout.flush()
        say(f"watching {plural(len(project.files), 'file')} ({time.perf_counter() - started:.2f} s); Ctrl-C ends it")

    watch.watch(opened, lint, lambda error: say(f"error: {error}"))
    return 0


def _proved(
    project: Project, unsafe: bool, write: bool, how: tuple[str | None, float | None, str | None]
) -> fixing.Done:
    """Fixes that Dynamo was asked about."""
    from tclint.commands import verify as verification
    from tclint.run import fixing
    from tclint.verify import proof, verify
    from tclint.verify.process import stop_servers

    # A record is a file of this machine: the children stay here.
    options = replace(verification.options_from(project.settings, *how), executor="", keep=True)

    def ask(findings: Sequence[Finding], about: proof.Inquiry) -> VerifyReport:
        asked = replace(options, root=about.root, record=about.record, compare=about.compare)
        return verification.heeded(verify(findings, asked), options)

    try:
        found = proof.prove(project, ask, unsafe=unsafe)
    finally:
        stop_servers()
    for line in (*found.proofs, *found.rejected):
        say(line)
    if write:
        fixing.save(found.done)
    return found.done
