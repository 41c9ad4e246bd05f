"""Where the inputs of a target can come from, best first."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from tclint.verify.child.infer import inferred
from tclint.verify.child.inputs import CONVENTIONS, Example, NoInputs
from tclint.verify.child.pretrained import pretrained
from tclint.verify.forks import leave_if_copy
from tclint.verify.job import Candidate, Job


def sources(job: Job, candidate: Candidate, module: ModuleType) -> Iterator[Example | NoInputs]:
    """Every source that applies to the candidate, best first."""
    for source in (*CONVENTIONS, pretrained, inferred):
        try:
            example = source(job, candidate, module)
        except NoInputs as missing:
            yield missing
            continue
        except (Exception, SystemExit) as error:
            # The target's own code, run while its inputs were looked for.
            yield NoInputs(f"{source.__name__.replace('_', ' ')}: {type(error).__name__}: {str(error)[:200]}")
            continue
        leave_if_copy()
        if example is not None:
            yield example
