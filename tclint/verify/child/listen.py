"""Hears what Dynamo says while code runs: its structured trace, and the logs for what the trace leaves out.

The trace has every break and recompile. The `trace_source` log says which lines Dynamo really traced, which is what
tells a line that is fine from a line behind an earlier break. The `graph_breaks` and `recompiles` logs stand in on old
releases.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch._dynamo
import torch._guards
import torch._logging.structured as structured

from tclint.verify.trace import Collector

_SOURCE = "torch._dynamo.symbolic_convert.__trace_source"
_BREAKS = (
    "torch._dynamo.symbolic_convert.__graph_breaks",
    "torch._dynamo.convert_frame.__graph_breaks",
    "torch._dynamo.exc.__graph_breaks",
)
_RECOMPILES = "torch._dynamo.guards.__recompiles"
_LIMIT = "torch._dynamo.convert_frame"
_TRACE = "torch.__trace"


class _Ear(logging.Handler):
    """Passes records on to the collector. Never raises: an exception here would surface inside Dynamo."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(level=logging.DEBUG)
        self.collector = collector
        self.reasons_in_trace = False

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._hear(record)
        except Exception:
            self.handleError(record)

    def _hear(self, record: logging.LogRecord) -> None:
        if record.name == _TRACE:
            metadata = getattr(record, "metadata", None) or {}
            payload = getattr(record, "payload", None)
            if "artifact" in metadata and metadata["artifact"].get("name") == "recompile_reasons":
                self.reasons_in_trace = True
            self.collector.event(metadata, payload if isinstance(payload, str) else str(payload or ""))
        elif record.name == _SOURCE:
            self.collector.starts_line(record.getMessage(), _compile_id())
        elif record.name in _BREAKS:
            self.collector.graph_break(record.getMessage(), _compile_id(), log=True)
        elif record.name == _RECOMPILES:
            if not self.reasons_in_trace:
                self.collector.event(
                    {"artifact": {"name": "recompile_reasons"}, **_ids()},
                    record.getMessage().partition("\n")[2].strip(),
                )
        elif record.name == _LIMIT and "limit" in record.getMessage():
            self.collector.limit(record.getMessage(), _compile_id())


def _compile_id() -> str:
    found = torch._guards.CompileContext.current_compile_id()
    return f"{found.frame_id}/{found.frame_compile_id}" if found is not None else ""


def _ids() -> dict[str, object]:
    found = torch._guards.CompileContext.current_compile_id()
    return {"frame_id": found.frame_id, "frame_compile_id": found.frame_compile_id} if found is not None else {}


@contextmanager
def listening(wanted: Callable[[str], bool], into: Collector | None = None) -> Iterator[Collector]:
    """Collects what Dynamo says inside the block, with what `into` has heard before. The loggers are put back afterwards."""
    collector = Collector(wanted=wanted) if into is None else into
    # The intern table is per process: strings told before this block are told to nobody again.
    collector.strings.update({number: text for text, number in structured.INTERN_TABLE.items()})
    ear = _Ear(collector)
    kept: list[tuple[logging.Logger, list[logging.Handler], int, bool]] = []
    for name in (_TRACE, _SOURCE, *_BREAKS, _RECOMPILES, _LIMIT):
        logger = logging.getLogger(name)
        kept.append((logger, logger.handlers, logger.level, logger.propagate))
        logger.handlers = [ear]
        logger.propagate = False
        logger.setLevel(logging.WARNING if name == _LIMIT else logging.DEBUG)
    try:
        yield collector
    finally:
        for logger, handlers, level, propagate in kept:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)
