"""Fixes over passes, until nothing changes: those that pay stay, the others are taken back.

A fix may lead to others (`bool(x.any())` becomes a tensor, and the `if` on it a `where`): whether it pays is seen where
they all have been applied. So all are tried together, and only where a hazard is left, or a new one came, one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tclint.fixes.apply import CannotApply, apply_edits, parses
from tclint.fixes.pays import Unpaid, judged
from tclint.model.finding import Applicability, Edit, Finding, Span, Switch

PASSES = 10
ROUNDS = 20
"""How often all is tried before the functions in which something does not pay are left as they are."""

Lint = Callable[[Mapping[str, bytes]], Sequence[Finding]]
"""Lints the run's files, with the given bytes in place of what is on disk, and gives the findings."""

Keep = Callable[[Finding, int], bool]
"""Whether a fix may be applied in a pass, counted from 0."""

Tidy = Callable[[str, bytes], bytes]
"""A file, by the path shown, without what its fixes left behind."""

_Key = tuple[str, ...]
_Scope = tuple[str, str]
"""A function: its file and its name."""


@dataclass(frozen=True, slots=True)
class Applied:
    """One fix that was applied."""

    code: str
    name: str
    path: str
    line: int
    title: str
    unsafe: bool


@dataclass(slots=True)
class Fixed:
    """What a run of fixes did."""

    contents: dict[str, bytes] = field(default_factory=dict)
    """The new bytes of each file that changed."""
    applied: list[Applied] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    """Fixes that were not kept, each with the reason."""
    passes: int = 0
    denied: frozenset[_Key] = frozenset()
    """The fixes that do not pay."""
    prices: Mapping[Switch, Sequence[Finding]] = field(default_factory=dict)
    """What switches that cure more than that make elsewhere."""

    def pays(self, finding: Finding) -> bool:
        """Whether the fix of a finding, of those that were there at first, was not taken back."""
        return finding.fix is None or _key(finding) not in self.denied


def applicable(finding: Finding, unsafe: bool) -> bool:
    fix = finding.fix
    if fix is None or not fix.edits:
        return False
    return fix.applicability is Applicability.SAFE or (unsafe and fix.applicability is Applicability.UNSAFE)


def run(
    lint: Lint,
    original: Callable[[str], bytes],
    *,
    unsafe: bool = False,
    keep: Keep | None = None,
    tidy: Tidy | None = None,
) -> Fixed:
    """Lint, apply what fits together, and again, until nothing changes or `PASSES` is reached.

    `original` gives the bytes of a file by the path shown. `keep` is asked about each fix before it is applied. What a
    fix was made for is gone afterwards, and no other hazard has come: else it is not applied, and that is told. `tidy`
    takes out of a file what the fixes left without use.
    """
    search = _Search(lint({}), unsafe)
    while True:
        passes = _Passes(lint, original, unsafe, keep, search.left_out, search.findings)
        fixed = passes.run()
        old = {path: original(path) for path in fixed.contents}
        applied = search.applied(passes.keys)
        trials = _Trials(lint, original, unsafe, passes.refused, search.findings)
        judgement = judged(applied, search.findings, passes.findings, old, fixed.contents, trials.without)
        if not search.goes_on(judgement.unpaid):
            break
    fixed.prices = judgement.prices
    if trials.left or (search.rounds > 1 and not fixed.passes):
        # What was linted last is what is left.
        lint(fixed.contents)
    tidied = {path: tidy(path, data) for path, data in fixed.contents.items()} if tidy is not None else fixed.contents
    if tidied != fixed.contents:
        fixed.contents = dict(tidied)
        lint(fixed.contents)
    fixed.rejected += search.rejected
    fixed.denied = frozenset(search.denied)
    for path in [p for p, data in fixed.contents.items() if data == original(p)]:
        del fixed.contents[path]
    return fixed


@dataclass(slots=True)
class _Search:
    """Which of the fixes that are offered at first pay, function by function."""

    findings: Sequence[Finding]
    unsafe: bool
    denied: set[_Key] = field(default_factory=set)
    trying: dict[_Scope, _Key] = field(default_factory=dict)
    """Where one of several is at fault: the one that is tried now, beside those that were found good."""
    waiting: dict[_Scope, list[_Key]] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)
    rounds: int = 0

    @property
    def left_out(self) -> set[_Key]:
        return self.denied.union(*self.waiting.values())

    def applied(self, keys: Counter[_Key]) -> list[Finding]:
        """The findings, of those that were there at first, whose fixes were applied."""
        left = keys.copy()
        found = []
        for finding in self.findings:
            if applicable(finding, self.unsafe) and left[_key(finding)] > 0:
                left[_key(finding)] -= 1
                found.append(finding)
        return found

    def goes_on(self, bad: Sequence[Unpaid]) -> bool:
        """Deny what did not pay, and say whether something else is to be tried."""
        self.rounds += 1
        by_scope: dict[_Scope, tuple[list[_Key], str]] = {}
        again = False
        for each in bad:
            for finding in each.suspects:
                if each.is_certain:
                    self._deny(_key(finding), each.why)
                    again = True
                    continue
                keys, _ = by_scope.setdefault(_scope(finding), ([], each.why))
                if _key(finding) not in keys:
                    keys.append(_key(finding))
        again = again or bool(by_scope)
        for scope in list(self.trying):
            key = self.trying.pop(scope)
            _, why = by_scope.pop(scope, ([], ""))
            if why:
                self._deny(key, why)
            if self.waiting[scope]:
                self.trying[scope] = self.waiting[scope].pop(0)
                again = True
            else:
                del self.waiting[scope]
        for scope, (keys, why) in by_scope.items():
            if len(keys) == 1 or self.rounds >= ROUNDS:
                for key in keys:
                    self._deny(key, why)
            else:
                self.trying[scope], self.waiting[scope] = keys[0], keys[1:]
        return again

    def _deny(self, key: _Key, why: str) -> None:
        if key in self.denied:
            return
        self.denied.add(key)
        finding = next(finding for finding in self.findings if finding.fix and _key(finding) == key)
        where = f"{finding.path}:{finding.line} {finding.code}"
        self.rejected.append(f"{where}: not fixed, the fix does not pay: {why}")


