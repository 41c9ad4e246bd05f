"""What a child heard, in words: faults, breaks, recompiles."""

from __future__ import annotations

from tclint.output.words import plural
from tclint.verify.heard import Break, Fault, Frame, Run
from tclint.verify.trace import own_name

_NETWORK = ("URLError", "ConnectionError", "gaierror", "offline", "LocalEntryNotFound", "Max retries", "resolve host")


def fault_words(fault: Fault) -> tuple[str, str]:
    """A fault in words, and what would help."""
    first = fault.message.strip().splitlines()[0][:300] if fault.message.strip() else ""
    where = f" at {fault.stack[-1].path}:{fault.stack[-1].line}" if fault.stack else ""
    what = f"{fault.kind}: {first}" if first else fault.kind
    text = f"{fault.kind} {fault.message}"
    if fault.kind in ("ModuleNotFoundError", "ImportError") and "No module named" in fault.message:
        name = fault.message.partition("No module named")[2].strip().strip("'\"").split("'")[0]
        return f"a package is missing: {name}", f"pip install {name.split('.')[0]} in the interpreter that runs verify"
    if any(word in text for word in _NETWORK):
        return f"it needs a network: {what}{where}", "register an example that downloads nothing"
    if "MemoryError" in fault.kind or "can't allocate memory" in fault.message or "out of memory" in text.lower():
        return f"out of memory: {what}{where}", "raise --memory, or register a smaller example with @tclint.example"
    act = {
        "import": "its file cannot be imported",
        "eager": "it does not run in eager mode either",
        "statement": "the line cannot be run by itself",
    }.get(fault.act)
    hint = "register an example with @tclint.example, returning (callable, [call, ...])"
    return f"{act}: {what}{where}" if act else f"{what}{where}", hint


def break_words(item: Break) -> str:
    words = item.words if item.words and item.words != item.kind else ""
    text = f"{item.kind}: {words}" if words else item.kind
    return f"{text} (the whole function runs in eager mode)" if item.skips else text


def times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def recompile_words(frame: Frame, run: Run) -> str:
    reasons = list(dict.fromkeys(_guard(reason) for reason in frame.reasons))
    told = "; ".join(reasons[:3]) or "no guard was named"
    limit = ", then gave up (recompile limit)" if frame.limit else ""
    over = f" over {plural(run.calls, 'call')}" if run.calls else ""  # a trace does not count them
    over += f" ({run.label})" if not run.chosen else ""
    return f"{own_name(frame.name)} was compiled {times(frame.compiles)}{over}{limit}: {told}"


def _guard(reason: str) -> str:
    """A guard as one reads it: without the id of the cache entry and the code behind the comment sign."""
    first = reason.strip().splitlines()[0] if reason.strip() else ""
    return first.partition("  #")[0].split(": ", 1)[-1].strip()
