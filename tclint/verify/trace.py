"""Dynamo's structured trace, read without torch: from a live logger (in the child) or from a `TORCH_TRACE` directory.

The log has one line of JSON per event, behind a glog prefix, and the event's payload on the following lines, each
indented by a tab. File names are interned: `{"str": ["/a/b.py", 3]}` says that 3 stands for `/a/b.py` from here on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tclint.model.finding import Step
from tclint.verify.heard import Break, Frame, Heard, Run

_FILE = re.compile(r'^\s*File "(?P<path>.+?)", line (?P<line>\d+)(?:, in (?P<name>.+?))?\s*$', re.MULTILINE)
_AT = re.compile(r"Graph break in user code at (?P<path>.+?):(?P<line>\d+)\s*$", re.MULTILINE)
_SKIPPED = re.compile(r"skip tracing the frame (?P<name>\S+) \((?P<path>.+?) line (?P<line>\d+)\)")
_GB = re.compile(r"/gb/(gb\d+)", re.IGNORECASE)
_RESUME = re.compile(r"^torch_dynamo_resume_in_(?P<name>.+)_at_\d+$")
_LINE = re.compile(r"TRACE starts_line (?P<path>.+?):(?P<line>\d+) in (?P<name>\S+)")
_OP = re.compile(r"# File: (?P<path>.+?):(?P<line>\d+) in ")
_COMPILE_ID = re.compile(r"\[(?P<id>!?\d+/\d+)(?:_\d+)?\]")
_CALL_MACHINERY = "torch/nn/modules/module.py"
_EVENT = re.compile(r"^[A-Z]\d{4} [^\]]*\] (?P<json>\{.*\})\s*$")


def own_name(name: str) -> str:
    """The user's name of a function whose rest Dynamo compiles as `torch_dynamo_resume_in_<name>_at_<line>`."""
    while match := _RESUME.match(name):
        name = match["name"]
    return name


def steps_of(text: str) -> tuple[Step, ...]:
    """The frames of a formatted stack."""
    return tuple(Step(m["path"], int(m["line"]), own_name(m["name"] or "")) for m in _FILE.finditer(text))


def parse_break(text: str, frame: str = "") -> Break | None:
    """One graph break from the text Dynamo logs for it, in any of the shapes of torch 2.4 to 2.13."""
    at = _AT.search(text)
    skipped = _SKIPPED.search(text)
    head, _, _ = text.partition("\nTraceback (most recent call last)")
    above, _, below = head.partition("User code traceback:")
    if not below and skipped:
        above, below = text, head
    stack = steps_of(below)
    if at:
        path, line = at["path"], int(at["line"])
    elif stack:
        path, line = stack[-1].path, stack[-1].line
    elif skipped:
        path, line = skipped["path"], int(skipped["line"])
    else:
        return None
    kind, words = _reason(above if at else text)
    gb = _GB.search(text)
    return Break(
        path=path,
        line=line,
        kind=kind,
        words=words,
        gb_id=gb[1].upper() if gb else "",
        stack=stack or (Step(path, line, own_name(skipped["name"]) if skipped else ""),),
        frame=frame,
        skips=bool(skipped) or "falling back to eager" in text or "Skipping frame" in text,
    )


def _reason(text: str) -> tuple[str, str]:
    """The kind of a break and Dynamo's explanation of it."""
    _, found, after = text.partition("Graph Break Reason:")
    if not found:
        _, found, after = text.partition("Reason:")
    if not found:
        # A skipped frame: the reason is only in the exception at the end of the traceback.
        tail = re.split(r"\n(?=[\w.]*(?:Unsupported|UserError)[^\n]*:)", text)[-1]
        after = tail.partition(":")[2] if len(tail) < len(text) else text
    lines = [line.strip() for line in after.strip().splitlines()]
    if lines and lines[0].endswith(":"):
        lines = [line for line in lines[1:] if line] or lines
    kind = lines[0].removeprefix("Unsupported: ") if lines else ""
    explained = next((line for line in lines if line.startswith("Explanation:")), "")
    return kind, explained.removeprefix("Explanation:").strip() or kind


