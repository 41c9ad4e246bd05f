"""How a verification is to be run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field


def default_jobs() -> int:
    """Targets at a time where nobody says: compiling keeps a core busy and imports another."""
    return max(1, min(8, (os.cpu_count() or 1) // 2))


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    device: str = "cpu"
    timeout: float = 120
    """Seconds for one target."""
    memory_mb: int = 0
    """Memory for one target; 0: half of what the machine has."""
    jobs: int = 1
    python: str = field(default_factory=lambda: sys.executable)
    """The interpreter that has torch."""
    root: str = field(default_factory=os.getcwd)
    """The folder that the paths of findings are relative to."""
    factories: Mapping[str, str] = field(default_factory=dict)
    """"module:Class" to "module:function": where the inputs of a class come from."""
    factories_at: str = ""
    """Where those are written, for a message about one."""
    cache_dir: str | None = None
    executor: str = ""
    """Empty: this machine. "ray://host:port": an existing Ray cluster."""
    seed: int = 0
    record: str = ""
    """A folder: what every target computes is kept there, for a comparison."""
    compare: str = ""
    """A folder that was `record` before the sources changed: every target must compute the same now."""
    keep: bool = False
    """More questions will follow: the processes that have torch loaded stay, until `stop_servers` ends them."""
