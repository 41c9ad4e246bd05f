"""`torch.compile` as the experiments need it: the user's own compile sites stay, the backend is the experiment's.

Inductor takes minutes and finds nothing that Dynamo does not find; so the name `torch.compile` is bound to a version
that keeps
`fullgraph` and `dynamic` of each site and hands the graphs to `eager` or `aot_eager`. One backend object for the
whole process: a fresh one per site would itself be a reason to recompile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch._dynamo

_real_compile = torch.compile
_chosen = "eager"
_handed: Callable[[Any], Any] | None = None
"""What is done to a compiled callable before a site gets it."""


def _backend(graph: Any, inputs: Any, **options: Any) -> Any:
    return torch._dynamo.lookup_backend(_chosen)(graph, inputs)


def compiled(target: Any, **options: Any) -> Any:
    """The target under Dynamo, with the backend of the current experiment."""
    return _real_compile(target, backend=_backend, **options)


def _site(model: Any = None, *, mode: Any = None, options: Any = None, backend: Any = "inductor", **rest: Any) -> Any:
    if mode is not None and options is not None:
        # An error of the site itself: let torch say it in its own words.
        return _real_compile(model, mode=mode, options=options, backend=backend, **rest)
    if model is None:
        return lambda decorated: _site(decorated, mode=mode, options=options, backend=backend, **rest)
    made = compiled(model, **rest)
    return made if _handed is None else _handed(made)


def adopt_sites() -> None:
    """From now on every compile site of the process runs under the experiment's backend."""
    torch.compile = _site


@contextmanager
def backend(name: str) -> Iterator[None]:
    global _chosen
    before, _chosen = _chosen, name
    try:
        yield
    finally:
        _chosen = before


@contextmanager
def handing(change: Callable[[Any], Any]) -> Iterator[None]:
    """What sites compile inside the block is changed before they get it."""
    global _handed
    before, _handed = _handed, change
    try:
        yield
    finally:
        _handed = before


@contextmanager
def uncompiled() -> Iterator[bool]:
    """Compiled callables run eagerly inside the block; gives False on releases that cannot do so (before 2.6)."""
    set_stance: Callable[..., Any] | None = getattr(torch.compiler, "set_stance", None)
    if set_stance is None:
        yield False
    else:
        with set_stance("force_eager"):
            yield True


def unwrapped(target: Any) -> Any:
    """What the user compiled: `explain` of a compiled object misleads."""
    for _ in range(8):
        inner = getattr(target, "_orig_mod", None) or getattr(target, "_torchdynamo_orig_callable", None)
        if inner is None:
            return target
        target = inner
    return target
