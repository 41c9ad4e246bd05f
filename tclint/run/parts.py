"""The parts a run is made of. Each is interpreted by itself, so that it can be kept, left out or handed to another process.

A part is the roots of a few neighbouring files, with everything they reach; or the compile sites of the whole program, with what they compile
and the eager code around them. Parts share the program and nothing else: what one of them concludes does not depend on
which others ran before it, or where.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tclint.events import ModuleEvent
from tclint.events.dispatch import Dispatcher
from tclint.interpreter import statements
from tclint.interpreter.examples import Examples
from tclint.interpreter.frame import Frame
from tclint.interpreter.machine import Interpreter, Options
from tclint.model.finding import RANK, Finding
from tclint.model.report import Problem
from tclint.program import Class, Function, Module, Program
from tclint.ruleset.rule import Rule
from tclint.run import knowledge
from tclint.run.knowledge import Fact
from tclint.run.store import decode, encode
from tclint.sources import prefilter
from tclint.sources.text import TOO_DEEP
from tclint.values import (
    ClassValue,
    Compiled,
    CompileSite,
    External,
    FunctionValue,
    Instance,
    Object,
    Partial,
    Region,
    Seq,
    Tensor,
    Union,
    Value,
)

if TYPE_CHECKING:
    from tclint.events import Event
    from tclint.model.config import Settings

INTERNAL: Final = "TCL906"

Place = tuple[str, str, int]
"""A function: file, qualified name, line."""
SitePlace = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Found:
    """A finding, and where in which text it stands: the same function may stand in several files."""

    finding: Finding
    copy: tuple[str, int, int] | None


@dataclass(slots=True)
class Result:
    """What a part gave."""

    found: list[Found] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    reached: set[Place] = field(default_factory=set)
    sites: list[tuple[str, int, str, str]] = field(default_factory=list)
    reach: dict[SitePlace, set[Place]] = field(default_factory=dict)

    def packed(self) -> Any:
        """As plain values, for the cache and for other processes."""
        found = tuple([(encode(each.finding), each.copy) for each in self.found])
        return (found, encode(tuple(self.problems)), self.reached, self.sites, self.reach)

    @classmethod
    def unpacked(cls, value: Any) -> Result:
        if isinstance(value, cls):
            return value
        found, problems, reached, sites, reach = value
        return cls([Found(decode(each), copy) for each, copy in found], list(decode(problems)), reached, sites, reach)


@dataclass(frozen=True, slots=True)
class Root:
    """A class whose forward may be entered: its number in the file, its name, and the place of its own forward."""

    ordinal: int
    name: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class File:
    """What reading a file showed."""

    problem: Problem | None
    roots: tuple[Root, ...]
    entered: tuple[int, ...]
    """The roots that count as outermost: nobody builds a class of that name."""
    alone: bool
    """No file outside the group leads there: what the outermost roots left was entered too."""


@dataclass(slots=True)
class Group:
    """Some files read and their outermost roots entered, while their trees are in memory."""

    files: list[File]
    result: Result

    def packed(self) -> Any:
        files = [
            (encode(f.problem), [(r.ordinal, r.name, r.place) for r in f.roots], f.entered, f.alone) for f in self.files
        ]
        return files, self.result.packed()

    @classmethod
    def unpacked(cls, value: Any) -> Group:
        if isinstance(value, cls):
            return value
        files = [File(decode(row[0]), tuple(Root(*root) for root in row[1]), *row[2:]) for row in value[0]]
        return cls(files, Result.unpacked(value[1]))


@dataclass(slots=True)
class Sites:
    """What the compile sites of the program say about the rest of it."""

    result: Result
    precise: list[str] = field(default_factory=list)
    """Files with a site that compiles a model which is in sight."""
    unresolved: list[str] = field(default_factory=list)
    """Files with a site of which nobody knows what it compiles."""
    learned: list[Fact] = field(default_factory=list)
    """What other parts are interpreted with."""

    def packed(self) -> Any:
        return (self.result.packed(), self.precise, self.unresolved, [tuple(fact) for fact in self.learned])

    @classmethod
    def unpacked(cls, value: Any) -> Sites:
        return cls(Result.unpacked(value[0]), value[1], value[2], [Fact(*row) for row in value[3]])


class Bench:
    """What all parts share: the program, the rules, the settings."""

    def __init__(self, program: Program, settings: Settings, rules: Sequence[Rule], names: Sequence[bytes]) -> None:
        self.program = program
        self.settings = settings
        cudagraph = settings.cudagraph
        graphed = (*cudagraph.callables, *cudagraph.only_through)
        options = Options(settings.compile_functions, tuple(dict.fromkeys(graphed)), settings.tokenizers)
        self.dispatcher = Dispatcher(rules)
        # The sites are read once, in an interpreter of their own that stays; its rules keep what they saw.
        self.main = Interpreter(program, options, Dispatcher([rule.another() for rule in rules]))
        self.mentions_compile = re.compile(b"|".join((prefilter.COMPILES, *map(re.escape, names))))
        self.built: set[str] = set()
        """The names of classes that some file calls."""
        self.alone: set[str] = set()
        """The files that none of another group imports."""
        self.listeners: Mapping[str, Container[str]] = {}
        """For each file, the codes of the rules about whole files that want to see it."""
        self._fixes: dict[Any, Any] = {}
        self._modules = {m.path: m for m in program.modules}
        self._absolute = {m.path: f"{m.directory}/{m.path.rpartition('/')[2]}" for m in program.modules}

    def module(self, path: str) -> Module:
        return self._modules[path]

    # -- one file -----------------------------------------------------------------------------------------------

    def group(self, modules: Sequence[Module]) -> Group:
        """Read files and enter the outermost modules they define, as if compiled."""
        interp = self._fresh()
        examples = Examples(interp)
        files = []
        for module in modules:
            roots = self._roots(interp, module)
            entered = self.outermost(roots)
            self._enter(interp, examples, module, entered)
            files.append(File(module.problem, roots, entered, module.path in self.alone))
        for module, file in zip(modules, files, strict=True):
            if file.alone:
                self._enter(interp, examples, module, left(file, interp.reached))
        return Group(files, self._finish(interp))

    def outermost(self, roots: Iterable[Root]) -> tuple[int, ...]:
        """A module that is built by another one is reached from there, with its real arguments."""
        return tuple(root.ordinal for root in roots if root.name not in self.built)

    @staticmethod
    def _roots(interp: Interpreter, module: Module) -> tuple[Root, ...]:
        """The classes of a file whose forward could be compiled."""
        found = []
        for cls in module.classes:
            own = cls.methods.get("forward")
            method = own or (interp.find_method(cls, "forward") if cls.methods else None)
            if method is not None and interp.is_nn_module(cls):
                found.append(Root(cls.ordinal, cls.name, place_of(method) if own is not None else None))
        return tuple(found)

    def assumed(self, wanted: Iterable[tuple[Module, tuple[int, ...]]]) -> Result:
        """Enter the forward of some classes of some files, as if compiled."""
        interp = self._fresh()
        examples = Examples(interp)
        for module, ordinals in wanted:
            self._enter(interp, examples, module, ordinals)
        return self._finish(interp)

    def _enter(self, interp: Interpreter, examples: Examples, module: Module, ordinals: tuple[int, ...]) -> None:
        region = Region(None)
        for cls in module.classes:
            if cls.ordinal in ordinals:
                self._enter_class(interp, examples, cls, region)

    def _enter_class(self, interp: Interpreter, examples: Examples, cls: Class, region: Region) -> None:
        own = cls.methods.get("forward")
        method = own or interp.find_method(cls, "forward")
        if method is None or (own is not None and place_of(own) in interp.reached):
            return
        seen = [t for t in interp.callees.values() if isinstance(t, Instance) and t.cls is cls]
        if seen:
            for target in seen:
                interp.enter_known(method, target, None, interp.calls_seen[target.key])
            return
        given = examples.arguments(cls)
        if given is not None:
            receiver, args = given
            interp.enter_with(method, receiver, args, region)
        else:
            interp.enter_root(method, Instance(cls), region)

    def whole_files(self, modules: Iterable[Module]) -> Result:
        """Ask the rules about whole files."""
        interp = self._fresh()
        for module in modules:
            self._module_rules(interp, module)
        return self._finish(interp)

    def _module_rules(self, interp: Interpreter, module: Module) -> None:
        if not module.report:
            return
        handlers = interp.dispatcher.module_handlers(self.listeners[module.path])
        if handlers:
            interp.dispatcher.dispatch(handlers, ModuleEvent(interp.module_frame(module)))

    def _fresh(self) -> Interpreter:
        self.dispatcher.restart()
        return self.main.fresh(self.dispatcher)

    # -- the compile sites --------------------------------------------------------------------------------------

    def find_sites(self, eager: Sequence[Module], with_examples: Sequence[Module]) -> None:
        """A silent pass over eager code: which callables are compiled, where and how."""
        if not eager and not with_examples:
            return
        interp = self.main
        interp.quiet += 1
        for module in with_examples:
            Examples(interp).drive(module)
        for module in eager:
            self._enter_module(module, self.mentions_compile)
        # Who calls what is compiled need not mention it: the rest of those files tells how.
        sites = {site.path for site in interp.sites.values()}
        for module in eager:
            if module.path in sites:
                self._enter_module(module)
        interp.quiet -= 1
        # The second pass must not reuse what the first one did not know yet.
        interp.forget_calls()

    def compiled(self) -> Sites:
        """Interpret what the sites compile."""
        interp = self.main
        precise: list[str] = []
        unresolved: list[str] = []
        for target, site in list(interp.targets):
            roots = list(_roots_of(interp, target))
            for function, receiver in roots:
                interp.enter_known(function, receiver, site, interp.calls_seen.get(target.key, []))
            is_model = any(f.cls is not None and interp.is_nn_module(f.cls) for f, _ in roots)
            if is_model and not site.test:
                precise.append(site.path)
            elif not roots and not site.decorator and not site.test and not _external(target):
                unresolved.append(site.path)
        result = self._harvest(interp)
        interp.dispatcher.forget()
        return Sites(result, precise, unresolved, knowledge.facts(interp))

    def around(
        self, eager: Sequence[Module], with_examples: Sequence[Module], asking: Sequence[Module], reached: set[Place]
    ) -> Result:
        """The eager code around compiled callables, now that they are known; what is compiled is not entered again."""
        interp = self.main
        interp.reached |= reached
        sites = {site.path for site in interp.sites.values()}
        cudagraph = self.settings.cudagraph
        named = bool(cudagraph.callables or cudagraph.only_through or cudagraph.clone_helpers)
        for module in with_examples:
            if module.path in sites:
                Examples(interp).drive(module)
        for module in eager:
            if named or module in asking or module.path in sites:
                self._enter_module(module)
        for module in {m.path: m for m in (*eager, *with_examples)}.values():
            self._module_rules(interp, module)
        return self._harvest(interp)

    def _enter_module(self, module: Module, only: re.Pattern[bytes] | None = None) -> None:
        """Interpret a file's eager code: its top level, then its functions (those whose text matches `only`)."""
        interp = self.main
        frame = Frame(interp, module, None, {}, None)
        try:
            for statement in module.tree.body:
                if type(statement).__name__ not in ("FunctionDef", "AsyncFunctionDef", "ClassDef"):
                    statements.run_block(frame, [statement])
                    frame.dead = False
        except RecursionError:
            why = "nested too deeply; this file's top level is skipped"
            interp.dispatcher.problems.append(Problem(module.path, 1, TOO_DEEP, why))
        for function in list(module.functions):
            if place_of(function) in interp.reached:
                continue
            if function.decorators:
                interp.function_value(function)  # a decorator may be a compile site
            if only is not None and not only.search(source_of(module, function.node)):
                continue
            interp.function_value(function)
            interp.enter_root(function, _receiver(interp, function), None)

    # -- results ------------------------------------------------------------------------------------------------

    def _finish(self, interp: Interpreter) -> Result:
        result = self._harvest(interp)
        interp.close()
        return result

    def _harvest(self, interp: Interpreter) -> Result:
        dispatcher = interp.dispatcher
        found = []
        absolute = self._absolute
        # File by file: a fix reads the whole file, and not all trees stay in memory.
        for finding, rule, event in sorted(dispatcher.found.values(), key=lambda f: f[0].path):
            if not self.settings.ignored_in(absolute.get(finding.path, finding.path), finding.code, finding.name):
                found.append(Found(self._with_fix(dispatcher, finding, rule, event), _copy_of(finding, event)))
        # What all parts start from is told once, by the part that found it.
        given = self.main.sites if interp is not self.main else {}
        sites = [(s.path, s.line, s.text, _mode(s)) for key, s in interp.sites.items() if key not in given]
        problems = [*dispatcher.problems, *(_failure(*error) for error in interp.errors)]
        return Result(found, problems, set(interp.reached), sites, {k: set(v) for k, v in interp.reach.items()})

    def _with_fix(self, dispatcher: Dispatcher, finding: Finding, rule: Rule, event: Event) -> Finding:
        if RANK[finding.confidence.value] < RANK[self.settings.min_confidence]:
            return finding
        # Several parts reach a place in the same way; the repair is the same too.
        key = (finding.code, finding.path, finding.span, finding.message, finding.confidence, finding.labels)
        if key in self._fixes:
            fix = self._fixes[key]
        else:
            try:
                fix = rule.fix(finding, event)
            except Exception as error:
                dispatcher.crashed(rule, finding.path, finding.span.line, error)
                return finding
            self._fixes[key] = fix
        return replace(finding, fix=fix) if fix is not None else finding


