"""The time that a process was ready to run and the machine ran others: it counts against nobody's limit."""

from __future__ import annotations


def waited(pid: int | str = "self") -> float:
    """Seconds that the process's first thread has waited for a processor; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
