"""What callables take of which Dynamo does not leave the check to Python: it breaks the graph where a call does not fit."""

from __future__ import annotations

from typing import Final

from tclint.torch_facts import facts

TAKES: Final = {
    "collections.deque": ("iterable", "maxlen"),
    "torch.get_device_module": ("device",),
    "torch.accelerator.current_stream": ("device",),
    "torch.cuda.current_stream": ("device",),
    "torch.library.wrap_triton": ("",),
}
"""The arguments of each, in order; without a name where it is taken by position alone."""


def is_function(name: str) -> bool:
    """Whether a name of torch's is a function: it was asked with tensors, and is no class."""
    if not name.startswith("torch.") or name.rpartition(".")[2][:1].isupper():
        return False
    return facts.at(facts.NEWEST).call(name) is not None
