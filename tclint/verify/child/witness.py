"""What the compiled callables of a program give to the program that calls them.

A program compares nothing by itself: it calls what it compiled and goes on. So what comes back is noted call by call, and with
it what is in the arguments afterwards and what the gradients would be, whether or not the program asks for them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from tclint.verify.child import compiling
from tclint.verify.child.sweep import tensors_of

MOST = 64
"""Calls that are noted: what a hundred calls show, these show."""


@dataclass
class Witness:
    """What was seen so far; `portable` makes plain data of a value."""

    portable: Callable[[Any], Any]
    loss: Callable[[Any], torch.Tensor | None]
    """A number to differentiate, made of what a call gave."""
    returns: list[Any] = field(default_factory=list)
    arguments: list[Any] = field(default_factory=list)
    gradients: dict[str, Any] = field(default_factory=dict)

    def wrap(self, made: Any) -> Any:
        """A compiled callable that tells what it gives. Inside other compiled code it is as it was."""
        if isinstance(made, torch.nn.Module):
            if compiling.unwrapped(made) is made:
                return made  # the site has asked for nothing, and got its own module back
            made.forward = self._telling(made.forward, compiling.unwrapped(made))
            return made
        return self._telling(made, compiling.unwrapped(made)) if inspect.isfunction(made) else made

    def _telling(self, made: Callable[..., Any], owner: Any) -> Callable[..., Any]:
        module = owner if isinstance(owner, torch.nn.Module) else getattr(owner, "__self__", None)

        @functools.wraps(made)
        def told(*args: Any, **kwargs: Any) -> Any:
            given = made(*args, **kwargs)
            if not torch.compiler.is_compiling() and len(self.returns) < MOST:
                inputs = [a for a in args if a is not module]
                self._note(given, inputs, kwargs, module if isinstance(module, torch.nn.Module) else None)
            return given

        return told

    def _note(self, given: Any, args: list[Any], kwargs: Mapping[str, Any], module: torch.nn.Module | None) -> None:
        number = len(self.returns) + 1
        self.returns.append(self.portable(given))
        self.arguments.append(self.portable([args, dict(kwargs)]))
        leaves = {
            **{f"argument {n}": t for n, t in enumerate(tensors_of([*args, *kwargs.values()]), 1)},
            **(dict(module.named_parameters()) if module is not None else {}),
        }
        wanted = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
        loss = self.loss(given) if torch.is_grad_enabled() else None
        if not wanted or loss is None or not loss.requires_grad:
            return
        # What a branch does not reach has no gradient, and with both sides computed a zero: the fixes say so.
        try:
            found = torch.autograd.grad(
                loss, list(wanted.values()), retain_graph=True, allow_unused=True, materialize_grads=True
            )
        except Exception:
            return  # nobody but us has asked for them
        for name, gradient in zip(wanted, found, strict=True):
            self.gradients[f"{name} in call {number}"] = self.portable(gradient)


@contextmanager
def watching(witness: Witness) -> Iterator[None]:
    """Compile sites that are reached inside the block hand out callables that tell what they give."""
    with compiling.handing(witness.wrap):
        yield
