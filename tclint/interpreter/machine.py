"""The interpreter: a program's functions run abstractly, with events for the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.interpreter import statements  # noqa: F401  what statements do
from tclint.interpreter.attributes import InstanceAttributes
from tclint.interpreter.classes import Classes
from tclint.interpreter.emitter import Emitter
from tclint.interpreter.entries import Entries
from tclint.interpreter.functions import Functions
from tclint.interpreter.names import Names
from tclint.interpreter.objects import Objects
from tclint.interpreter.options import Options
from tclint.interpreter.sites import CompileSites
from tclint.interpreter.state import Memo, ProgramKnowledge, Results, SiteKnowledge, TextKnowledge
from tclint.program import Program

if TYPE_CHECKING:
    from tclint.events.dispatch import Dispatcher
    from tclint.interpreter.frame import Frame
    from tclint.values import Super, Value


class Interpreter:
    """Interprets functions of a program abstractly and hands events to a dispatcher."""

    def __init__(
        self,
        program: Program,
        options: Options,
        dispatcher: Dispatcher,
        text: TextKnowledge | None = None,
        learned: SiteKnowledge | None = None,
    ) -> None:
        self.program = program
        self.options = options
        # What it remembers.
        self.text = text if text is not None else TextKnowledge()
        self.learned = learned if learned is not None else SiteKnowledge()
        self.knowledge = ProgramKnowledge()
        self.memo = Memo()
        self.results = Results()
        # What it is made of; each part reaches the others through here.
        self.emitter = Emitter(dispatcher)
        self.names = Names(self)
        self.classes = Classes(self)
        self.functions = Functions(self)
        self.instance_attributes = InstanceAttributes(self)
        self.objects = Objects(self)
        self.compile_sites = CompileSites(self)
        self.entries = Entries(self)
        self._old_names()

    def fresh(self, dispatcher: Dispatcher) -> Interpreter:
        """An interpreter that knows what eager code and compile sites told this one, and nothing that it concluded."""
        return Interpreter(self.program, self.options, dispatcher, self.text, self.learned.copy())

    def close(self) -> None:
        """Let go of everything, at the end: an interpreter, its parts and its frames hold each other."""
        vars(self).clear()

    # -- names of before, until the modules that use them have moved --------------------------------------------------

    def _old_names(self) -> None:
        self.emit = self.emitter.emit
        self.emit_branch = self.emitter.branch
        self.emit_call = self.emitter.call
        self.module_frame = self.names.frame
        self.module_value = self.names.value
        self.external_attribute = self.names.external_attribute
        self.module_attribute = self.names.attribute
        self.class_of = self.classes.of
        self.mro = self.classes.mro
        self.external_base = self.classes.external_base
        self.is_nn_module = self.classes.is_nn_module
        self.find_method = self.classes.find_method
        self.class_attribute = self.classes.attribute
        self.function_value = self.functions.value
        self.module_lambda = self.functions.module_lambda
        self.call_function = self.functions.call
        self.attributes = self.instance_attributes.of
        self.note_attribute = self.instance_attributes.store
        self.construct = self.objects.construct
        self.instance_attribute = self.objects.attribute
        self.call_instance = self.objects.call
        self.instance_item = self.objects.item
        self.iterate_instance = self.objects.iterate
        self.dynamic_attribute = self.objects.dynamic_attribute
        self.instance_isinstance = self.objects.is_instance
        self.is_compile_function = self.compile_sites.is_compile_function
        self.compile_call = self.compile_sites.compile
        self.call_compiled = self.compile_sites.call
        self.configured = self.compile_sites.configured
        self.configured_callable = self.compile_sites.configured_callable
        self.note_call = self.compile_sites.note_call
        self.own = self.compile_sites.own
        self.compiled_instances = self.learned.compiled_instances
        self.rebound = self.learned.rebound
        self.sites = self.learned.sites

    def super_attribute(self, frame: Frame, value: Super, name: str) -> Value:
        return self.objects.super_attribute(value, name)

    @property
    def dispatcher(self) -> Dispatcher:
        return self.emitter.dispatcher

    @property
    def quiet(self) -> int:
        return self.emitter.quiet

    @quiet.setter
    def quiet(self, count: int) -> None:
        self.emitter.quiet = count


__all__ = ["Interpreter", "Options"]
