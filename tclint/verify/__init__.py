"""`tclint --verify`: runs flagged modules under Dynamo, each in a process of its own, and judges every finding.

Nothing here imports torch but the files named `child*.py`, which only ever run in the child processes.
"""

from __future__ import annotations

from tclint.verify.options import VerifyOptions
from tclint.verify.parent import verify, warm_up
from tclint.verify.recording import verify_program, verify_trace
from tclint.verify.registered import example
from tclint.verify.repro import NotConfirmed, write_repro
from tclint.verify.trace import NoTrace
from tclint.verify.verdict import Missed, Outcome, Verdict, VerifyReport

__all__ = [
    "Missed",
    "NoTrace",
    "NotConfirmed",
    "Outcome",
    "Verdict",
    "VerifyOptions",
    "VerifyReport",
    "example",
    "verify",
    "verify_program",
    "verify_trace",
    "warm_up",
    "write_repro",
]
