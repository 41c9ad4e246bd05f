"""Eager code run with the compile sites of its program: what the program compiles is compiled, and the code around it is not."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from tclint.verify.child.compiling import unwrapped
from tclint.verify.child.inputs import Example
from tclint.verify.child.load import load
from tclint.verify.rebound import Rebinding


def rebound(example: Example, sites: Sequence[Rebinding], root: str) -> Example:
    """The example after the sites have run. What makes it again binds the names again: another experiment may want them plain."""
    files = [(load(site.path, root), site) for site in sites]
    arguments = {site: {name: ast.literal_eval(value) for name, value in site.arguments} for site in sites}

    def build() -> Any:
        made = example.build()
        for module, site in files:
            plain = unwrapped(vars(module)[site.name])
            # What is called must be what the file's other functions find under the name.
            setattr(module, site.name, torch.compile(plain, **arguments[site]))
        return made

    told = ", ".join(site.name for site in sites)
    return replace(example, source=f"{example.source}, with {told} compiled", build=build, wrap=False)
