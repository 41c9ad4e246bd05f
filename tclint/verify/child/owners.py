"""A module as a part of another one: made by the class of the program that holds it, called as that one calls it.

Nobody writes an example for a block in the middle of a network. The network around it knows what the block is made with,
and running it shows what the block is called with.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import nn

from tclint.verify import usage
from tclint.verify.child.compiling import uncompiled, unwrapped
from tclint.verify.child.infer import example_of, inferred
from tclint.verify.child.inputs import Call, Example, NoInputs
from tclint.verify.child.limits import TooLong, within
from tclint.verify.child.load import find, load
from tclint.verify.child.replay import replayed
from tclint.verify.child.signatures import parameters_of
from tclint.verify.forks import leave_if_copy
from tclint.verify.job import Candidate, Job

OWNERS = 4
"""Most classes that are asked for one part."""
LEVELS = 2
"""A part of a part of a network."""
SECONDS = 5.0
"""Of the processor, for all owners together."""
SOON = 3.0
"""For one call of an owner."""


def in_owners(job: Job, candidate: Candidate, module: ModuleType) -> Iterator[Example | NoInputs]:
    """Examples of a module class from the classes of the program that make it."""
    try:
        target, method = find(module, candidate.name)
    except LookupError:
        return
    if isinstance(target, type) and issubclass(target, nn.Module) and method in ("", "forward"):
        yield from _in_owners(job, candidate, target, LEVELS, time.thread_time() + SECONDS)


def _in_owners(job: Job, candidate: Candidate, target: type, levels: int, end: float) -> Iterator[Example | NoInputs]:
    for owner in _owners(job, candidate, target):
        place = f"{owner.name} in {owner.path.rpartition('/')[2]}"
        for example in _examples(job, owner, levels, end):
            if time.thread_time() > end:
                return
            if isinstance(example, NoInputs):
                continue
            try:
                yield _part(example, target, place)
                return
            except NoInputs as missing:
                yield missing


def _owners(job: Job, candidate: Candidate, target: type) -> list[Candidate]:
    """The classes that make the target in one of their methods, those that ask for the fewest arguments first."""
    found: dict[tuple[str, str], int] = {}
    for use in usage.uses_of(candidate.name, job.root, candidate.path):
        name = usage.class_around(use)
        if not name or (use.path, name) in found or len(found) >= OWNERS * 3:
            continue
        try:
            owner = getattr(load(use.path, job.root), name, None)
        except (Exception, SystemExit):
            # A file that cannot be imported owns nothing that could be made.
            continue
        if isinstance(owner, type) and issubclass(owner, nn.Module) and not issubclass(owner, target):
            found[use.path, name] = sum(p.default is p.empty for p in parameters_of(owner))
    return [Candidate(path, name) for path, name in sorted(found, key=lambda key: (found[key], key))[:OWNERS]]


def _examples(job: Job, owner: Candidate, levels: int, end: float) -> Iterator[Example | NoInputs]:
    module = load(owner.path, job.root)
    yield from replayed(job, owner, module)
    try:
        made = inferred(job, owner, module)
        if made is not None:
            yield made
    except NoInputs as missing:
        yield missing
    except Exception as error:
        # The owner's own code, run while its inputs were looked for.
        yield NoInputs(f"{owner.name}: {type(error).__name__}: {str(error)[:200]}")
    if levels > 1 and time.thread_time() < end:
        target, _ = find(module, owner.name)
        assert isinstance(target, type)
        yield from _in_owners(job, owner, target, levels - 1, end)


def _part(example: Example, target: type, place: str) -> Example:
    """The part of that class in what the example makes, with what it is called with there."""
    with within(SOON):
        whole = example.build()
    own = getattr(unwrapped(whole), "__self__", unwrapped(whole))
    names = [name for name, part in own.named_modules() if type(part) is target] if isinstance(own, nn.Module) else []
    if not names:
        raise NoInputs(f"{place} makes none as it is built there")
    name, call = _heard(whole, own, example.calls()[0], names)
    build = _builder(example, name)
    source = f"a part of {place}: {name}"
    if call is None:
        return example_of(build, target, "", source)
    return Example(f"{source}, called as there", build, lambda: [copy.deepcopy(call)])


def _builder(example: Example, name: str) -> Callable[[], Any]:
    def build() -> Any:
        whole = unwrapped(example.build())
        return getattr(whole, "__self__", whole).get_submodule(name)

    return build


def _heard(whole: Any, own: nn.Module, call: Call, names: list[str]) -> tuple[str, Call | None]:
    """The first of these parts that is called, and with what; the first of all where none is."""
    heard: dict[str, Call] = {}

    def listener(name: str) -> Callable[..., None]:
        def hear(_: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
            heard.setdefault(name, Call(kept(args), kept(dict(kwargs))))

        return hear

    hooks = [own.get_submodule(name).register_forward_pre_hook(listener(name), with_kwargs=True) for name in names]
    try:
        with within(SOON), torch.no_grad(), uncompiled():
            own.eval()
            whole(*call.args, **call.kwargs)
    except (Exception, TooLong) as error:
        leave_if_copy()
        if not heard:
            raise NoInputs(f"the one around it does not run: {type(error).__name__}: {str(error)[:120]}") from error
    finally:
        for hook in hooks:
            hook.remove()
    leave_if_copy()
    return next(((name, heard[name]) for name in names if name in heard), (names[0], None))


def kept(value: Any) -> Any:
    """The arguments as they were at the call: what follows may write to them."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(kept(item) for item in value)
    if type(value) is dict:
        return {key: kept(item) for key, item in value.items()}
    try:
        return copy.deepcopy(value)
    except Exception:
        # An iterator, a lock: it is given as it is.
        return value