def left(file: File, reached: Container[Place]) -> tuple[int, ...]:
    """The roots of a file that are still to be entered."""
    return tuple(
        r.ordinal for r in file.roots if r.ordinal not in file.entered and (r.place is None or r.place not in reached)
    )


def place_of(function: Function) -> Place:
    return (function.module.path, function.qualname, function.line)


def _failure(function: Function, error: BaseException) -> Problem:
    if isinstance(error, RecursionError):
        why = f"`{function.qualname}` is nested too deeply; it is skipped"
        return Problem(function.module.path, function.line, TOO_DEEP, why)
    what = f"tclint failed on `{function.qualname}` ({type(error).__name__}: {error})"
    return Problem(function.module.path, function.line, INTERNAL, f"{what}; it is skipped, please report it")


def _copy_of(finding: Finding, event: Event) -> tuple[str, int, int] | None:
    """The text of the function a finding stands in, and where in it."""
    function = event.frame.function
    if function is None:
        return None
    node = function.node
    return (function.index(_digest), finding.span.line - node.lineno, finding.span.column - node.col_offset)


def _digest(function: Function) -> str:
    """What a function's text comes to, however far it is indented."""
    text = source_of(function.module, function.node)
    return hashlib.sha1(b"\n".join(line.strip() for line in text.rstrip().split(b"\n"))).hexdigest()


