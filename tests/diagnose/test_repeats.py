"""The same measured in several processes: the fastest counts, and what differs is said."""

from __future__ import annotations

from diagnosis_helpers import timing

from tclint.diagnose.measurement import Speed, SpeedRow
from tclint.diagnose.repeats import SAME, agree, pooled


def speed(eager: float, compiled: float, first: float = 1.0) -> Speed:
    return Speed((SpeedRow("forward", timing(eager), timing(compiled), first),), notes=(f"{eager}",))


def test_two_processes_that_came_to_the_same_agree() -> None:
    assert agree([speed(10, 5), speed(10 * (1 + SAME / 2), 5)])
    assert agree([speed(10, 5), speed(14, 9), speed(10.1, 5.05)]), "a disturbed third one does not matter"


def test_one_process_agrees_with_nobody() -> None:
    assert not agree([speed(10, 5)])
    assert not agree([speed(10, 5), speed(11, 5)])


def test_the_fastest_counts() -> None:
    together = pooled([speed(12, 5, first=3.0), speed(10, 6)])
    (row,) = together.rows
    assert (row.eager.median_ms, row.compiled.median_ms, row.processes) == (10, 5, 2)
    assert row.eager.spread_ms == 2, "the next process is as far away"
    assert (row.first_s, together.notes) == (3.0, ("12",)), "what is no time is the first one's"
    assert "2 processes differ by 20%" in row.notes[0]


def test_processes_that_agree_need_no_words() -> None:
    (row,) = pooled([speed(10, 5), speed(10.05, 5.01)]).rows
    assert row.notes == ()
