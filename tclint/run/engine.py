"""One run: files in, report out."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tclint.model.report import Report
from tclint.ruleset.loading import load_rules
from tclint.ruleset.rule import Rule
from tclint.run import few, suppress
from tclint.run.assemble import Assembly, near
from tclint.run.domains import Told, domains, joined
from tclint.run.memo import Memo
from tclint.run.plan import Plan
from tclint.run.reading import Changed, read
from tclint.torch_facts import releases

if TYPE_CHECKING:
    from tclint.model.settings import Settings
    from tclint.run.lasting import Lasting
    from tclint.run.store import Cache
    from tclint.sources.files import InputFile

Progress = Callable[[int, int], None]


def lint(
    files: Sequence[InputFile],
    settings: Settings,
    *,
    cache: Cache | None = None,
    ends: bool = False,
    progress: Progress | None = None,
    lasting: Lasting | None = None,
) -> Report:
    """Lint files under settings.

    `ends`: the process does nothing else after this, so memory need not be given back. `progress` is told how many of
    how many files are done. `lasting` is what the process keeps of the program for the next lint.
    """
    with _deep_stack(), _no_collection(ends):
        try:
            report = _in_turn(files, settings, cache, ends, progress, lasting)
        except Changed:
            return _in_turn(files, settings, None, ends, progress, None)
    if cache is not None:
        cache.remember(files, report)
    return report


def _in_turn(
    files: Sequence[InputFile],
    settings: Settings,
    cache: Cache | None,
    ends: bool,
    progress: Progress | None,
    lasting: Lasting | None,
) -> Report:
    """The report of all ways in which the program is read; mostly there is one."""
    told = []
    for part, held in domains(files, settings):
        own = cache if cache is None or held is settings else cache.under(held)
        told.append(_run(part, held, own, ends, progress, lasting))
        if cache is not None and own is not None and own is not cache:
            cache.few |= own.few
            if not own.lasting:
                own.save()
    return joined(told)


def _run(
    files: Sequence[InputFile],
    settings: Settings,
    cache: Cache | None,
    ends: bool,
    progress: Progress | None,
    lasting: Lasting | None,
) -> Told:
    reading = read(files, cache, settings.src, settings.python, lasting)
    target = releases.parse(settings.target_torch) or releases.NEWEST
    known = load_rules(settings.rules, settings.packs, untrusted=settings.untrusted)
    active = [rule for rule in known if _is_active(rule, target, settings)]
    memo = Memo(cache, reading.program, reading.hashes)
    plan = Plan(reading, settings, active, memo, progress)
    if ends:
        _kept.append(plan)
    # What an earlier run found out about all files holds for this one.
    whole = lasting is not None or (cache is not None and cache.covers(files))
    found = plan.run() if whole else few.run(plan)
    if cache is not None:
        cache.few = plan.scope is not None
    torch, absolute = ".".join(map(str, target)), {file.path: file.absolute for file in files}

    def scanned(path: str, text: str) -> suppress.Scanned:
        return suppress.Scanned(
            *memo.by_content(f"comments {reading.hashes.get(path)}", lambda: tuple(suppress.scan(text)))
        )

    assembly = Assembly(
        reading, settings, known, active, found.commented, found.marked, found.assumed, torch, absolute, scanned
    )
    told = assembly.report(found.results), near(found.results, reading.reported)
    if lasting is not None:
        lasting.keep(reading.program)
    return told


_kept: list[Plan] = []
"""What need not be given back: taking millions of nodes apart one by one takes seconds."""


def _is_active(rule: Rule, target: tuple[int, int], settings: Settings) -> bool:
    """Tell a rule what it runs under; whether it runs."""
    rule.target = target
    rule.settings = settings
    chosen = any(held.selects(rule.code, rule.name, rule.default) for held in settings.everywhere())
    return chosen and rule.holds()


class _Depth:
    """The recursion limit, which all threads share: the first run raises it, the last one puts it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs = 0
        self._before = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Interpretation nests a few Python frames for each nested expression and call."""
        with self._lock:
            if not self._runs:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, 12_000 if sys.version_info >= (3, 11) else 4_000))
            self._runs += 1
        try:
            yield
        finally:
            with self._lock:
                self._runs -= 1
                if not self._runs:
                    sys.setrecursionlimit(self._before)


_deep_stack = _Depth()


@contextmanager
def _no_collection(ends: bool) -> Iterator[None]:
    """No cycle collection during a run: over millions of live nodes it only costs time.

    A program and its modules hold each other, so they are given back by one collection of what the run made. Where the
    process ends anyway, nothing is: the run is left out of all collections to come.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if ends:
                gc.freeze()
            else:
                gc.collect(0)
            gc.enable()
