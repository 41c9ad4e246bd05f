"""What the configuration tells the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tclint.torch_facts.facts import NEWEST


@dataclass(frozen=True, slots=True)
class Options:
    """What the configuration tells the interpreter, as patterns of names."""

    compile_functions: tuple[str, ...] = ()
    """Functions that compile what they are given, as `torch.compile` does."""
    cudagraph_callables: tuple[str, ...] = ()
    """Callables that run CUDA graphs, by their dotted source text."""
    tokenizers: tuple[str, ...] = ("*tokenizer*",)
    """Attributes that hold a tokenizer where nothing else is known of them."""
    python: tuple[int, ...] = ()
    """The Python that runs the program, its first two numbers."""
    release: str = NEWEST
    """The release of torch whose facts hold."""
    dynamo: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What the program switches on in Dynamo's configuration, by the file of a compile site or of a root."""