def _receiver(interp: Interpreter, function: Function) -> Value | None:
    if function.cls is None:
        return None
    kind = interp.method_kind(function)
    if kind == "static":
        return None
    return ClassValue(function.cls) if kind == "class" else Instance(function.cls)


def _roots_of(interp: Interpreter, target: Value) -> Iterator[tuple[Function, Value | None]]:
    """The functions that compiling a value compiles."""
    if isinstance(target, FunctionValue):
        interp.closures[target.function] = target.closure
        yield target.function, target.bound
    elif isinstance(target, Instance):
        method = interp.find_method(target.cls, "forward") or interp.find_method(target.cls, "__call__")
        if method is not None:
            yield method, target
    elif isinstance(target, ClassValue):
        method = interp.find_method(target.cls, "forward")
        if method is not None:
            yield method, Instance(target.cls)
    elif isinstance(target, Compiled):
        yield from _roots_of(interp, target.target)
    elif isinstance(target, Partial):
        yield from _roots_of(interp, target.func)
    elif isinstance(target, Object) and target.args is not None:
        yield from _roots_of(interp, target.args)
    elif isinstance(target, Seq):
        for item in target.items if target.items is not None else (target.elem,):
            yield from _roots_of(interp, item)
    elif isinstance(target, Union):
        for option in target.options:
            yield from _roots_of(interp, option)


def _mode(site: CompileSite) -> str:
    if site.options:
        return "options"
    return str(site.mode or "default")


def _external(target: Value) -> bool:
    """A target outside the program says nothing about the program's own modules."""
    return isinstance(target, (External, Tensor)) or (isinstance(target, Object) and target.args is None)


def source_of(module: Module, node: ast.AST) -> bytes:
    """The text of a function, its decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
    return module.text_of(first, node.end_lineno)  # type: ignore[attr-defined]