@dataclass(slots=True)
class _Passes:
    """One attempt: everything that is not left out."""

    lint: Lint
    original: Callable[[str], bytes]
    unsafe: bool
    keep: Keep | None
    refused: set[_Key]
    findings: Sequence[Finding]
    """Of the files as they are by now."""
    unset: str = ""
    """A setting that stays as it is."""
    keys: Counter[_Key] = field(default_factory=Counter)
    """Of the fixes that were applied."""
    fixed: Fixed = field(default_factory=Fixed)

    def run(self) -> Fixed:
        fixed = self.fixed
        while fixed.passes < PASSES and (chosen := self._chosen()):
            changed = False
            for path, here in chosen.items():
                before = fixed.contents.get(path)
                before = self.original(path) if before is None else before
                after, kept = self._apply(before, here)
                if after != before:
                    fixed.contents[path] = after
                    fixed.applied += map(_applied, kept)
                    self.keys.update(map(_key, kept))
                    changed = True
            fixed.passes += 1
            if not changed:
                break
            self.findings = self.lint(fixed.contents)
        return fixed

    def _chosen(self) -> dict[str, list[Finding]]:
        """By file, the fixes of this pass: in order, none touching another. Equal insertions (one import) count once."""
        chosen: dict[str, list[Finding]] = {}
        taken: dict[str, set[Edit]] = {}
        for finding in self.findings:
            if not applicable(finding, self.unsafe) or _key(finding) in self.refused:
                continue
            assert finding.fix is not None
            if self.unset and finding.fix.switch is not None and finding.fix.switch.setting == self.unset:
                continue
            edits = finding.fix.edits
            path = edits[0].path  # its own, or that of the site which compiles it
            if any(edit.path != path for edit in edits):
                continue
            before = taken.setdefault(path, set())
            if any(_clash(edit.span, other.span) for edit in edits for other in before if edit != other):
                continue
            if self.keep is not None and not self.keep(finding, self.fixed.passes):
                self.refused.add(_key(finding))
                continue
            before.update(edits)
            chosen.setdefault(path, []).append(finding)
        return chosen

    def _apply(self, before: bytes, findings: Sequence[Finding]) -> tuple[bytes, Sequence[Finding]]:
        """All fixes of a file at once; where the result is no Python, one by one, to find out which is at fault."""
        try:
            after = apply_edits(before, _edits(findings))
            if not parses(after):
                return after, findings
        except CannotApply:
            pass
        for finding in findings:
            try:
                after = apply_edits(before, _edits([finding]))
                why = parses(after)
            except CannotApply as error:
                why, after = str(error), before
            if not why:
                # The rest comes in the next pass, with fresh positions.
                return after, [finding]
            self.refused.add(_key(finding))
            where = f"{finding.path}:{finding.line} {finding.code}"
            self.fixed.rejected.append(f"{where}: the fix was discarded: {why}")
        return before, []


@dataclass(slots=True)
class _Trials:
    """The same attempt without one of its switches: what it makes is seen where it is not set."""

    lint: Lint
    original: Callable[[str], bytes]
    unsafe: bool
    refused: set[_Key]
    findings: Sequence[Finding]
    left: dict[str, Sequence[Finding]] = field(default_factory=dict)

    def without(self, setting: str) -> Sequence[Finding]:
        if setting not in self.left:
            passes = _Passes(self.lint, self.original, self.unsafe, None, self.refused, self.findings, unset=setting)
            passes.run()
            self.left[setting] = passes.findings
        return self.left[setting]


def _key(finding: Finding) -> _Key:
    """A fix in words that hold wherever its lines are by now."""
    assert finding.fix is not None
    # A second switch stands right below the first, without the empty line above it.
    texts = (edit.text.strip() for edit in finding.fix.edits)
    return (finding.path, finding.code, finding.function, finding.message, *texts)


def _scope(finding: Finding) -> _Scope:
    return finding.path, finding.function


def _clash(a: Span, b: Span) -> bool:
    """Whether two edits touch: an insertion inside or at the edge of another edit counts, as their order is not known."""
    start_a, end_a = (a.line, a.column), (a.end_line, a.end_column)
    start_b, end_b = (b.line, b.column), (b.end_line, b.end_column)
    return start_a <= end_b and start_b <= end_a


def _edits(findings: Sequence[Finding]) -> list[Edit]:
    edits: dict[Edit, None] = {}
    for finding in findings:
        assert finding.fix is not None
        edits.update(dict.fromkeys(finding.fix.edits))
    return list(edits)


def _applied(finding: Finding) -> Applied:
    assert finding.fix is not None
    unsafe = finding.fix.applicability is Applicability.UNSAFE
    return Applied(finding.code, finding.name, finding.path, finding.line, finding.fix.title, unsafe)
