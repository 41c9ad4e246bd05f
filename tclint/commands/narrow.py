"""The part of a report that was asked for: changed lines, what a baseline does not know; and what is silenced for good."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from tclint.commands.options import say
from tclint.model.errors import UserError
from tclint.output.words import plural

if TYPE_CHECKING:
    from tclint.model.finding import Finding
    from tclint.model.report import Report
    from tclint.run.project import Project


def narrowed(report: Report, project: Project, diff_base: str | None, baseline: str | None) -> Report:
    """What is new since a revision, and not known to a baseline."""
    if project.notes:
        report = replace(report, notes=(*report.notes, *project.notes))
    if diff_base is not None:
        from tclint.adopt import changed

        lines = changed.changed_lines(diff_base, project.cwd, project.oddly_named)
        report = changed.only_changed(report, lines, project.files)
    return report if baseline is None else compared(report, project, baseline, update=False)


def compared(report: Report, project: Project, path: str, *, update: bool) -> Report:
    """The report without what the baseline knows; with `update` the baseline knows all of it from now on."""
    from tclint.adopt.baseline import Baseline
    from tclint.output import write

    cwd = project.cwd
    known = Baseline.read(path, cwd, missing_ok=update)
    linted = project.reported
    found = known.compare(report.findings, project.text_of, linted)
    if update:
        new = known.updated(report.findings, project.text_of, linted)
        write.to_file(new.text(), os.path.join(cwd, path), "--baseline")
        pruned = f", {len(found.stale)} pruned" if found.stale else ""
        say(f"baseline {path}: {plural(len(new.entries), 'finding')}{pruned}")
        return replace(report, findings=())
    for entry in found.stale:
        say(f"baseline {path}: stale: {entry.path}:{entry.line} {entry.code}; --update-baseline removes it")
    back = len(report.findings) - len(found.new)
    note = f"baseline {path}: {plural(back, 'finding')} held back" if back else ""
    return replace(report, findings=found.new, notes=(*report.notes, note) if note else report.notes)


def add_ignores(report: Report, project: Project, reason: str) -> int:
    """Write a suppression for every finding of a report, where the file still is what was linted."""
    from tclint.adopt import baseline
    from tclint.fixes import apply

    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(finding.path, []).append(finding)
    held = {file.path: file for file in project.files if file.text is not None and os.path.exists(file.absolute)}
    written, failed = 0, 0
    for path, findings in by_path.items():
        before = held[path].text if path in held else None
        if before is None:
            raise UserError("--add-ignore needs files, not stdin")
        try:
            done = baseline.add_ignores(before, findings, reason, path)
        except UserError as error:
            say(f"{path}: {error}")
            failed += len(findings)
            continue
        root = project.settings.root
        if done.data != before and (why := apply.write(held[path].absolute, before, done.data, root)):
            say(f"{path}: {why}")
            failed += len(findings)
            continue
        written += done.written
        for finding in done.failed:
            say(f"{path}:{finding.line} {finding.code}: no comment fits here")
            failed += 1
    left = f", {plural(failed, 'finding')} left" if failed else ""
    say(f"{plural(written, 'suppression')} written{left}")
    return 1 if failed else 0
