"""Programs of a few lines, interpreted with no rule listening."""

from __future__ import annotations

import textwrap

from tclint.events.dispatch import Dispatcher
from tclint.interpreter.machine import Interpreter
from tclint.interpreter.options import Options
from tclint.program import Class, Function, Module, Program
from tclint.values import Region, Value


def interpreter(options: Options | None = None, package: dict[str, str] | None = None, **sources: str) -> Interpreter:
    """An interpreter of files given by their names without `.py`; those of `package` lie in the folder `package`."""
    texts = {**sources, **{f"package/{name}": text for name, text in (package or {}).items()}}
    files = [
        (f"{name}.py", f"/project/{name}.py", textwrap.dedent(text).encode(), True) for name, text in texts.items()
    ]
    return Interpreter(Program.build(files), options or Options(), Dispatcher([]))


def module(interp: Interpreter, name: str = "a") -> Module:
    return next(m for m in interp.program.modules if m.path == f"{name}.py")


def value(interp: Interpreter, name: str, where: str = "a") -> Value | None:
    """The value of a module-level name."""
    return interp.names.value(module(interp, where), name)


def function(interp: Interpreter, name: str, where: str = "a") -> Function:
    """A function or method, by its qualified name."""
    return next(f for f in module(interp, where).functions if f.qualname == name)


def cls(interp: Interpreter, name: str, where: str = "a") -> Class:
    return next(c for c in module(interp, where).classes if c.qualname == name)


def given(interp: Interpreter, name: str, where: str = "a", region: Region | None = None) -> Value:
    """What a function gives that is entered by its signature."""
    return interp.entries.by_signature(function(interp, name, where), None, region)
