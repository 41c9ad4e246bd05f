"""`--fix` on files: lint, fix, write, and say what was done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tclint import engine
from tclint import fix as fixes
from tclint.report import Report

if TYPE_CHECKING:
    from tclint.cache import Cache
    from tclint.config import Settings
    from tclint.files import InputFile
    from tclint.finding import Finding


@dataclass(slots=True)
class Done:
    """What became of the files."""

    fixed: fixes.Fixed
    report: Report
    """The findings that are left."""
    files: list[InputFile]
    """The run's files, with their new bytes."""
    before: Mapping[str, bytes]
    failed: list[str] = field(default_factory=list)
    """Files that could not be written, each with the reason."""


def fix(
    files: Sequence[InputFile],
    settings: Settings,
    *,
    unsafe: bool = False,
    write: bool = True,
    keep: fixes.Keep | None = None,
    cache: Cache | None = None,
) -> Done:
    """Fix what can be fixed in the files of a run that are reported."""
    held = [_read(file) if file.report else file for file in files]
    before = {file.path: file.text for file in held if file.report and file.text is not None}
    reports: list[Report] = []

    def lint(contents: Mapping[str, bytes]) -> Sequence[Finding]:
        now = [replace(file, text=contents[file.path]) if file.path in contents else file for file in held]
        known = cache.recall(now) if cache is not None else None
        reports.append(known or engine.lint(now, settings, cache=cache))
        return reports[-1].findings

    fixed = fixes.run(lint, before.__getitem__, unsafe=unsafe, keep=keep)
    held = [replace(file, text=fixed.contents.get(file.path, file.text)) for file in held]
    done = Done(fixed, reports[-1], held, before)
    if write:
        save(done)
    return done


def save(done: Done) -> None:
    """Write what changed."""
    absolute = {file.path: file.absolute for file in done.files}
    for path, after in done.fixed.contents.items():
        if why := fixes.write(absolute[path], done.before[path], after):
            done.failed.append(f"{path}: {why}")


def _read(file: InputFile) -> InputFile:
    """A file with its bytes: what is linted, what is edited and what is compared before writing must be the same."""
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
        text = "".join(fixes.diff(path, done.before[path], after) for path, after in sorted(fixed.contents.items()))
        _out(text.encode("utf-8", "surrogateescape"))
    elif stdin:
        for file in done.files:
            if file.report and file.text is not None:
                _out(file.text)
    if show:
        for each in fixed.applied:
            say(f"{each.path}:{each.line} {each.code} {each.title}" + ("  (unsafe)" if each.unsafe else ""))
    for line in (*fixed.rejected, *done.failed):
        say(line)
    if not quiet and (fixed.applied or not diff):
        unsafe = sum(each.unsafe for each in fixed.applied)
        what = f"{len(fixed.applied)} fixed" + (f", {unsafe} of them unsafe" if unsafe else "")
        say(what if not diff else f"would fix {len(fixed.applied)} in {len(fixed.contents)} files")


def _out(data: bytes) -> None:
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode("utf-8", "replace"))
        return
    sys.stdout.flush()
    buffer.write(data)
    buffer.flush()
