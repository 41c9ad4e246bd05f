"""What a rule may ask about an event, beyond what the event itself holds: `event.ask.attributes(instance)`.

Rules ask, they do not reach in: nothing here changes what the interpreter knows, and no answer is an event of its own.
The interpreter is seen through protocols, so that events know what they need of it and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tclint.events import asked
from tclint.model.finding import Condition, Step
from tclint.program import Answers, Class, Function, Module, Program
from tclint.sources.tree import ancestors
from tclint.values import CompileSite, Evidence, Instance, Region, Value, tensor_of

if TYPE_CHECKING:
    from tclint.events.broken import Break
    from tclint.sources.once import Once

Index = TypeVar("Index")
_INLINED: Final = (3, 12)
"""The Python that makes no function of a comprehension any more."""
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp)
_AROUND: Final = (*_COMPREHENSIONS, ast.For, ast.AsyncFor, ast.While, ast.Try)


class Names(Protocol):
    """What the interpreter knows of module-level names."""

    def value(self, module: Module, name: str) -> Value | None: ...


class Classes(Protocol):
    """What the interpreter knows of the program's classes."""

    def is_nn_module(self, cls: Class) -> bool: ...

    def find_method(self, cls: Class, name: str) -> Function | None: ...

    def mro(self, cls: Class) -> Sequence[Class]: ...

    def external_base(self, cls: Class) -> str: ...


class Objects(Protocol):
    """What the interpreter knows of the program's objects."""

    def of(self, instance: Instance) -> Mapping[str, Value]: ...


class FunctionAnswers(Protocol):
    """What the interpreter knows of the program's functions."""

    def value(self, function: Function) -> Value: ...


class Learned(Protocol):
    """What eager code and compile sites told."""

    @property
    def sites(self) -> Mapping[Any, CompileSite]: ...

    @property
    def made_with(self) -> Mapping[tuple[str, str, str], Mapping[Any, Mapping[Any, str]]]: ...


class Account(Protocol):
    """What eager code does to compiled callables, moment by moment."""

    def evidence(self, code: Hashable, dynamic: bool | None, in_test: bool, path: str) -> Evidence | None: ...

    def evidence_at(self, site: CompileSite, target: Value) -> Evidence | None: ...


class Options(Protocol):
    """What a run is for."""

    @property
    def python(self) -> tuple[int, ...]: ...


class Interpretation(Protocol):
    """What the interpreter knows of the program: the parts of it that answer questions."""

    @property
    def account(self) -> Account: ...

    @property
    def options(self) -> Options: ...

    @property
    def names(self) -> Names: ...

    @property
    def classes(self) -> Classes: ...

    @property
    def instance_attributes(self) -> Objects: ...

    @property
    def functions(self) -> FunctionAnswers: ...

    @property
    def learned(self) -> Learned: ...

    def evaluate_silently(self, frame: Any, node: ast.expr) -> Value: ...

    def in_calls(self, frame: Any, node: ast.expr) -> Sequence[int | float | bool] | None: ...


class Frame(Protocol):
    """The call that an event happens in: its names, and how it came to be compiled."""

    @property
    def interp(self) -> Interpretation: ...

    @property
    def module(self) -> Module: ...

    @property
    def function(self) -> Function | None: ...

    @property
    def cls(self) -> Class | None: ...

    @property
    def env(self) -> Mapping[str, Value]: ...

    @property
    def closure(self) -> Mapping[str, Value] | None: ...

    @property
    def region(self) -> Region | None: ...

    @property
    def parent(self) -> Frame | None: ...

    @property
    def call_node(self) -> ast.AST | None: ...

    @property
    def blocks(self) -> Sequence[str]: ...

    @property
    def conditions(self) -> tuple[Condition, ...]: ...

    @property
    def maybe(self) -> int: ...

    @property
    def modal(self) -> int: ...

    @property
    def held(self) -> int: ...

    @property
    def yields(self) -> Sequence[Value]: ...

    broken: Break | None

    @property
    def constructing(self) -> bool: ...

    @property
    def capturing(self) -> bool: ...

    @property
    def doubtful(self) -> bool: ...

    @property
    def grad(self) -> bool | None: ...

    @property
    def rare(self) -> bool: ...

    @property
    def top_level(self) -> Mapping[str, Value]: ...

    def chain(self, line: int) -> tuple[Step, ...]: ...

    def handed_on(self) -> None: ...

    def skipped(self, node: ast.AST) -> Once | None: ...


