"""Where the inputs of a target can come from, best first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

from tclint.verify.child.infer import inferred, inferred_with_parts
from tclint.verify.child.inputs import CONVENTIONS, BadFactory, Example, NoInputs, Source
from tclint.verify.child.overheard import overheard
from tclint.verify.child.owners import in_owners
from tclint.verify.child.pretrained import pretrained
from tclint.verify.child.program import own_program
from tclint.verify.child.replay import replayed
from tclint.verify.child.weights import do_without
from tclint.verify.forks import leave_if_copy
from tclint.verify.job import PROGRAM, Candidate, Job


def sources(job: Job, candidate: Candidate, module: ModuleType) -> Iterator[Example | NoInputs]:
    """Every source that applies to the candidate, best first."""
    yield from _each(job, candidate, module, (*CONVENTIONS, own_program, pretrained))
    if candidate.name == PROGRAM:
        return
    # Somebody who wrote an example may mean the weights that it fetches; what follows is only found.
    do_without()
    yield from _all(replayed(job, candidate, module), "repeated")
    yield from _all(overheard(job, candidate, module), "overheard")
    left: list[Callable[[], Example | None]] = []
    for example in _each(job, candidate, module, (inferred,)):
        if isinstance(example, NoInputs) and example.further is not None:
            left.append(example.further)
        yield example
    yield from _all(in_owners(job, candidate, module), "as a part")
    yield from _all((found for further in left if (found := further()) is not None), "inferred")
    yield from _each(job, candidate, module, (inferred_with_parts,))


def _all(found: Iterator[Example | NoInputs], source: str) -> Iterator[Example | NoInputs]:
    """What a source has, up to where the target's own code ends it."""
    while True:
        try:
            example = next(found)
        except StopIteration:
            return
        except BadFactory:
            raise
        except (Exception, SystemExit) as error:
            yield NoInputs(f"{source}: {type(error).__name__}: {str(error)[:200]}")
            return
        leave_if_copy()
        yield example


def _each(
    job: Job, candidate: Candidate, module: ModuleType, makers: tuple[Source, ...]
) -> Iterator[Example | NoInputs]:
    for source in makers:
        try:
            example = source(job, candidate, module)
        except NoInputs as missing:
            yield missing
            continue
        except BadFactory:
            raise
        except (Exception, SystemExit) as error:
            # The target's own code, run while its inputs were looked for.
            yield NoInputs(f"{source.__name__.replace('_', ' ')}: {type(error).__name__}: {str(error)[:200]}")
            continue
        leave_if_copy()
        if example is not None:
            yield example
