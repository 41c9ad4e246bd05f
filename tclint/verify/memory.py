"""How much memory children may use, and how much they do."""

from __future__ import annotations

import os
from pathlib import Path


def default_memory_mb() -> int:
    """Half of the memory of the machine, or of the control group where that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 * 2**30
    try:
        group = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        group = "max"
    if group.isdigit():
        total = min(total, int(group))
    return total // 2 // 2**20


def group_memory_mb(leader: int, worth_asking: int = 0) -> int:
    """Memory of a process group. What forks share counts once, which is slow to find out: only above `worth_asking`."""
    members = _group(leader)
    resident = sum(_resident_mb(pid) for pid in members)
    if resident <= worth_asking:
        return resident
    return sum(_proportional_mb(pid) for pid in members)


def _group(leader: int) -> list[int]:
    found = []
    for entry in os.scandir("/proc") if os.path.isdir("/proc") else ():
        if not entry.name.isdigit():
            continue
        try:
            with open(f"/proc/{entry.name}/stat", encoding="utf-8", errors="replace") as file:
                if int(file.read().rpartition(")")[2].split()[2]) == leader:
                    found.append(int(entry.name))
        except (OSError, ValueError, IndexError):
            # Processes end while we look at them.
            continue
    return found


def _resident_mb(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20
    except (OSError, ValueError, IndexError):
        return 0


def _proportional_mb(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) // 1024
    except (OSError, ValueError, IndexError):
        return 0
    return _resident_mb(pid)
