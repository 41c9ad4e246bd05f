"""`--fix` on files: lint, fix, write, and say what was done."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tclint.fixes import apply as fixes
from tclint.fixes import passes
from tclint.fixes.switches import made, priced, resolved
from tclint.fixes.unused import imports_from, without_unused
from tclint.model.report import Report
from tclint.sources import notebook

if TYPE_CHECKING:
    from tclint.model.finding import Finding
    from tclint.sources.files import InputFile


@dataclass(slots=True)
class Done:
    """What became of the files."""

    fixed: passes.Fixed
    report: Report
    """The findings that are left."""
    files: list[InputFile]
    """The run's files, with their new bytes."""
    before: Mapping[str, bytes]
    """What was linted: a file that holds anything else by now is not written."""
    root: str
    """The project, which no link may lead out of."""
    failed: list[str] = field(default_factory=list)
    """Files that could not be written, each with the reason."""


def fix(
    files: Sequence[InputFile],
    lint: Callable[[Sequence[InputFile]], Report],
    *,
    root: str,
    unsafe: bool = False,
    write: bool = True,
    keep: passes.Keep | None = None,
) -> Done:
    """Fix what can be fixed in the files of a run that are reported; `lint` is asked again after each pass.

    `root` is the folder that no link may lead out of.
    """
    held = hold(files)
    before = {file.path: file.text for file in held if file.report and file.text is not None}
    reports: list[Report] = []
    books = _Books(before)

    def findings(contents: Mapping[str, bytes]) -> Sequence[Finding]:
        books.now = contents
        now = [replace(file, text=books.folded(file.path)) if file.path in contents else file for file in held]
        report = lint(now)
        reports.append(replace(report, findings=tuple(resolved(report.findings, books.changeable))))
        return reports[-1].findings

    def fits(finding: Finding, number: int) -> bool:
        return books.hold(finding) and (keep is None or keep(finding, number))

    def tidy(path: str, data: bytes) -> bytes:
        if path in books.by_path:
            return data  # the next cell may be written tomorrow
        return without_unused(
            path, before[path], data, others=unsafe, taken=lambda name: _taken(held, books.now, path, name)
        )

    fixed = passes.run(findings, books.original, unsafe=unsafe, keep=fits if books.by_path else keep, tidy=tidy)
    fixed.contents = {path: books.folded(path) for path in fixed.contents}
    fixed.rejected += books.refused
    fixed.applied = [books.shown(each) for each in fixed.applied]
    held = [replace(file, text=fixed.contents.get(file.path, file.text)) for file in held]
    done = Done(fixed, reports[-1], held, before, root)
    if write:
        save(done)
    return done


def offered(report: Report, files: Sequence[InputFile], lint: Callable[[Sequence[InputFile]], Report]) -> Report:
    """The report with the fixes that pay: after the others the hazard, or another one, would be there."""
    if not any(f.fix and (f.fix.switch or passes.applicable(f, True)) for f in report.findings):
        return report
    done = fix(files, lint, root="", unsafe=True, write=False)
    findings = resolved(report.findings, done.before.get)
    return replace(report, findings=tuple(_asked(priced(f, done.fixed.prices), done.fixed) for f in findings))


def _asked(finding: Finding, fixed: passes.Fixed) -> Finding:
    if finding.fix is None or not fixed.pays(finding):
        return replace(finding, fix=None)
    return replace(finding, fix=replace(finding.fix, checked=bool(finding.fix.edits)))


def _taken(files: Sequence[InputFile], now: Mapping[str, bytes], path: str, name: str) -> bool:
    """Whether a file of the run takes a name from the one at `path`."""
    module = os.path.splitext(os.path.basename(path))[0]
    for file in files:
        if file.path != path:
            data = now.get(file.path) or _read(file).text or b""
            if imports_from(data.decode("utf-8", "replace"), module, name):
                return True
    return False