@dataclass(slots=True)
class _Open:
    """A code object while its events still arrive."""

    path: str = ""
    line: int = 0
    name: str = ""
    compiles: int = 0
    reasons: list[str] = field(default_factory=list)
    traced: dict[str, set[int]] = field(default_factory=dict)
    limit: str = ""


@dataclass(slots=True)
class Collector:
    """Gathers events into breaks and frames. Mutable while it listens; `breaks` and `frames` give the frozen result."""

    strings: dict[int, str] = field(default_factory=dict)
    wanted: Callable[[str], bool] | None = None
    """Whether a file is the user's, where that is known."""
    torch: str = ""
    skips: list[str] = field(default_factory=list)
    _breaks: dict[tuple[str, int, str, str], Break] = field(default_factory=dict)
    _frames: dict[tuple[str, int, str], _Open] = field(default_factory=dict)
    """By code object: path, first line, name."""
    _ids: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    _last: Step | None = None
    """The line of the user's that was begun last."""

    def event(self, metadata: Mapping[str, Any], payload: str) -> None:
        """One record of the structured trace."""
        if "str" in metadata:
            text, number = metadata["str"]
            self.strings[int(number)] = str(text)
            return
        frame_id = metadata.get("frame_id")
        compile_id = f"{frame_id}/{metadata.get('frame_compile_id', 0)}" if frame_id is not None else ""
        if "dynamo_start" in metadata:
            stack = metadata["dynamo_start"].get("stack") or ()
            if stack and compile_id:
                self._start(compile_id, stack[-1], int(metadata.get("attempt") or 0))
        elif "dynamo_output_graph" in metadata:
            for match in _OP.finditer(payload):
                self._trace(compile_id, match["path"], int(match["line"]))
        elif "artifact" in metadata:
            self._artifact(str(metadata["artifact"].get("name", "")), compile_id, payload)

    def _start(self, compile_id: str, place: Mapping[str, Any], attempt: int) -> None:
        name = place.get("filename")
        path = self.strings.get(name, "") if isinstance(name, int) else str(name or "")
        key = (path, int(place.get("line") or 0), str(place.get("name") or ""))
        number = compile_id.partition("/")[0]
        if number in self._ids and self._ids[number] != key and key not in self._frames:
            # After `torch._dynamo.reset()` numbers start anew and may stand for another function.
            self._frames[key] = _Open()
        elif number not in self._ids:
            # What was said of this number before its start (a reason to recompile, say) belongs to it.
            early = self._frames.pop((number, 0, ""), None)
            self._frames.setdefault(key, early or _Open())
        self._ids[number] = key
        frame = self._frames[key]
        frame.path, frame.line, frame.name = key
        if attempt == 0:
            frame.compiles += 1

    def _artifact(self, name: str, compile_id: str, payload: str) -> None:
        if name == "dynamo_graph_break_reason":
            self.graph_break(payload, compile_id)
        elif name == "recompile_reasons":
            self._frame(compile_id).reasons.extend(reasons_of(payload))
        elif name == "torch_version":
            found = re.search(r'"pytorch_version":\s*"([^"]+)"', payload)
            self.torch = found[1] if found else self.torch
        elif "cudagraph" in name:
            self.skips.append(payload)

    def graph_break(self, text: str, compile_id: str = "", log: bool = False) -> None:
        """A break's text. Each break is told by the trace, again by the log, and by each attempt: kept once."""
        heard = parse_break(text, compile_id)
        if heard is None:
            return
        frame = compile_id.partition("/")[0]
        if log and any(key[:2] == (heard.path, heard.line) and key[3] == frame for key in self._breaks):
            return
        if self.wanted is not None:
            heard = replace(heard, stack=self._own_stack(heard, self.wanted))
        self._breaks.setdefault((heard.path, heard.line, heard.kind, frame), heard)

    def _own_stack(self, heard: Break, wanted: Callable[[str], bool]) -> tuple[Step, ...]:
        """The stack from the user's first frame on. Where Dynamo leaves that out (it folds frames of one name, and most
        are called `forward`), the line of the user's that it traced last."""
        stack = heard.stack
        while stack and not wanted(stack[0].path):
            stack = stack[1:]
        if not stack and self._last is not None:
            return (self._last, Step(heard.path, heard.line, heard.stack[-1].text))
        return tuple(step for step in stack if not step.path.endswith(_CALL_MACHINERY)) or heard.stack

    def starts_line(self, text: str, compile_id: str) -> None:
        """A message of the `trace_source` log: Dynamo begins to trace a line."""
        match = _LINE.search(text)
        if match:
            self._trace(compile_id, match["path"], int(match["line"]))
            if self.wanted is not None and self.wanted(match["path"]):
                self._last = Step(match["path"], int(match["line"]), own_name(match["name"]))

    def limit(self, text: str, compile_id: str) -> None:
        self._frame(compile_id).limit = text

    def log_line(self, text: str) -> None:
        """One line of a `TORCH_LOGS` file."""
        if "TRACE starts_line" in text:
            found = _COMPILE_ID.search(text)
            self.starts_line(text, found["id"] if found else "")

    def _trace(self, compile_id: str, path: str, line: int) -> None:
        self._frame(compile_id).traced.setdefault(path, set()).add(line)

    def _frame(self, compile_id: str) -> _Open:
        number = compile_id.partition("/")[0]
        return self._frames.setdefault(self._ids.get(number, (number, 0, "")), _Open())

    @property
    def breaks(self) -> tuple[Break, ...]:
        return tuple(self._breaks.values())

    @property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(
            Frame(
                path=item.path,
                line=item.line,
                name=item.name,
                compiles=item.compiles,
                reasons=tuple(item.reasons),
                traced={path: tuple(sorted(lines)) for path, lines in sorted(item.traced.items())},
                limit=item.limit,
            )
            for item in self._frames.values()
        )

    @property
    def traced(self) -> dict[str, tuple[int, ...]]:
        together: dict[str, set[int]] = {}
        for item in self._frames.values():
            for path, lines in item.traced.items():
                together.setdefault(path, set()).update(lines)
        return {path: tuple(sorted(lines)) for path, lines in sorted(together.items())}


