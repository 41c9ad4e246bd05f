"""The program: who is who, across files."""

from tclint.program.modules import (
    Assignment,
    Class,
    Data,
    Definition,
    Function,
    FunctionNode,
    Import,
    Module,
    Program,
    absolute_name,
)

__all__ = [
    "Assignment",
    "Class",
    "Data",
    "Definition",
    "Function",
    "FunctionNode",
    "Import",
    "Module",
    "Program",
    "absolute_name",
]