class _Books:
    """The notebooks of a run: fixes are made in the module that their cells are, and written into the cells."""

    def __init__(self, before: Mapping[str, bytes]) -> None:
        self.before = before
        self.now: Mapping[str, bytes] = {}
        """What the files hold by now; of a notebook, its cells joined."""
        self.refused: list[str] = []
        self.by_path: dict[str, notebook.Notebook] = {}
        for path, data in before.items():
            if notebook.named(path):
                with contextlib.suppress(notebook.NotebookError):  # the engine reports it
                    self.by_path[path] = notebook.read(data)

    def original(self, path: str) -> bytes:
        return self.by_path[path].source if path in self.by_path else self.before[path]

    def changeable(self, path: str) -> bytes | None:
        """What a file that fixes may change holds by now; the cells of a notebook are their own affair."""
        return None if path in self.by_path else self.now.get(path, self.before.get(path))

    def folded(self, path: str) -> bytes:
        """The new bytes of a file."""
        data = self.now[path]
        return self.by_path[path].folded(data) if path in self.by_path else data

    def shown(self, applied: passes.Applied) -> passes.Applied:
        """A fix with its place as a person sees it, in the cells as they were."""
        if applied.path not in self.by_path:
            return applied
        cell, line = self.by_path[applied.path].place(applied.line)
        return replace(applied, path=f"{applied.path}:cell {cell}", line=line)

    def hold(self, finding: Finding) -> bool:
        """Whether the cells can take a fix."""
        if finding.path not in self.by_path or finding.fix is None:
            return True
        if any(edit.path != finding.path for edit in finding.fix.edits):
            return True
        text = self.now.get(finding.path) or self.original(finding.path)
        try:
            self.by_path[finding.path].folded(fixes.apply_edits(text, finding.fix.edits))
        except notebook.CannotFold as error:
            cell, line = self.by_path[finding.path].place(finding.line)
            place = f"{finding.path}:cell {cell}:{line}"
            self.refused.append(f"{place} {finding.code}: the fix was discarded: {error}")
            return False
        except fixes.CannotApply:
            return True  # told where fixes are applied
        return True


def save(done: Done) -> None:
    """Write what changed, where the file still is what was linted. What is not written does not count as fixed."""
    absolute = {file.path: file.absolute for file in done.files}
    for path, after in done.fixed.contents.items():
        if why := fixes.write(absolute[path], done.before[path], after, done.root):
            done.failed.append(f"{path}: {why}")
            done.fixed.applied = [
                each for each in done.fixed.applied if each.path != path and not each.path.startswith(f"{path}:cell ")
            ]


def hold(files: Sequence[InputFile]) -> list[InputFile]:
    """The files with the bytes of those that are reported.

    What is linted, what is edited and what is compared before writing must be the same, however often it is linted.
    """
    return [_read(file) if file.report else file for file in files]


def _read(file: InputFile) -> InputFile:
    if file.text is not None:
        return file
    try:
        with open(file.absolute, "rb") as source:
            return replace(file, text=source.read())
    except OSError:
        return file  # the engine reports it


def tell(done: Done, *, diff: bool, stdin: bool, show: bool, quiet: bool, say: Callable[[str], None]) -> None:
    """The diff or the fixed source on stdout, the rest on stderr."""
    fixed = done.fixed
    if diff:
        absolute = {file.path: file.absolute for file in done.files}
        text = "".join(
            fixes.diff(_real_name(path, absolute[path]), done.before[path], after)
            for path, after in sorted(fixed.contents.items())
        )
        if sys.stdout is not None and sys.stdout.isatty():
            # A patch is exact; what a terminal would obey is for files and pipes.
            text = "\n".join(map(_harmless, text.split("\n")))
        _out(text.encode("utf-8", "surrogateescape"))
    elif stdin:
        for file in done.files:
            if file.report and file.text is not None:
                _out(file.text)
    for switch, hazards in fixed.prices.items():
        say(f"{switch.path}: torch._dynamo.config.{switch.setting} = True has a price: {made(hazards)}")
    if show:
        for each in fixed.applied:
            say(f"{each.path}:{each.line} {each.code} {each.title}" + ("  (unsafe)" if each.unsafe else ""))
    for line in (*fixed.rejected, *done.failed):
        say(line)
    if not quiet and (fixed.applied or not diff):
        unsafe = sum(each.unsafe for each in fixed.applied)
        what = f"{len(fixed.applied)} fixed" + (f", {unsafe} of them unsafe" if unsafe else "")
        files = f"{len(fixed.contents)} {'file' if len(fixed.contents) == 1 else 'files'}"
        say(what if not diff else f"would fix {len(fixed.applied)} in {files}")


def _real_name(path: str, absolute: str) -> str:
    """The name of a file where it is shown otherwise."""
    return path if absolute.replace(os.sep, "/").endswith(path) else os.path.relpath(absolute).replace(os.sep, "/")


def _harmless(line: str) -> str:
    return "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line)


def _out(data: bytes) -> None:
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode("utf-8", "replace"))
        return
    sys.stdout.flush()
    buffer.write(data)
    buffer.flush()
