"""The sub-commands that need no torch: lint, rule, config, clean."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from tclint import __version__, cli, output
from tclint.model import config as settings_module
from tclint.model.config import LEVELS, Settings, UserError, did_you_mean
from tclint.run.store import open_cache

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tclint.model.finding import Finding
    from tclint.model.report import Report
    from tclint.ruleset.rule import Rule
    from tclint.run import fixing
    from tclint.run.store import Cache
    from tclint.sources.files import InputFile
    from tclint.verify import VerifyReport

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
_EPILOG = """\b
Other commands: tclint rule [CODE|NAME|GBxxxx], config, clean, verify, diagnose, compare, server, new-rule,
completion; each has --help.
Exit code: 0 nothing found, 1 findings, 2 error."""

_WIDTH = 110
"""Columns where the output goes to no terminal."""


def _config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--isolated", is_flag=True, help="Read no configuration file."),
        click.option("--config", "config_file", metavar="FILE", help="Read this configuration file."),
    ):
        command = option(command)
    return command


def _listed(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> list[str] | None:
    """A repeatable, comma-separated option; None where it was not given."""
    items = [item.strip() for value in values for item in value.split(",") if item.strip()]
    if values and not items:
        raise click.BadParameter("names nothing")
    return items or None


def _complete_rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from tclint.commands import completion

    return completion.rules(context, parameter, incomplete)


def _complete_paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from tclint.commands import completion

    return completion.paths(context, parameter, incomplete)


class _Lint(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # `--add-ignore path` must not take the path for the reason.
        return super().parse_args(ctx, ["--add-ignore=" if arg == "--add-ignore" else arg for arg in args])


@click.command("tclint", cls=_Lint, context_settings=_CONTEXT, epilog=_EPILOG)
@click.argument("paths", nargs=-1, shell_complete=_complete_paths)
@click.option("--fix", "fix_", is_flag=True, help="Apply the safe fixes and report what is left.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix, --fix-only, --diff: the fixes with conditions too.")
@click.option("--fix-only", is_flag=True, help="Apply fixes and report nothing that is left; exit 0.")
@click.option(
    "--diff", is_flag=True, help="Show what --fix would change, change nothing; exit 1 if there is something."
)
@click.option("--show-fixes", is_flag=True, help="List the fixes that were applied.")
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
@click.option("--output-file", "-o", metavar="FILE", help="Write to a file instead of stdout.")
@click.option(
    "--select",
    multiple=True,
    callback=_listed,
    metavar="RULES",
    shell_complete=_complete_rules,
    help="Run only these: codes, prefixes, names, ALL.",
)
@click.option(
    "--extend-select",
    multiple=True,
    callback=_listed,
    metavar="RULES",
    shell_complete=_complete_rules,
    help="Run these too.",
)
@click.option(
    "--ignore",
    multiple=True,
    callback=_listed,
    metavar="RULES",
    shell_complete=_complete_rules,
    help="Do not run these.",
)
@click.option("--min-confidence", type=click.Choice(LEVELS), help="Leave out what tclint is less sure of.")
@click.option("--severity", type=click.Choice(LEVELS), help="Leave out what matters less.")
@_config_options
@click.option(
    "--exclude", multiple=True, callback=_listed, metavar="GLOBS", help="Leave these out, instead of the defaults."
)
@click.option("--extend-exclude", multiple=True, callback=_listed, metavar="GLOBS", help="Leave these out too.")
@click.option("--force-exclude", is_flag=True, help="Apply the excludes to paths given by name as well.")
@click.option("--target-torch", metavar="VERSION", help="The torch the code runs on, such as 2.13.")
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
@click.option("--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@click.option("--group", is_flag=True, help="By root cause: the same as --output-format grouped.")
@click.option("--statistics", is_flag=True, help="Show how often each rule fired, not the findings.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--cache-dir", metavar="DIR", help="Where the cache is kept.")
@click.option("--jobs", "-j", type=click.IntRange(min=0), metavar="N", help="Processes to use; 0 decides by itself.")
@click.option("--watch", "watch_", is_flag=True, help="Lint again whenever a file changes, until interrupted.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours in the output.")
@click.option("--quiet", "-q", is_flag=True, help="Findings only, no summary.")
@click.option("--verbose", "-v", is_flag=True, help="Say on stderr what is read and how long it took.")
@click.version_option(__version__, "--version", "-V", message="tclint %(version)s")
def lint(
    paths: tuple[str, ...],
    output_format: str,
    output_file: str | None,
    config_file: str | None,
    isolated: bool,
    force_exclude: bool,
    project_root: str | None,
    no_project: bool,
    stdin_filename: str | None,
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
    cwd = os.getcwd()
    given = {key.replace("_", "-"): value for key, value in overrides.items() if value is not None}
    if no_cache:
        given["no-cache"] = True
    paths = paths or (".",)
    if group:
        if output_format not in ("full", "text", "grouped"):
            raise click.UsageError(f"--group is for people; --output-format {output_format} lists every finding")
        output_format = "grouped"
    if no_project and project_root is not None:
        raise click.UsageError("--no-project and --project-root exclude each other")
    start = [stdin_filename or "."] if paths == ("-",) else paths
    problems: list[str] = []

    def found() -> tuple[list[InputFile], Settings]:
        settings = settings_module.load(start, cwd=cwd, config=config_file, isolated=isolated, overrides=given)
        problems.clear()
        files = _inputs(paths, settings, cwd, stdin_filename, force_exclude, problems)
        return (files if no_project else _linked(files, settings, cwd, project_root)), settings

    if watch_:
        if fix_ or fix_only or diff or verify_ or add_ignore is not None or update_baseline or paths == ("-",):
            raise click.UsageError("--watch only reports: it goes with neither fixes, verify, suppressions nor stdin")

        def show(files: Sequence[InputFile], settings: Settings) -> None:
            report = _linted(files, settings, open_cache(settings, cwd, _say), ends=False)
            report = _narrowed(report, files, problems, diff_base, baseline, cwd)
            _emit(report, files, settings, output_format, output_file, statistics, color, quiet)

        return _watch(found, show)
    files, settings = found()
    if verbose:
        _say(f"settings: {settings.config_file or 'defaults'}")
        _say(f"files: {len(files)}, reported: {sum(file.report for file in files)}")
    if not any(file.report for file in files):
        _say(f"warning: no Python files in {', '.join(paths)}")

    cache = open_cache(settings, cwd, _say)
    if add_ignore is not None:
        from tclint.run import fixing

        files = fixing.hold(files)
    failed = False
    if fix_ or fix_only or diff:
        from tclint.run import fixing

        _check_selectors(settings)
        if verify_:
            if paths == ("-",):
                raise click.UsageError("--fix --verify needs files, not stdin")
            how = device, verify_timeout, verify_python
            done = _proved(files, settings, unsafe_fixes, not diff, how, cwd)
            verify_ = False
        else:
            done = fixing.fix(files, settings, unsafe=unsafe_fixes, write=not diff and paths != ("-",), cache=cache)
        fixing.tell(done, diff=diff, stdin=paths == ("-",), show=show_fixes, quiet=quiet, say=_say)
        if diff:
            return 1 if done.fixed.contents else 0
        if fix_only:
            return 2 if done.failed else 0
        report, files, failed = done.report, done.files, bool(done.failed)
    elif unsafe_fixes or show_fixes:
        raise click.UsageError("--unsafe-fixes and --show-fixes need --fix, --fix-only or --diff")
    else:
        report = _linted(files, settings, cache, ends=cli.ends and not verify_)
    report = _narrowed(
        report, files, problems, diff_base, None if add_ignore is not None or update_baseline else baseline, cwd
    )
    if add_ignore is not None:
        return _ignore(report, files, add_ignore, settings.root)
    if update_baseline:
        if baseline is None:
            raise click.UsageError("--update-baseline needs --baseline FILE")
        report = _compared(report, files, baseline, True, cwd)
    if verify_:
        from tclint.commands import verify as verification

        options = verification.options_from(settings, device, verify_timeout, verify_python)
        report = verification.check(report, options, confirmed_only, quiet)
    elif (device is not None and not (fix_ or fix_only or diff)) or confirmed_only:
        raise click.UsageError("--device and --confirmed-only need --verify")
    if verbose:
        _say(f"torch: {report.torch}, functions: {report.functions}, suppressed: {report.suppressed}")
        _say(f"time: {time.perf_counter() - started:.2f} s")
    if fix_ and paths == ("-",) and output_file is None:
        # stdout has the fixed source.
        _say(f"{len(report.findings)} left" if report.findings else "nothing left")
    else:
        _emit(report, files, settings, output_format, output_file, statistics, color, quiet)
    if failed:
        return 2
    return 0 if exit_zero or not report.findings else 1


def _narrowed(
    report: Report,
    files: Sequence[InputFile],
    problems: Sequence[str],
    diff_base: str | None,
    baseline: str | None,
    cwd: str,
) -> Report:
    """The part of a report that was asked for."""
    if problems:
        report = replace(report, notes=(*report.notes, *problems))
    if diff_base is not None:
        from tclint.adopt import changed

        report = changed.only_changed(report, changed.changed_lines(diff_base, cwd), files)
    return report if baseline is None else _compared(report, files, baseline, False, cwd)


def _watch(
    found: Callable[[], tuple[list[InputFile], Settings]], show: Callable[[Sequence[InputFile], Settings], None]
) -> int:
    from tclint.commands import watch

    latest: list[Settings] = []

    def discover() -> Sequence[InputFile]:
        files, settings = found()
        latest[:] = [settings]
        return files

    def lint(files: Sequence[InputFile]) -> None:
        started = time.perf_counter()
        if sys.stdout.isatty():
            print("\x1b[2J\x1b[H", end="")
        show(files, latest[0])
        sys.stdout.flush()
        _say(f"watching {len(files)} files ({time.perf_counter() - started:.2f} s); Ctrl-C ends it")

    watch.watch(discover, lint, lambda error: _say(f"error: {error}"))
    return 0


def _linted(files: Sequence[InputFile], settings: Settings, cache: Cache | None, *, ends: bool) -> Report:
    """What is known of these files already, or what the engine says: it is imported only then."""
    report = cache.recall(files) if cache is not None else None
    if report is None:
        from tclint.output.progress import Progress
        from tclint.run import engine

        _check_selectors(settings)
        with Progress() as progress:
            report = engine.lint(files, settings, cache=cache, ends=ends, progress=progress)
    return report


def _check_selectors(settings: Settings) -> None:
    from tclint.ruleset.loading import load_rules

    settings_module.check_selectors(settings, load_rules(settings.rules, settings.packs))


def _proved(
    files: Sequence[InputFile],
    settings: Settings,
    unsafe: bool,
    write: bool,
    how: tuple[str | None, float | None, str | None],
    cwd: str,
) -> fixing.Done:
    """Fixes that Dynamo was asked about."""
    from tclint.commands import verify as verification
    from tclint.run import fixing
    from tclint.verify import proof, verify
    from tclint.verify.process import stop_servers

    # A record is a file of this machine: the children stay here.
    options = replace(verification.options_from(settings, *how), executor="", keep=True)

    def ask(findings: Sequence[Finding], about: proof.Inquiry) -> VerifyReport:
        return verify(findings, replace(options, root=about.root, record=about.record, compare=about.compare))

    try:
        found = proof.prove(files, settings, ask, cwd, unsafe=unsafe)
    finally:
        stop_servers()
    for line in (*found.proofs, *found.rejected):
        _say(line)
    if write:
        fixing.save(found.done)
    return found.done


def _ignore(report: Report, files: Sequence[InputFile], reason: str, root: str) -> int:
    """Write a suppression for every finding of a report, where the file still is what was linted."""
    from tclint.adopt import baseline
    from tclint.fixes import apply

    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(finding.path, []).append(finding)
    held = {file.path: file for file in files if file.text is not None and os.path.exists(file.absolute)}
    written, failed = 0, 0
    for path, findings in by_path.items():
        before = held[path].text if path in held else None
        if before is None:
            raise UserError("--add-ignore needs files, not stdin")
        try:
            done = baseline.add_ignores(before, findings, reason, path)
        except UserError as error:
            _say(f"{path}: {error}")
            failed += len(findings)
            continue
        if done.data != before and (why := apply.write(held[path].absolute, before, done.data, root)):
            _say(f"{path}: {why}")
            failed += len(findings)
            continue
        written += done.written
        for finding in done.failed:
            _say(f"{path}:{finding.line} {finding.code}: no comment fits here")
            failed += 1
    _say(f"{written} suppressions written" + (f", {failed} findings left" if failed else ""))
    return 1 if failed else 0


def _compared(report: Report, files: Sequence[InputFile], path: str, update: bool, cwd: str) -> Report:
    """The report without what the baseline knows."""
    from tclint.adopt.baseline import Baseline
    from tclint.output import write

    known = Baseline.read(path, cwd, missing_ok=update)
    linted = [file.path for file in files if file.report]
    sources = _reader(files)
    compared = known.compare(report.findings, sources, linted)
    if update:
        new = known.updated(report.findings, sources, linted)
        write.to_file(new.text(), os.path.join(cwd, path))
        pruned = f", {len(compared.stale)} pruned" if compared.stale else ""
        _say(f"baseline {path}: {len(new.entries)} findings{pruned}")
        return replace(report, findings=())
    for entry in compared.stale:
        _say(f"baseline {path}: stale: {entry.path}:{entry.line} {entry.code}; --update-baseline removes it")
    return replace(report, findings=compared.new)


def _inputs(
    paths: tuple[str, ...],
    settings: Settings,
    cwd: str,
    stdin_filename: str | None,
    force_exclude: bool,
    problems: list[str],
) -> list[InputFile]:
    from tclint.sources import files

    if "-" in paths:
        if len(paths) > 1:
            raise click.UsageError("'-' (stdin) cannot be mixed with other paths")
        return [files.stdin_file(sys.stdin.buffer.read(), stdin_filename or "", cwd)]
    if stdin_filename is not None:
        raise click.UsageError("--stdin-filename needs the path '-'")
    return files.discover(paths, settings, cwd, force_exclude=force_exclude, on_problem=problems.append)


def _linked(files: list[InputFile], settings: Settings, cwd: str, given: str | None) -> list[InputFile]:
    """`files` and, where they are single files, the project they belong to."""
    from tclint.sources.files import InputError, link
    from tclint.sources.files import project_root as find_root

    if given is not None and given != "auto":
        root = os.path.normpath(os.path.join(cwd, given))
        if not os.path.isdir(root):
            raise InputError(f"--project-root {given}: no such folder")
        return link(files, root, settings, cwd)
    # Text from stdin without a name belongs to no project.
    if not files or not all(file.explicit and file.path != "-" for file in files):
        return files
    found = find_root(files[0].absolute)
    return link(files, found, settings, cwd) if found is not None else files


def emit(report: Report, files: Sequence[InputFile], settings: Settings, output_format: str) -> None:
    """Print a report as `tclint` itself would."""
    if output_format not in output.FORMATS:
        raise UserError(f"--output-format {output_format}: unknown{did_you_mean(output_format, output.FORMATS)}")
    _emit(report, files, settings, output_format, None, False, "auto", False)


def _emit(
    report: Report,
    files: Sequence[InputFile],
    settings: Settings,
    output_format: str,
    output_file: str | None,
    statistics: bool,
    color: str,
    quiet: bool,
) -> None:
    from tclint.output import palette, write

    colored = palette.wants_color(color, None if output_file else sys.stdout, os.environ)
    if output_format not in output.FOR_PEOPLE:
        colored = False
    sources = _reader(files)
    if any(file.path.endswith(".ipynb") for file in files):
        from tclint.sources import notebook

        books = notebook.texts(files)
        cells = output_format in output.IN_CELLS
        report = (notebook.in_cells if cells else notebook.in_file)(report, books)
        sources = notebook.sources(_reader(files, raw=True), books)
    if statistics:
        from tclint.output import statistics as counts

        text = counts.render(report, color=colored, as_json=output_format == "json")
    else:
        rules: Sequence[Rule] = ()
        if output_format in output.WITH_RULES:
            from tclint.ruleset.loading import load_rules

            rules = load_rules(settings.rules, settings.packs)
        text = output.renderer(output_format)(
            report, color=colored, width=_width(output_file), sources=sources, rules=rules, summary=not quiet
        )
    if output_file:
        write.to_file(text, output_file)
    else:
        write.to_stdout(text, utf8=output_format not in output.FOR_PEOPLE)


def _width(output_file: str | None) -> int:
    if output_file or not sys.stdout.isatty():
        return _WIDTH
    import shutil

    return shutil.get_terminal_size((_WIDTH, 24)).columns


def _reader(files: Sequence[InputFile], raw: bool = False) -> Callable[[str], str]:
    """The text of a file by the path shown. Only files with findings are asked for. `raw`: a notebook's JSON."""
    by_path = {file.path: file for file in files}

    def read(path: str) -> str:
        file = by_path.get(path)
        if file is not None and not raw and path.endswith(".ipynb"):
            from tclint.sources import notebook

            book = notebook.texts([file])(path)
            return book.text if book is not None else ""
        if file is not None and file.text is not None:
            return _decoded(file.text)
        with open(file.absolute if file else path, "rb") as source:
            return _decoded(source.read())

    return read


