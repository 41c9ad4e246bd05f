"""Which lines of the project an eager call runs."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

_LIBRARIES = tuple(
    os.path.join(os.path.realpath(path), "")
    for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
)


def is_project(path: str, root: str) -> bool:
    """Whether a file is the user's: under the root, and neither torch nor the standard library."""
    if path.startswith("<") or not path.startswith(os.path.join(root, "")):
        return False
    inside = path[len(root) :].replace(os.sep, "/")
    if "/site-packages/" in inside or inside.startswith("/torch/"):
        return False
    # A root inside site-packages is a library being linted: then site-packages lies above it, not inside.
    return "site-packages" in path or not path.startswith(_LIBRARIES)


class Coverage:
    """Executed lines by path."""

    def __init__(self) -> None:
        self.hits: dict[str, set[int]] = {}

    @property
    def lines(self) -> dict[str, tuple[int, ...]]:
        return {path: tuple(sorted(hits)) for path, hits in sorted(self.hits.items())}

    def update(self, other: Coverage) -> None:
        for path, hits in other.hits.items():
            self.hits.setdefault(path, set()).update(hits)


@contextmanager
def covering(wanted: Callable[[str], bool]) -> Iterator[Coverage]:
    """Records the lines run inside the block, in files that are wanted."""
    coverage = Coverage()
    if sys.version_info >= (3, 12):
        with _monitoring(coverage, wanted):
            yield coverage
    else:
        with _tracing(coverage, wanted):
            yield coverage


@contextmanager
def _tracing(coverage: Coverage, wanted: Callable[[str], bool]) -> Iterator[None]:
    known: dict[str, set[int] | None] = {}

    def on_call(frame: FrameType, event: str, argument: Any) -> Callable[[FrameType, str, Any], Any] | None:
        path = frame.f_code.co_filename
        if path not in known:
            known[path] = coverage.hits.setdefault(path, set()) if wanted(path) else None
        hits = known[path]
        if hits is None:
            return None

        def on_line(inner: FrameType, what: str, _: Any) -> Callable[[FrameType, str, Any], Any]:
            if what == "line":
                hits.add(inner.f_lineno)
            return on_line

        return on_line

    before = sys.gettrace()
    sys.settrace(on_call)
    threading.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(before)


@contextmanager
def _monitoring(coverage: Coverage, wanted: Callable[[str], bool]) -> Iterator[None]:
    monitoring: Any = vars(sys)["monitoring"]
    tool = next(number for number in (3, 4, 1, 2, 0) if monitoring.get_tool(number) is None)
    known: dict[str, bool] = {}

    def on_line(code: CodeType, line: int) -> Any:
        path = code.co_filename
        if path not in known:
            known[path] = wanted(path)
        if known[path]:
            coverage.hits.setdefault(path, set()).add(line)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "tclint")
    monitoring.register_callback(tool, monitoring.events.LINE, on_line)
    # DISABLE holds until events are restarted: a line seen by an earlier run must count again in this one.
    monitoring.restart_events()
    monitoring.set_events(tool, monitoring.events.LINE)
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, monitoring.events.LINE, None)
        monitoring.free_tool_id(tool)