class Queries:
    """The questions of a rule, answered for the place where its event happens."""

    __slots__ = ("_frame",)

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    # -- names ------------------------------------------------------------------------------------------------

    def local(self, name: str, caller: Frame | None = None) -> Value | None:
        """What a name of the function, or of one of its callers, holds here; None where that one has not bound it."""
        return (caller if caller is not None else self._frame).env.get(name)

    def names_in(self, caller: Frame) -> Mapping[str, Value]:
        """What the names of one of the calling functions hold."""
        return caller.env

    def callers_names(self) -> Mapping[str, Value]:
        """What the names of the calling function hold; nothing where this one was entered first."""
        caller = self._frame.parent
        return caller.env if caller is not None else {}

    def captures(self, name: str, caller: Frame | None = None) -> bool:
        """Whether a name of the function, or of one of its callers, is a variable of an enclosing function."""
        frame = caller if caller is not None else self._frame
        if frame.closure is None or frame.function is None:
            return False
        return name in frame.closure and name not in frame.function.bound_names()

    def holds_outside(self, name: str) -> bool:
        """Whether the walk follows a name of the file, or of the function around, that this function binds."""
        frame = self._frame
        return name in frame.top_level or (frame.closure is not None and name in frame.closure)

    def module_value(self, name: str, module: Module | None = None) -> Value | None:
        """The value of a module-level name of this file, or of another; None where it has none."""
        return self._frame.interp.names.value(module if module is not None else self._frame.module, name)

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression of the function, here. No rule hears of what happens in it."""
        return self._frame.interp.evaluate_silently(self._frame, node)

    def in_calls(self, node: ast.expr) -> Sequence[int | float | bool] | None:
        """The numbers that an expression of compiled code is in the calls in sight; None where one of them does not tell."""
        return self._frame.interp.in_calls(self._frame, node)

    # -- classes and objects ----------------------------------------------------------------------------------

    def is_nn_module(self, cls: Class) -> bool:
        return self._frame.interp.classes.is_nn_module(cls)

    def attributes(self, instance: Instance) -> Mapping[str, Value]:
        """What an object holds, as far as its constructor and the stores seen tell."""
        return self._frame.interp.instance_attributes.of(instance)

    def made_with(self, cls: Class, parameter: str) -> Sequence[Mapping[Any, str]]:
        """What functions pass for a parameter of a class's constructor: for each function the values, and where."""
        known = self._frame.interp.learned.made_with
        return tuple(known.get((cls.module.path, cls.qualname, parameter), {}).values())

    def method(self, cls: Class, name: str) -> Function | None:
        """A method of a class, its own or inherited."""
        return self._frame.interp.classes.find_method(cls, name)

    def mro(self, cls: Class) -> Sequence[Class]:
        """A class and its ancestors in the program, in the order in which Python looks at them."""
        return self._frame.interp.classes.mro(cls)

    def external_base(self, cls: Class) -> str:
        """The dotted name of the first ancestor outside the program: `torch.nn.Module`; or nothing."""
        return self._frame.interp.classes.external_base(cls)

    def walked(self, value: Value, node: ast.AST | None) -> str:
        """Who is gone through where an expression is, as the facts name it; nothing where that is no object of the program."""
        return asked.walked(self._frame, value, node)

    def below(self, value: Value, node: ast.AST | None, *methods: str) -> str:
        """Which object below a class outside the program answers for an expression, where it has none of the methods."""
        return asked.below(self._frame, value, node, *methods)

    def subclass(self, value: Value | None) -> Class | None:
        """The class of the program that a tensor is of, where `__torch_function__` runs for it."""
        return asked.subclass(self._frame, value)

    def is_held(self, node: ast.AST) -> bool | None:
        """Whether what an expression names was made before the region is entered; None where that is not to be seen."""
        return asked.is_held(self._frame, node)

    def is_given(self, node: ast.AST) -> bool:
        """Whether who calls the region hands in what an expression names, and it is not the object that is compiled."""
        return asked.source(self._frame, node) == "given"

    def is_made_here(self, node: ast.AST) -> bool:
        """Whether compiled code makes what an expression names, and nobody hands it in."""
        return asked.is_held(self._frame, node) is False

    def decorated(self, function: Function) -> Value:
        """A function as its decorators leave it."""
        return self._frame.interp.functions.value(function)

    # -- calls ------------------------------------------------------------------------------------------------

    def sites(self) -> Sequence[CompileSite]:
        """The compile sites found so far."""
        return tuple(self._frame.interp.learned.sites.values())

    def this_run(self) -> object:
        """Tells this run of the function from others: the same thing for all events of one run."""
        return self._frame

    def root(self) -> Function | None:
        """The function that was entered first, through which this one is called."""
        return [self._frame, *self.callers()][-1].function

    def callers(self) -> Iterator[Frame]:
        """Who called this function, who called that one, and so on outwards."""
        frame = self._frame.parent
        while frame is not None:
            yield frame
            frame = frame.parent

    def calls_here(self) -> Iterator[tuple[Frame, ast.AST | None]]:
        """The same, each with the call in it that led here."""
        inner = self._frame
        for caller in self.callers():
            yield caller, inner.call_node
            inner = caller

    def calls_comprehensions(self) -> bool:
        """Whether the Python that runs the program makes a function of a comprehension, and calls it."""
        return self._frame.interp.options.python < _INLINED

    def is_of_comprehension(self, node: ast.AST) -> bool:
        """Whether the outermost loop around a node is a comprehension that Python makes a function of: Dynamo leaves that one to
        eager mode, and goes on behind it."""
        function = self._frame.function
        if not self.calls_comprehensions() or function is None:
            return False
        return isinstance(
            next((each for each in ancestors(function.node, node) if isinstance(each, _AROUND)), None), _COMPREHENSIONS
        )

    def is_left_out(self) -> bool:
        """Whether a break leaves its caller to eager mode, so that it is a frame of its own, and it has no tensors: Dynamo skips that."""
        inner = self._frame
        for caller in self.callers():
            if (
                caller.broken is not None
                and caller.broken.leaves
                and all(tensor_of(each) is None for each in inner.env.values())
            ):
                return True
            inner = caller
        return False

    def runs_eagerly(self) -> bool:
        """Whether a graph break in a block has sent this function to eager: what it calls is compiled by itself."""
        broken = self._frame.broken
        return broken is not None and broken.eager

    def is_broken(self) -> bool:
        """Whether the graph broke in this function before."""
        return self._frame.broken is not None

    def is_broken_before(self, at: Break) -> bool:
        """Whether another break than this one was seen in this function first."""
        first = self._frame.broken
        return first is not None and (first.path, first.line) != (at.path, at.line)

    def once(self, node: ast.AST) -> Once | None:
        """What makes the calls after the first one skip a node of compiled code, here or in a caller; None where nothing does."""
        return self._frame.skipped(node)

    def in_one_call(self) -> bool:
        """Whether compiled code is looked at for one call of it that eager code makes, not for all calls together."""
        outermost = [self._frame, *self.callers()][-1]
        return outermost.region is not None and outermost.call_node is not None

    def handed_over(self) -> bool:
        """Whether this is the very function that was handed to the operator which `event.inside` names."""
        region = self._frame.region
        return region is not None and region.entry is not None and self._frame.call_node is region.entry

    def handed_over_at(self) -> tuple[Frame, ast.AST] | None:
        """The run of a function that hands this one, or one through which it is called, to that operator; and the call."""
        region = self._frame.region
        entry = region.entry if region is not None else None
        return next(((who, call) for who, call in self.calls_here() if call is not None and call is entry), None)

    # -- indexes ----------------------------------------------------------------------------------------------
    # What needs more than the event is found once and looked up: a handler's cost must not grow with the program.

    def of_function(self, build: Callable[[Function], Index]) -> Index:
        """What `build` makes of the function the event happens in, made once for each function."""
        function = self._frame.function
        assert function is not None
        return function.index(build)

    def of_scope(self, build: Callable[[ast.AST], Index]) -> Index:
        """What `build` makes of that function's node, or of the file's tree where there is no function; made once."""
        function = self._frame.function
        return function.node_index(build) if function is not None else self._frame.module.node_index(build)

    def of_file(self, build: Callable[[Module], Index]) -> Index:
        """What `build` makes of this file, made once.

        Where `build` stands at the top of its module and gives plain values or nodes, what is found with them is kept for as
        long as they are the same; otherwise until the file changes.
        """
        return self._frame.module.index(build)

    def of_files(self, scan: Callable[..., Any], *args: Any) -> Answers:
        """By path, what `scan(file, *args)` says of the files of which it says something; asked once.

        `scan` stands at the top of its module; `args` and what it gives are plain values. What is found with the answers is
        kept for as long as they are the same; with `of_program`, until any file changes.
        """
        return self._frame.module.program.answers(scan, *args)

    def of_program(self, build: Callable[[Program], Index]) -> Index:
        """What `build` makes of all files, made once."""
        return self._frame.module.program.index(build)
