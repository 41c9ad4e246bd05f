"""`tclint.cudagraph`, for people's own programs: `run_cloned` and its like."""

from __future__ import annotations

from tclint.runtime.cudagraph import cloned, run_cloned

__all__ = ["cloned", "run_cloned"]
