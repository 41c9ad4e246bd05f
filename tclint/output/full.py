"""For people: each finding with its code frame, then a summary of the run."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tclint.model.finding import Applicability, Effect, Finding, Severity
from tclint.model.suggestion import suggestions
from tclint.output import RuleInfo, Sources, words
from tclint.output.lines import Lines, crop, inert, shown, width
from tclint.output.palette import Palette
from tclint.output.words import plural

if TYPE_CHECKING:
    from tclint.model.report import Report

_ORIGIN = re.compile(r"comes from `[^`]*` \(line (\d+)\)")
_MAX_SITES = 10
_MAX_NAMES = 3
_MAX_LINES = 3
_MAX_CURED = 5
_GROUNDS = (
    (1, "what follows holds only if what it names does: a test comes out so, a method is called"),
    (0, "what follows holds only if the forward it names is compiled: no compile site reaches it"),
)


def render(
    report: Report,
    *,
    color: bool,
    width: int,
    sources: Sources,
    rules: Sequence[RuleInfo] = (),
    summary: bool = True,
    verbose: bool = False,
) -> str:
    paint = Palette(color)
    lines = Lines(sources)
    room = max(width, 40)
    findings = sorted(report.findings, key=lambda finding: finding.weight)
    told: set[str] = set()
    blocks = ["\n".join(_finding(finding, lines, paint, room, verbose, told)) for finding in findings]
    for ground, heading in _GROUNDS:
        surer = sum(finding.ground > ground for finding in findings)
        if 0 < surer < len(findings) and findings[surer].ground == ground:
            blocks[surer] = f"{paint.dim(heading)}\n\n{blocks[surer]}"
    if summary:
        blocks.append("\n".join(summary_lines(report, paint)))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _finding(finding: Finding, lines: Lines, paint: Palette, room: int, verbose: bool, told: set[str]) -> Iterator[str]:
    """One finding; `told` holds the notes that were shown before, and none of them is told twice."""
    yield _header(finding, paint, room)
    marks = _marks(finding) if verbose else {}
    gutter = len(str(max([finding.span.end_line if verbose else finding.line, *marks])))
    bar = " " * (gutter + 1) + paint.gutter("|")
    if not lines.line(finding.place, finding.line):
        # The file changed or vanished since it was read; what was found in it still stands.
        yield f"{bar} {words.message(finding)}"
    elif verbose:
        yield bar
        yield from _frame(finding, marks, lines, paint, gutter, room)
        yield bar
    else:
        yield from _line(finding, lines, paint, gutter, room)
    for title, text in _notes(finding, 0 if verbose else room - gutter - 21):
        if title == "note" and not verbose:
            if text in told:
                continue
            told.add(text)
        start = f"{' ' * (gutter + 1)}{paint.gutter('=')} {paint.bold(title)}{' ' * (17 - len(title))} "
        yield from wrapped(shown(text.replace("\n", " ")), start, gutter + 21, room)


def _notes(finding: Finding, room: int) -> Iterator[tuple[str, str]]:
    """What is said below the code: in full, or (`room`) in a line each where that can be."""
    verbose = not room
    if finding.chain and not (finding.eager and len(finding.chain) == 1):
        others = f"  (and from {plural(finding.roots - 1, 'other root')})" if finding.roots > 1 else ""
        title, before = because(finding, "")
        yield (
            title,
            before
            + (words.chain(finding) if verbose else words.short_chain(finding, room - len(before + others)))
            + others,
        )
    if finding.conditions:
        yield "only if", words.only_if(finding, len(finding.conditions) if verbose else 2)
    if advice := words.advice(finding):
        yield "help", advice
    # What an edit changes beside the hazard is said wherever the edit is not safe to make unseen.
    if finding.fix and finding.fix.note and (verbose or finding.fix.edits):
        yield "note", finding.fix.note
    if finding.same_as:
        yield "same code as", ", ".join(finding.same_as)
    if finding.verified is not None:
        yield "verified", words.verified(finding.verified)


def because(finding: Finding, chain: str) -> tuple[str, str]:
    """Why the place counts as compiled, with its title."""
    if finding.ground == 0 or finding.uncalled:
        return "assumed", f"{words.reason(finding)}: {chain}"
    return words.reason(finding), chain


def _header(finding: Finding, paint: Palette, room: int) -> str:
    place = f"{finding.place}:{finding.span.line}:{finding.span.column}"
    right = f"{finding.severity.value} · {words.ONE[finding.effect]}"
    if finding.confidence.value != "high":
        right += f" · {finding.confidence.value} confidence"
    gap = max(2, room - len(place) - len(finding.code) - len(finding.name) - len(right) - 3)
    level = finding.severity.value
    return (
        f"{paint.bold(shown(place))}  {paint.severity(level, finding.code)} {finding.name}"
        f"{' ' * gap}{paint.severity(level, right)}"
    )


def _marks(finding: Finding) -> dict[int, str]:
    """The other lines of the file that explain the finding: what its labels say, where it is compiled, who calls it."""
    marks: dict[int, str] = {}
    steps = finding.chain[:-1]
    # Its own file only, and of a long chain the ends: the note below the frame has all of it.
    for step in dict.fromkeys((*steps[:1], *steps[-1:])):
        if step.path == finding.place and not finding.span.line <= step.line <= finding.span.end_line:
            site = step is finding.chain[0] and "compile" in step.text and not finding.eager
            marks[step.line] = "compiled here" if site else f"called here, in {step.text}"
    # A rule may say in its message what others say with a label.
    if (origin := _ORIGIN.search(finding.message)) and not finding.labels:
        line = int(origin[1])
        if not finding.span.line <= line <= finding.span.end_line:
            marks[line] = "tensor since here"
    for label in sorted(finding.labels, key=lambda label: label.line):
        marks[label.line] = label.text
    return marks


def _line(finding: Finding, lines: Lines, paint: Palette, gutter: int, room: int) -> Iterator[str]:
    """The flagged line and what is wrong with it."""
    span = finding.span
    text = lines.line(finding.place, span.line)
    end = span.end_column - 1 if span.end_line == span.line else len(text.rstrip())
    yield from _marked(
        text, span.column - 1, end, "^", [words.message(finding)], span.line, finding, paint, gutter, room
    )


def _frame(
    finding: Finding, marks: Mapping[int, str], lines: Lines, paint: Palette, gutter: int, room: int
) -> Iterator[str]:
    span = finding.span
    last = min(span.end_line, span.line + _MAX_LINES - 1)
    if span.end_column <= 1 and last > span.line:
        last -= 1
    previous = 0
    for number in sorted({*marks, *range(span.line, last + 1)}):
        text = lines.line(finding.place, number)
        if not text and number != span.line:
            continue
        if previous and number > previous + 1:
            yield paint.gutter("...")
        previous = number
        if number == span.line:
            end = span.end_column - 1 if span.end_line == span.line else len(text.rstrip())
            marked = [words.message(finding)]
            if number in marks:
                marked.append(marks[number])
            yield from _marked(text, span.column - 1, end, "^", marked, number, finding, paint, gutter, room)
        elif number in marks:
            start = len(text) - len(text.lstrip())
            yield from _marked(text, start, len(text.rstrip()), "-", [marks[number]], number, None, paint, gutter, room)
        else:
            body, _, _ = crop(shown(text), 0, 1, room - gutter - 3)
            yield f"{paint.gutter(f'{number:>{gutter}} |')} {body}"
    if span.end_line > last + 1:
        yield paint.gutter("...")


def _marked(
    text: str,
    start: int,
    end: int,
    mark: str,
    notes: Sequence[str],
    number: int,
    finding: Finding | None,
    paint: Palette,
    gutter: int,
    room: int,
) -> Iterator[str]:
    """A line of source and, below it, its marked part with what there is to say about it."""
    start = min(start, len(text))
    before, part = shown(text[:start]), shown(text[start : max(end, start)])
    body, left, right = crop(
        before + part + shown(text[max(end, start) :]), len(before), len(before) + len(part), room - gutter - 3
    )
    yield f"{paint.gutter(f'{number:>{gutter}} |')} {body}".rstrip()
    indent = width(body[:left])
    carets = mark * max(1, width(body[left:right]))
    level = finding.severity.value if finding else ""
    bar = " " * (gutter + 1) + paint.gutter("|")
    first, *more = [shown(" ".join(note.split())) for note in notes]
    line = f"{bar} {' ' * indent}{paint.severity(level, carets)}"
    if gutter + 3 + indent + len(carets) + 1 + width(first) <= room:
        yield f"{line} {paint.severity(level, first)}"
    else:
        yield line
        more.insert(0, first)
    for note in more:
        # Under the marked part where it fits there on one line, or else from the margin: few lines are read, many are not.
        at = indent if gutter + 3 + indent + width(note) <= room else 2
        for piece in textwrap.wrap(note, max(30, room - gutter - 3 - at), break_on_hyphens=False) or [""]:
            yield f"{bar} {' ' * at}{paint.severity(level, piece)}"


def wrapped(text: str, start: str, indent: int, room: int) -> Iterator[str]:
    # Long words (paths, code) stay whole: people copy them.
    pieces = textwrap.wrap(text, max(30, room - indent), break_long_words=False, break_on_hyphens=False) or [""]
    yield start + pieces[0]
    for piece in pieces[1:]:
        yield " " * indent + inert(piece)


def summary_lines(report: Report, paint: Palette) -> Iterator[str]:
    findings = report.findings
    suppressed = f" ({report.suppressed} suppressed)" if report.suppressed else ""
    if findings:
        files = len({finding.path for finding in findings})
        total = f" of {report.files}" if report.files else ""
        noun = "file" if (report.files or files) == 1 else "files"
        assumed = sum(finding.assumed for finding in findings)
        apart = f", {assumed} of them only {words.supposed(findings)}" if assumed else ""
        if assumed == len(findings):
            apart = f", all of them only {words.supposed(findings)}"
        yield paint.bold(f"found {plural(len(findings), 'hazard')} in {files}{total} {noun}{suppressed}{apart}")
        yield ""
        yield from _table(findings, paint)
        yield ""
        if fixable := _fixable(findings):
            yield fixable
        yield from _above(findings)
    else:
        yield paint.good(f"no hazards found in {plural(report.files, 'file')}{suppressed}")
    yield from _reach(report)
    for note in report.notes:
        yield f"note: {shown(note)}"


def _table(findings: Sequence[Finding], paint: Palette) -> Iterator[str]:
    counts = Counter((finding.ground, finding.effect, finding.severity) for finding in findings)
    yield paint.dim(" " * 16 + "".join(f"{level.value:>8}" for level in Severity))
    for ground, heading in ((2, ""), (1, "  under conditions:"), (0, "  if compiled:")):
        rows = {effect: [counts[ground, effect, level] for level in Severity] for effect in Effect}
        if heading and any(map(any, rows.values())):
            yield paint.dim(heading)
        for effect, row in rows.items():
            if any(row):
                yield f"  {words.MANY[effect]:<14}" + "".join(f"{count or '-':>8}" for count in row)


def _fixable(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.fix.applicability for finding in findings if finding.fix)
    parts = []
    if counts[Applicability.SAFE]:
        parts.append(f"{counts[Applicability.SAFE]} fixable with --fix")
    if counts[Applicability.UNSAFE]:
        parts.append(f"{counts[Applicability.UNSAFE]}{' more' if parts else ' fixable'} with --unsafe-fixes")
    return ", ".join(parts)


def _above(findings: Sequence[Finding]) -> Iterator[str]:
    """One change at a compile site for many lines."""
    for each in suggestions(findings):
        places = [f"{finding.place}:{finding.line}" for finding in each.cures]
        more = f" and {len(places) - _MAX_CURED} more" if len(places) > _MAX_CURED else ""
        cured = f"{', '.join(places[:_MAX_CURED])}{more}"
        yield f"one change for {len(places)} of them: {each.title} (cures {cured})"
        yield f"  its price: {each.price}"


def _counted(report: Report, near: int) -> str:
    """How many compile sites there are; of a project around single files, how many of them have to do with these."""
    sites, functions = plural(len(report.sites), "compile site"), plural(report.functions, "function")
    if report.assumed and near == len(report.sites):  # not all of them are reached from a site
        return f"{sites}, {functions} taken as compiled"
    if near == len(report.sites):
        return f"{sites}, reaching {functions}"
    if not near:
        return f"{sites} in the project; none leads here"
    return f"{near} of the {sites} in the project {'lead' if near > 1 else 'leads'} here"


def _unread(names: Sequence[str], do: str) -> str:
    """What compiled code calls, or what is compiled, and nobody knows."""
    if len(names) < 2:
        verb, _, particle = do.partition(" ")
        return f"; what `{names[0]}` {verb}s{particle and ' ' + particle} cannot be read" if names else ""
    first = ", ".join(f"`{name}`" for name in names[:_MAX_NAMES])
    rest = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return f"; what {first}{rest} {do} cannot be read"


def _supposed(report: Report) -> str:
    """How many functions are taken as compiled though nothing in sight compiles them."""
    if report.supposed == report.functions:
        return "no compile site leads to them: they are only taken as compiled"
    return f"{report.supposed} of the functions {'is' if report.supposed == 1 else 'are'} only taken as compiled: no compile site leads there"


def _reach(report: Report) -> Iterator[str]:
    torch = f" (torch {report.torch})" if report.torch else ""
    if report.assumed and not report.sites:
        yield f"no compile site in sight: every nn.Module.forward is taken as compiled{torch}"
    elif report.sites:
        near = [site for site in report.sites if not site.beside]
        yield f"{_counted(report, len(near))}{torch}{':' if near else ''}"
        for site in near[:_MAX_SITES]:
            mode = f", mode {site.mode}" if site.mode else ""
            what = plural(site.reaches, "function") if site.reaches or not site.unresolved else site.unresolved
            part = _unread([*dict.fromkeys(filter(None, (site.unread, *site.unfollowed)))], "hold")
            part += _unread(site.handing, "hand over")
            yield f"  {site.place}:{site.line}  {shown(site.text)}{mode}: {what}{part}"
        if len(near) > _MAX_SITES:
            yield f"  ... and {len(near) - _MAX_SITES} more"
        if report.assumed:
            unknown = [site for site in report.sites if site.unread or "cannot be read" in site.unresolved]
            lost = (
                f"what {plural(len(unknown), 'site')} compile{'s' * (len(unknown) == 1)} cannot be read"
                if unknown
                else ""
            )
            if report.supposed:
                yield "; ".join(filter(None, (_supposed(report), lost))) + " (--assume-compiled never: leave them out)"
            elif lost:
                yield lost
    else:
        yield f"no compile site found: nothing is taken as compiled{torch}"
