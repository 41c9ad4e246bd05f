"""Small programs interpreted in this process: the value of an expression, and the events on the way."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from lintkit import PRELUDE

from tclint import events
from tclint.interpreter.frame import Frame
from tclint.interpreter.machine import Interpreter
from tclint.interpreter.options import Options
from tclint.program import Class, Function, Module, Program
from tclint.values import Region, Value

PARAMETERS = "x: torch.Tensor, mask: torch.BoolTensor, n: int, t: float, s: str, flag: bool, maybe: torch.Tensor | None"


class Recorder:
    """Stands in for the rules: keeps every event."""

    def __init__(self) -> None:
        self.events: list[events.Event] = []

    def handlers(self, kind: type[events.Event], region: Region | None, subject: type | None) -> Sequence[str]:
        return ("all",)

    def call_handlers(self, name: str, region: Region | None) -> Sequence[str]:
        return ("all",)

    def dispatch(self, handlers: Sequence[str], event: events.Event) -> None:
        self.events.append(event)


class Interpreted:
    """A program of one file, and an interpreter for it. The name `u` is one of which nothing is known."""

    def __init__(self, source: str = "", compiled: bool = True) -> None:
        text = PRELUDE + "from functools import partial\n\nu = not_defined_anywhere\n" + textwrap.dedent(source)
        self.program = Program.build([("program.py", "/program/program.py", text.encode(), True)])
        self.module: Module = self.program.modules[0]
        self.region = Region(None) if compiled else None
        self.renew()

    def renew(self) -> None:
        """Forget everything but the program."""
        self.recorder = Recorder()
        dispatcher: Any = self.recorder
        self.interp = Interpreter(self.program, Options(), dispatcher)

    def frame(self) -> Frame:
        """A frame at the level of the module, in which nothing has run."""
        return Frame(self.interp, self.module, None, {}, self.region)

    def function(self, name: str) -> Function:
        found = self.module.names[name]
        assert isinstance(found, Function)
        return found

    def cls(self, name: str) -> Class:
        found = self.module.names[name]
        assert isinstance(found, Class)
        return found

    def returned(self, name: str = "f") -> Value:
        """What a function returns, entered with what its signature says."""
        value = self.interp.entries.by_signature(self.function(name), None, self.region)
        assert not self.interp.results.failures
        return value

    def told(self, kind: type[events.Event]) -> list[Any]:
        """The events of one kind, in order."""
        return [event for event in self.recorder.events if type(event) is kind]


def function_of(expression: str, setup: str = "", before: str = "", compiled: bool = True) -> Interpreted:
    """A program whose function `f` returns the expression, after the statements of `setup`, after definitions `before`."""
    body = textwrap.indent(textwrap.dedent(setup).strip() + f"\nreturn {expression}", "    ")
    return Interpreted(textwrap.dedent(before) + f"\n\ndef f({PARAMETERS}):\n{body}\n", compiled)


def value_of(expression: str, setup: str = "", before: str = "", compiled: bool = True) -> Value:
    """The value of an expression over the names of `PARAMETERS`."""
    return function_of(expression, setup, before, compiled).returned()
