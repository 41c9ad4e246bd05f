"""Eager code run with the compile sites of its program: what the program compiles is compiled, and the code around it is not."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

import torch

from tclint.verify.child.compiling import unwrapped
from tclint.verify.child.inputs import Example
from tclint.verify.child.load import load
from tclint.verify.rebound import Rebinding


def rebound(example: Example, sites: Sequence[Rebinding], root: str) -> Example:
    """The example after the sites have run. What makes it again binds the names again: another experiment may want them plain."""
    files = [(vars(load(site.path, root)), site) for site in sites]

    def build() -> Any:
        made = example.build()
        # What repeats statements of the file itself has functions of its own.
        around = getattr(made, "__globals__", {})
        for names, site in [*files, *((around, site) for site in sites)]:
            plain = unwrapped(names.get(site.name))
            if isinstance(plain, FunctionType) and plain.__code__.co_filename == site.path:
                arguments = {name: ast.literal_eval(value) for name, value in site.arguments}
                names[site.name] = torch.compile(plain, **arguments)
        return made

    told = ", ".join(site.name for site in sites)
    return replace(example, source=f"{example.source}, with {told} compiled", build=build, wrap=False)