def reasons_of(payload: str) -> list[str]:
    """The guards of a `recompile_reasons` artifact: one text, or a JSON list of texts."""
    text = payload.strip()
    if text.startswith("["):
        try:
            items = json.loads(text)
        except ValueError:
            return [text]
        return [str(item) for item in items]
    return [text] if text else []


def events_of(lines: Iterable[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """The records of one structured log. Lines that are none (a cut file, another program's output) are passed over."""
    metadata: dict[str, Any] | None = None
    payload: list[str] = []
    for raw in lines:
        line = raw.rstrip("\n")
        if line.startswith("\t"):
            payload.append(line[1:])
            continue
        match = _EVENT.match(line)
        if not match:
            continue
        if metadata is not None:
            yield metadata, "\n".join(payload)
        payload = []
        try:
            metadata = json.loads(match["json"])
        except ValueError:
            metadata = None
    if metadata is not None:
        yield metadata, "\n".join(payload)


class NoTrace(Exception):
    """The folder holds no structured trace."""


def read_trace(folder: Path) -> Heard:
    """Everything the processes of one job wrote under `TORCH_TRACE=folder`, one run per process."""
    logs = sorted(path for path in folder.rglob("*.log") if path.is_file())
    if not logs:
        raise NoTrace(f"no .log file under {folder}: set TORCH_TRACE={folder} before the program starts")
    texts = sorted(path for path in folder.rglob("torch_logs*.txt") if path.is_file())
    runs = []
    torch = ""
    for index, log in enumerate(logs):
        collector = Collector()
        with log.open(encoding="utf-8", errors="replace") as lines:
            for metadata, payload in events_of(lines):
                collector.event(metadata, payload)
        for text in texts if index == 0 else ():
            with text.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    collector.log_line(line)
        torch = torch or collector.torch
        for experiment in ("breaks", "recompiles"):
            runs.append(
                Run(
                    experiment=experiment,
                    label=log.name,
                    source="the program's own calls",
                    covered=collector.traced,
                    traced=collector.traced,
                    breaks=collector.breaks,
                    frames=collector.frames,
                    complete=bool(texts),
                    eager_known=False,
                )
            )
    return Heard(torch=torch, device="", runs=tuple(runs))
