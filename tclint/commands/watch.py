"""`--watch`: lint again whenever a file of the run changes.

The files are looked at by `stat`, a few times a second: no library, no limit on the number of folders, and it works on
network drives. What did not change comes from the cache, so an edit costs what it reaches.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

from tclint.model.errors import UserError
from tclint.run.project import Project
from tclint.sources.files import InputFile

_INTERVAL = 0.25

Stamps = dict[str, tuple[int, int]]


def watch(
    opened: Callable[[], Project],
    lint: Callable[[Project], None],
    complain: Callable[[UserError], None],
) -> None:
    """Lint now, and after every change, until interrupted. `opened` opens the project anew, so that new files count."""
    before: Stamps | None = None
    told = ""
    while True:
        started = time.monotonic()
        looked = started
        try:
            project = opened()
            now = stamps(project.files)
            looked = time.monotonic()
            if now != before or told:
                # What is written while the linter reads shows as a change the next time.
                before = now
                lint(project)
                told = ""
        except UserError as error:
            # A configuration half-written in an editor: say it once, and wait for the next save.
            if str(error) != told:
                told = str(error)
                complain(error)
        # A large tree on a slow disk must not keep it busy.
        time.sleep(max(_INTERVAL, 5 * (looked - started)))


def stamps(files: Sequence[InputFile]) -> Stamps:
    """When each file was last written, and how long it is."""
    found: Stamps = {}
    for file in files:
        try:
            status = os.stat(file.absolute)
        except OSError:
            # Editors replace files by moving new ones there; it is back by the next look, or gone.
            continue
        found[file.absolute] = (status.st_mtime_ns, status.st_size)
    return found
