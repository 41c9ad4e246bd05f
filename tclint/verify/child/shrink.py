"""Sizes made smaller consistently: every large number of a piece of program divided by the same power of two.

Widths, heads times head widths, vocabularies and lengths then still fit each other, as all of them are divided alike.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import Any

from torch import nn

from tclint.verify import guess


@dataclass(frozen=True)
class Size:
    """How much smaller than the program's own: numbers divided by `scale`, and only a few layers where it is `shallow`."""

    scale: int = 1
    shallow: bool = False

    def __str__(self) -> str:
        parts = [f"sizes divided by {self.scale}"] if self.scale > 1 else []
        parts += ["few layers"] if self.shallow else []
        return "".join(f", {part}" for part in parts)


SIZES = (Size(1, True), Size(8, True), Size(64, True), Size())
"""In the order in which they are tried: what a layer does, two of them show."""
LAYERS = 2
LEAST = 64
"""Smaller numbers are counts of heads, layers or images, and stay."""
PARAMETERS = 30_000_000
"""Models with more are made smaller."""


class _Scaled(ast.NodeTransformer):
    def __init__(self, size: Size) -> None:
        self.size = size

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        if self.size.shallow and _is_many_layers(node.arg or "", node.value):
            return ast.copy_location(ast.keyword(node.arg, ast.copy_location(ast.Constant(LAYERS), node.value)), node)
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        name = getattr(node.targets[0], "id", getattr(node.targets[0], "attr", ""))
        if self.size.shallow and _is_many_layers(name, node.value):
            node.value = ast.copy_location(ast.Constant(LAYERS), node.value)
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        value, scale = node.value, self.size.scale
        if type(value) is int and value >= LEAST * 2 and value % scale == 0:
            return ast.copy_location(ast.Constant(max(value // scale, 8)), node)
        return node


def _is_many_layers(name: str, value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Constant)
        and type(value.value) is int
        and value.value > LAYERS
        and guess.number_for(name) == LAYERS
        and guess.is_depth(name)
    )


def scaled(node: Any, size: Size) -> Any:
    """A tree with its large integers divided. Definitions stay as they are: they are the program."""
    if size == Size() or isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return node
    return _Scaled(size).visit(copy.deepcopy(node))


def parameters_of(made: Any) -> int:
    module = getattr(made, "__self__", made)
    return sum(parameter.numel() for parameter in module.parameters()) if isinstance(module, nn.Module) else 0
