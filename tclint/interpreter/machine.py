"""The interpreter: a program's functions run abstractly, with events for the rules."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tclint.interpreter import (  # noqa: F401  what expressions give and statements do
    expressions,
    loops,
    sighted,
    statements,
)
from tclint.interpreter.account import Account
from tclint.interpreter.attributes import InstanceAttributes
from tclint.interpreter.classes import Classes
from tclint.interpreter.emitter import Emitter
from tclint.interpreter.entries import Entries
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.functions import Functions
from tclint.interpreter.heap import Heap
from tclint.interpreter.names import Names
from tclint.interpreter.objects import Objects
from tclint.interpreter.options import Options
from tclint.interpreter.overwrites import GraphMemory
from tclint.interpreter.recordings import Recordings
from tclint.interpreter.sites import CompileSites
from tclint.interpreter.state import Memo, ProgramKnowledge, Results, SiteKnowledge, TextKnowledge
from tclint.program import Program

if TYPE_CHECKING:
    from tclint.events.dispatch import Dispatcher
    from tclint.interpreter.frame import Frame
    from tclint.interpreter.run_apart import Apart
    from tclint.values import Value


class Interpreter:
    """Interprets functions of a program abstractly and hands events to a dispatcher."""

    def __init__(
        self,
        program: Program,
        options: Options,
        dispatcher: Dispatcher,
        text: TextKnowledge | None = None,
        learned: SiteKnowledge | None = None,
        apart: Apart | None = None,
    ) -> None:
        self.program = program
        self.options = options
        # What it remembers.
        self.text = text if text is not None else TextKnowledge()
        self.learned = learned if learned is not None else SiteKnowledge()
        self.knowledge = ProgramKnowledge()
        self.memo = Memo()
        self.results = Results()
        self.apart = apart
        """Who finds out what constructors give, where nobody walks through eager code."""
        # What it is made of; each part reaches the others through here.
        self.emitter = Emitter(dispatcher)
        self.account = Account(self)
        self.graph_memory = GraphMemory()
        self.heap = Heap(self)
        self.recordings = Recordings()
        self.names = Names(self)
        self.classes = Classes(self)
        self.functions = Functions(self)
        self.instance_attributes = InstanceAttributes(self)
        self.objects = Objects(self)
        self.compile_sites = CompileSites(self)
        self.entries = Entries(self)

    def fresh(self, dispatcher: Dispatcher, apart: Apart | None = None) -> Interpreter:
        """An interpreter that knows what eager code and compile sites told this one, and nothing that it concluded."""
        return Interpreter(self.program, self.options, dispatcher, self.text, self.learned.copy(), apart)

    def evaluate_silently(self, frame: Frame, node: ast.expr) -> Value:
        """The value of an expression; no rule hears of what happens in it."""
        with self.emitter.silence:
            return evaluate(frame, node)

    def in_calls(self, frame: Frame, node: ast.expr) -> Sequence[int | float | bool] | None:
        """The numbers that an expression of compiled code is in the calls in sight; None where one of them does not tell."""
        return sighted.numbers(frame, node)

    def close(self) -> None:
        """Let go of everything, at the end: an interpreter, its parts and its frames hold each other."""
        vars(self).clear()
