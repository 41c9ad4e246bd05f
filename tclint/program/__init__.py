"""The program: who is who, across files."""

from tclint.program.asking import Answers, Question, looking_up, mentioning
from tclint.program.index import absolute_name
from tclint.program.module import Data, Module
from tclint.program.portions import Portion, Read, reads
from tclint.program.program import Program, Touched
from tclint.program.symbols import Assignment, Class, Definition, Function, FunctionNode, FunctionPlace, Import

__all__ = [
    "Answers",
    "Assignment",
    "Class",
    "Data",
    "Definition",
    "Function",
    "FunctionNode",
    "FunctionPlace",
    "Import",
    "Module",
    "Portion",
    "Program",
    "Question",
    "Read",
    "Touched",
    "absolute_name",
    "looking_up",
    "mentioning",
    "reads",
]
