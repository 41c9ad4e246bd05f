"""The words of findings that several formats share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from tclint.model.finding import Applicability, Effect, Finding, Fix, Step, Verification

ONE = {
    Effect.GRAPH_BREAK: "graph break",
    Effect.RECOMPILE: "recompile",
    Effect.CUDAGRAPH: "CUDA graph",
    Effect.ERROR: "error",
    Effect.SILENT: "silent",
    Effect.SLOW: "slow",
}
MANY = {
    Effect.GRAPH_BREAK: "graph breaks",
    Effect.RECOMPILE: "recompiles",
    Effect.CUDAGRAPH: "CUDA graphs",
    Effect.ERROR: "errors",
    Effect.SILENT: "silent",
    Effect.SLOW: "slow",
}
IF_COMPILED = "if this forward is compiled"
_UNSEEN = re.compile(r"[^\x00-\x7e]")
_HOW = {
    Applicability.SAFE: "--fix, safe",
    Applicability.UNSAFE: "--unsafe-fixes",
    Applicability.DISPLAY: "by hand",
}


def message(finding: Finding) -> str:
    """The message, with the first of the graph-break ids it stands for."""
    first = finding.graph_breaks[:1]
    return f"{finding.message} ({first[0]})" if first and first[0] not in finding.message else finding.message


def told(finding: Finding) -> str:
    """The message where it stands alone: with what it rests on."""
    rests = [reason(finding)] if finding.ground == 0 or finding.uncalled else []
    rests += [f"if {only_if(finding)}"] if finding.conditions else []
    return message(finding) + (f" ({' and '.join(rests)})" if rests else "")


def conditions(finding: Finding) -> list[str]:
    """What must hold for the place to be reached, a string for each test: `vlm.py:40 self.cfg.packed`."""
    return [f"{each.path}:{each.line} {each.text}" for each in finding.conditions]


def only_if(finding: Finding, most: int = 2) -> str:
    """The same on one line: the tests closest to the place, with the files of those that stand in another one."""
    shown = [
        f"{each.text} ({f'line {each.line}' if each.path == finding.path else f'{each.path}:{each.line}'})"
        for each in finding.conditions[-most:]
    ]
    more = len(finding.conditions) - len(shown)
    return " and ".join(shown) + (f", and {more} more" if more else "")


def because(chain: Iterable[Step]) -> list[str]:
    """The chain, a string for each link: `train.py:135 torch.compile(model)`."""
    return [f"{step.path}:{step.line} {step.text}" for step in chain]


def links(finding: Finding) -> list[str]:
    """The links of the chain; those in the finding's own file go without its path, but for a compile site."""
    first = 1 if finding.begins_with_site else 0
    return [
        f"{step.text}:{step.line}"
        if i >= first and step.path == finding.place
        else f"{step.path}:{step.line} {step.text}"
        for i, step in enumerate(finding.chain)
    ]


def reason(finding: Finding) -> str:
    """What a chain tells: why the place is compiled, or how eager code comes to it."""
    if finding.uncalled:
        return f"if `{finding.uncalled}` is called"
    if finding.ground == 0:
        return IF_COMPILED
    return "reached from" if finding.eager else "compiled because"


def supposed(findings: Iterable[Finding]) -> str:
    """What the findings rest on that no code in sight says."""
    rests = {0 if finding.ground == 0 else 1 if finding.uncalled else 2 for finding in findings if finding.assumed}
    said = (
        "if their forward is compiled",
        "if what compiles them is called",
        "if the tests that they name come out so",
    )
    return ", or ".join(said[each] for each in sorted(rests))


def chain(finding: Finding) -> str:
    """The chain on one line."""
    return " → ".join(links(finding))


def short_chain(finding: Finding, room: int) -> str:
    """As much of the chain as fits: its ends say what is compiled and where that leads.

    Where even they do not fit, the last of them, which is where the finding stands, goes by the function's own name or not at
    all, and a compile site without what it is given.
    """
    whole = links(finding)
    for kept in (len(whole), 3, 2):
        shown = whole if kept >= len(whole) else [whole[0], "…", *whole[1 - kept :]]
        if len(text := " → ".join(shown)) <= room:
            return text
    last = finding.chain[-1]
    if len(shown) == 1 or last.path != finding.place:
        return text
    first = shown[0].partition("(")[0] if finding.begins_with_site else shown[0]
    own = f"{last.text.rpartition('.')[2]}:{last.line}"
    shorter = ([*shown[:-1], own], [first, *shown[1:-1], own], [first, "…"])
    return next((text for parts in shorter if len(text := " → ".join(parts)) <= room), text)


def advice(finding: Finding) -> str:
    """What to do about it, and whether tclint can do it."""
    fix = finding.fix
    text = finding.help or (fix.title if fix else "")
    return f"{text}   [{_HOW[fix.applicability]}]" if fix else text


def change(fix: Fix) -> str:
    """What a fix does, whether it may be applied unread, and what it costs."""
    note = f" Note: {fix.note}." if fix.note else ""
    return f"{fix.title} ({fix.applicability.value}).{note}"


def as_json(document: object, indent: int | None = None) -> str:
    """JSON that a terminal may be shown: what it would obey, or what turns the direction of text, is escaped."""
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    # Outside of strings there is nothing but ASCII.
    return _UNSEEN.sub(lambda m: m[0] if m[0].isprintable() else json.dumps(m[0])[1:-1], text)


def plural(count: int, noun: str, many: str = "") -> str:
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def verified(verification: Verification) -> str:
    """The verdict in one line: where it was asked, what came out, in whose words."""
    where = ", ".join(
        p for p in (verification.device, f"torch {verification.torch}" if verification.torch else "") if p
    )
    what = verification.outcome.replace("-", " ")
    text = f"{where}: {what}" if where else what
    if verification.graph_break:
        text += f" ({verification.graph_break})"
    if verification.words:
        text += f", {verification.words.splitlines()[0]}"
    if verification.hint:
        text += f"; {verification.hint}"
    return text
