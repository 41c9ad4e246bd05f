"""Pieces of a program that were written for a GPU, run on a machine without one: `.cuda()` and `"cuda"` mean the host."""

from __future__ import annotations

import ast
import copy
import re
from typing import Any

import torch

_DEVICE = re.compile(r"^cuda(:\d+)?$")


class _Hosted(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "cuda" and not _is_module(function.value):
            return function.value
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str) and _DEVICE.match(node.value):
            return ast.copy_location(ast.Constant("cpu"), node)
        return node


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "torch"


def hosted(node: Any) -> Any:
    """A tree that runs here. Definitions stay as they are: they are the program."""
    if torch.cuda.is_available() or isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return node
    return _Hosted().visit(copy.deepcopy(node))