def _decoded(data: bytes) -> str:
    from tclint.sources.text import encoding_of

    try:
        encoding = encoding_of(data)
    except (SyntaxError, LookupError):  # an encoding nobody knows: the engine says so, here only lines are quoted
        encoding = "utf-8"
    return data.decode(encoding, "replace")


def _say(text: str) -> None:
    print(f"tclint: {text}", file=sys.stderr)


# --- rule ------------------------------------------------------------------------------------------------------------


@click.command("rule", context_settings=_CONTEXT)
@click.argument("what", nargs=-1, metavar="[CODE|NAME|GBxxxx]...", shell_complete=_complete_rules)
@click.option("--all", "everything", is_flag=True, help="Show the page of every rule.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_config_options
def rule(what: tuple[str, ...], everything: bool, output_format: str, config_file: str | None, isolated: bool) -> int:
    """Explain rules: by code, by prefix, by name, or by Dynamo's graph-break id. Without argument, list them."""
    from tclint.output import write
    from tclint.ruleset.loading import load_rules

    settings = settings_module.load(cwd=os.getcwd(), config=config_file, isolated=isolated)
    rules = load_rules(settings.rules, settings.packs)
    chosen = list(rules) if everything or not what else _chosen(what, rules)
    if output_format == "json":
        text = json.dumps([_rule_object(each) for each in chosen], indent=2, ensure_ascii=False) + "\n"
    elif everything or what:
        text = "\n\n".join(_page(each) for each in chosen) + "\n"
    else:
        text = _table(chosen, settings)
    write.to_stdout(text, utf8=output_format == "json")
    return 0


def _chosen(what: Sequence[str], rules: Sequence[Rule]) -> list[Rule]:
    chosen: dict[str, Rule] = {}
    for word in what:
        found = [
            each
            for each in rules
            if settings_module.matches(word, each.code, each.name) or word.upper() in each.graph_breaks
        ]
        if not found:
            ids = [gb for each in rules for gb in each.graph_breaks]
            known = [each.code for each in rules] + [each.name for each in rules] + ids
            why = "no rule stands for" if word.upper().startswith("GB") else "no rule is called"
            raise UserError(f"{why} {word!r}{did_you_mean(word, known) or '; `tclint rule` lists the rules'}")
        chosen.update({each.code: each for each in found})
    return list(chosen.values())


def _rule_object(each: Rule) -> dict[str, Any]:
    return {
        "code": each.code,
        "name": each.name,
        "effect": each.effect.value,
        "severity": each.severity.value,
        "default": each.default,
        "graph_breaks": list(each.graph_breaks),
        "torch": each.torch,
        "page": _doc(each),
    }


def _doc(each: Rule) -> str:
    import inspect

    return inspect.cleandoc(type(each).__doc__ or "(this rule has no page yet)")


def _page(each: Rule) -> str:
    from tclint.output.words import ONE

    facts = [each.severity.value, ONE[each.effect], "on by default" if each.default else "off by default"]
    if each.torch:
        facts.append(f"torch {each.torch}")
    facts += each.graph_breaks
    title = f"{each.code} {each.name}"
    return f"{title}\n{'=' * len(title)}\n{' · '.join(facts)}\n\n{_doc(each)}"


def _table(rules: Sequence[Rule], settings: Settings) -> str:
    from tclint.output.words import ONE

    longest = max((len(each.name) for each in rules), default=0)
    rows = []
    for each in rules:
        on = "on " if settings.selects(each.code, each.name, each.default) else "off"
        what = f"{each.severity.value} · {ONE[each.effect]}"
        rows.append(f"{each.code}  {on}  {each.name:<{longest}}  {what}\n")
    return "".join(rows)


# --- config and clean ------------------------------------------------------------------------------------------------


@click.command("config", context_settings=_CONTEXT)
@click.argument("paths", nargs=-1)
@click.option("--schema", is_flag=True, help="Print the JSON schema of the configuration instead.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_config_options
def config(paths: tuple[str, ...], schema: bool, output_format: str, config_file: str | None, isolated: bool) -> int:
    """Show the settings in effect for PATHS, and where each comes from."""
    if schema:
        from tclint.commands import schema as schemas
        from tclint.output import write

        write.to_stdout(schemas.text(), utf8=True)
        return 0
    settings = settings_module.load(paths, cwd=os.getcwd(), config=config_file, isolated=isolated)
    from tclint.ruleset import packs

    shown: dict[str, tuple[Any, str]] = {}
    for key in settings_module.KEYS:
        value = getattr(settings, key.replace("-", "_"))
        if key == "cudagraph":
            value = {each.name.replace("_", "-"): getattr(value, each.name) for each in fields(value)}
        shown[key] = value, settings.source.get(key, "default")
    found = [(pack, bool(packs.chosen(settings.packs, [pack]))) for pack in packs.installed()]
    if output_format == "json":
        document = {
            "configuration": settings.config_file or None,
            "root": settings.root,
            "settings": {key: {"value": value, "source": origin} for key, (value, origin) in shown.items()},
            "packs": [
                {"name": p.name, "distribution": p.distribution, "version": p.version, "loaded": on} for p, on in found
            ],
        }
        print(json.dumps(document, indent=2))
        return 0
    print(f"# configuration: {settings.config_file or 'none found'}")
    print(f"# root: {settings.root}")
    for key, (value, origin) in shown.items():
        print(f"{key} = {_toml(value)}  # {origin}")
    for pack, on in found:
        print(f"# pack {pack}: {'loaded' if on else 'not loaded'}")
    return 0


def _toml(value: object) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_toml_key(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return json.dumps(value, ensure_ascii=False)


def _toml_key(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else json.dumps(key)


@click.command("clean", context_settings=_CONTEXT)
@click.option("--cache-dir", metavar="DIR", help="The cache to remove.")
@_config_options
def clean(cache_dir: str | None, config_file: str | None, isolated: bool) -> int:
    """Remove the cache: what tclint wrote, and the folder if nothing else is in it."""
    from tclint.run import cachedir

    overrides = {"cache-dir": cache_dir} if cache_dir is not None else None
    settings = settings_module.load(cwd=os.getcwd(), config=config_file, isolated=isolated, overrides=overrides)
    folder = settings.cache_dir
    if not os.path.lexists(folder):
        print(f"no cache at {folder}")
        return 0
    try:
        left = cachedir.clear(settings)
    except cachedir.NotOurs as refused:
        raise UserError(f"{refused}: remove it by hand") from refused
    except OSError as error:
        raise UserError(f"{folder}: cannot be removed: {error.strerror}") from error
    if left:
        print(f"removed what tclint wrote in {folder}; left, as it is not ours: {', '.join(left)}")
    else:
        print(f"removed {folder}")
    return 0
