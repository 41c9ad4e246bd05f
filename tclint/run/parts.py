"""The parts a run is made of. Each is interpreted by itself, so that it can be kept, left out or handed to another process.

A part is the roots of a few neighbouring files, with everything they reach; or the compile sites of the whole program,
with what they compile and the eager code around them. Parts share the program, and what constructors give (`Apart`),
which is the same for all: what one of them concludes does not depend on which others ran before it, or where.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from tclint.events import ModuleEvent
from tclint.events.dispatch import Dispatcher
from tclint.interpreter import choices, execute, wrappers
from tclint.interpreter.examples import Examples
from tclint.interpreter.frame import Frame
from tclint.interpreter.machine import Interpreter
from tclint.interpreter.options import Options
from tclint.interpreter.run_apart import Apart
from tclint.interpreter.state import TOP_LEVEL, Failure, SiteKnowledge
from tclint.model.finding import RANK, Finding
from tclint.model.report import Problem
from tclint.program import Class, Function, FunctionPlace, Module, Program
from tclint.ruleset.rule import Rule
from tclint.run import knowledge, leading
from tclint.run.compiles import is_external, receiver_of, roots_of, unread_bases, unread_part, why_nothing
from tclint.run.results import Entered, EnteredFile, Found, Result, Root, SitePlace, Sites
from tclint.sources import glance, roles
from tclint.sources.text import TOO_DEEP
from tclint.torch_facts import facts
from tclint.values import (
    CompileSite,
    External,
    FunctionValue,
    Instance,
    Partial,
    Region,
    Value,
)
from tclint.values.object import is_some_module

if TYPE_CHECKING:
    from tclint.events import Event
    from tclint.model.settings import Settings

INTERNAL: Final = "TCL906"
_T = TypeVar("_T")


class Part(NamedTuple):
    """Some files, and what is entered of them: the outermost roots, some other roots, or the rules about whole files."""

    kind: Literal["outermost", "roots", "rules"]
    paths: tuple[str, ...]
    roots: tuple[tuple[str, ...], ...] = ()
    """For each file, the roots to enter."""

    @property
    def key(self) -> str:
        return " ".join(map(str, self))


def divided(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """The files of each part. Neighbours call the same helpers: what they share is interpreted once for each part.

    An edit costs whole parts, so they are small where all is quick anyway. Of vllm (715 files) parts of two files cost a twentieth
    more than parts of five, where nothing is known; an edit costs less than half.
    """
    size = 1 + len(items) // 480 if len(items) < 1000 else min(64, len(items) // 32)
    for start in range(0, len(items), size):
        yield items[start : start + size]


class PartRunner:
    """Interprets the parts of one program. They share the program, the rules and the settings."""

    def __init__(
        self,
        program: Program,
        settings: Settings,
        rules: Sequence[Rule],
        names: Sequence[bytes],
        dynamo: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self.program = program
        self.settings = settings
        cudagraph = settings.cudagraph
        graphed = (*cudagraph.callables, *cudagraph.only_through)
        options = Options(
            tuple(settings.compile_functions),
            tuple(dict.fromkeys(graphed)),
            tuple(settings.tokenizers),
            settings.python_version,
            facts.at(settings.target_torch).version,
            dynamo or {},
        )
        self.dispatcher = Dispatcher(rules)
        # The sites are read once, in an interpreter of their own that stays; its rules keep what they saw.
        self.main = Interpreter(program, options, Dispatcher([rule.another() for rule in rules]))
        self.teacher = self.main
        """Who knows what the sites tell: it read them, or was told."""
        self._apart: Apart | None = None
        """What constructors give, for the parts that start from what the teacher knows."""
        self._names = names
        self.built: set[str] = set()
        """The names of classes that some file calls."""
        self.partly: Container[FunctionPlace] = ()
        """The methods that are compiled by themselves."""
        self.alone: set[str] = set()
        """The files that none of another part imports."""
        self.listeners: Mapping[str, Container[str]] = {}
        """For each file, the codes of the rules about whole files that want to see it."""
        self._fixes: dict[Any, Any] = {}
        self._modules = {m.path: m for m in program.modules}
        self._odd = [m.path for m in program.modules if Result.is_odd(m.path)]
        self._unasked = {m.path for m in program.modules if not m.report}
        self._absolute = {m.path: f"{m.directory}/{m.path.rpartition('/')[2]}" for m in program.modules}

    def run(self, part: Part) -> Entered | Result:
        """Interpret one part."""
        modules = [self._modules[path] for path in part.paths]
        if part.kind == "outermost":
            return self._outermost_roots(modules)
        if part.kind == "roots":
            return self._some_roots(zip(modules, part.roots, strict=True))
        return self._whole_files(modules)

    # -- what is only assumed to be compiled --------------------------------------------------------------------

    def _outermost_roots(self, modules: Sequence[Module]) -> Entered:
        """Read files and enter the outermost modules they define, as if compiled."""
        interp = self._fresh()
        examples = Examples(interp)
        files = []
        for module in modules:
            roots = self._roots(interp, module)
            entered = self.outermost(roots)
            self._enter(interp, examples, module, entered)
            files.append(EnteredFile(module.problem, roots, entered, module.path in self.alone))
        for module, file in zip(modules, files, strict=True):
            if file.alone:
                self._enter(interp, examples, module, file.roots_left(interp.results.known))
        return Entered(files, self._finish(interp))

    def outermost(self, roots: Iterable[Root]) -> tuple[str, ...]:
        """A module that is built by another one is reached from there, with its real arguments."""
        return tuple(root.address for root in roots if root.name not in self.built)

    def _roots(self, interp: Interpreter, module: Module) -> tuple[Root, ...]:
        """The classes of a file whose forward could be compiled."""
        found = []
        for cls in module.classes:
            with interp.results.guarded(cls):
                own = cls.methods.get("forward")
                differs = cls.methods or cls.assignments  # what a base reads of self may be another thing here
                begun = (own,) if own is not None else interp.classes.entries(cls) if differs else ()
                partly = self.partly and any(
                    m.place in self.partly for c in interp.classes.mro(cls) for m in c.methods.values()
                )
                if begun and not partly and interp.classes.is_nn_module(cls):
                    found.append(Root(cls.address, cls.name, own.place if own is not None else None))
        return tuple(found)

    def _some_roots(self, wanted: Iterable[tuple[Module, tuple[str, ...]]]) -> Result:
        """Enter the forward of some classes of some files, as if compiled."""
        interp = self._fresh()
        examples = Examples(interp)
        for module, addresses in wanted:
            self._enter(interp, examples, module, addresses)
        return self._finish(interp)

    def _enter(self, interp: Interpreter, examples: Examples, module: Module, addresses: tuple[str, ...]) -> None:
        region = Region(None, assuming=interp.options.dynamo.get(module.path, frozenset()))
        for cls in module.classes:
            if cls.address in addresses:
                with interp.results.guarded(cls):
                    self._enter_class(interp, examples, cls, region)

    def _enter_class(self, interp: Interpreter, examples: Examples, cls: Class, region: Region) -> None:
        own = cls.methods.get("forward")
        methods = (own,) if own is not None else interp.classes.entries(cls)
        if not methods or (own is not None and interp.results.knows(own.place)):
            return
        dispatcher, results = interp.emitter.dispatcher, interp.results
        found, reached, blind = dict(dispatcher.found), set(results.reached), set(results.blind)
        results.calls_compiled = False
        for method in methods:
            self._enter_forward(interp, examples, cls, method, region)
        if results.calls_compiled:
            # It calls what is compiled, or marks its inputs: so it is the eager code around it. The modules that it calls
            # are not for that: each is entered by itself.
            dispatcher.found, results.reached, results.blind = found, reached, blind
            interp.memo.forget()

    @staticmethod
    def _enter_forward(interp: Interpreter, examples: Examples, cls: Class, method: Function, region: Region) -> None:
        seen = [t for t in interp.learned.callees.values() if isinstance(t, Instance) and t.cls is cls]
        if seen:
            for target in seen:
                interp.entries.with_calls(method, target, None, target)
            return
        example = examples.arguments(cls)
        if example is not None:
            receiver, args = example
            interp.entries.with_arguments(method, receiver, args, region)
        else:
            given = interp.entries.by_signature(method, Instance(cls), region)
            interp.entries.around(method, Instance(cls), region, given)
        # What is compiled of a module is its call: where the class has its own, that comes before the forward.
        calling = interp.classes.find_method(cls, "__call__")
        if calling is not None and calling.place not in interp.results.reached:
            interp.entries.by_signature(calling, Instance(cls), region)

    def _whole_files(self, modules: Iterable[Module]) -> Result:
        """Ask the rules about whole files."""
        interp = self._fresh()
        for module in modules:
            self._module_rules(interp, module)
        return self._finish(interp)

    def _module_rules(self, interp: Interpreter, module: Module) -> None:
        if not module.report:
            return
        dispatcher = interp.emitter.dispatcher
        handlers = dispatcher.module_handlers(self.listeners[module.path])
        if handlers:
            dispatcher.dispatch(handlers, ModuleEvent(interp.names.frame(module)))

    def _fresh(self) -> Interpreter:
        self.dispatcher.restart()
        if self._apart is None:
            self._apart = Apart(self.teacher)
        self._apart.begin()
        return self.teacher.fresh(self.dispatcher, self._apart)

    def learn(self, learned: SiteKnowledge) -> None:
        """Interpret parts with what the sites taught in an earlier run, without reading them."""
        main = self.main
        self.teacher = Interpreter(self.program, main.options, self.dispatcher, main.text, learned)
        self._apart = None

    # -- the compile sites --------------------------------------------------------------------------------------

    def find_sites(self, eager: Sequence[Module]) -> None:
        """A silent pass over eager code: which callables are compiled, where and how."""
        if not eager:
            return
        interp = self.main
        self._apart = None
        with interp.emitter.silence:
            for module in eager:
                self._enter_module(module, self._mentions_compile)
            # Who calls what is compiled need not mention it: the rest of those files tells how.
            sites = {site.path for site in interp.learned.sites.values()}
            if interp.learned.counted:
                interp.memo.forget()  # what read a counter before it was seen to count
            for module in eager:
                if module.path in sites:
                    self._enter_module(module)
        interp.account.settle()
        # The second pass must not reuse what the first one did not know yet.
        interp.memo.forget()

    def compiled(self) -> Sites:
        """Interpret what the sites compile."""
        interp = self.main
        interp.recordings.begin()  # the hooks of eager code are those of its calls
        precise: list[str] = []
        lost: list[CompileSite] = []
        handed: set[SitePlace] = set()
        partly: list[FunctionPlace] = []
        resolved: set[SitePlace] = set()
        why = {(site.path, site.line): site.idle for site in interp.learned.sites.values() if site.idle}
        based: list[str] = []
        for target, site in list(interp.learned.targets):
            roots = list(roots_of(interp, target))
            for function, receiver in roots:
                with interp.results.guarded(function):
                    interp.heap.allow(site.test)
                    chosen = choices.compiled_choice(site, receiver, roots)
                    given = interp.entries.with_calls(function, receiver, site, target, chosen)
                    if isinstance(target, Instance):
                        interp.entries.around(function, target, Region(site), given)
            place = (site.path, site.line)
            if roots:
                resolved.add(place)
            else:
                why.setdefault(place, why_nothing(target))
            if roots and (unread := unread_part(interp, target)):
                interp.results.unread[place] = unread
            models = [f for f, _ in roots if f.cls is not None and interp.classes.is_nn_module(f.cls)]
            if any(f.is_abstract and f.name == "forward" for f in models) and not site.test:
                based.append(site.path)  # a model known by its base class alone may be any of those below it
            elif models and place in interp.results.unread and not site.test:
                based.append(site.path)  # what it was handed may be any
            if models and not site.test:
                if any(f.name in ("forward", "__call__") for f in models):
                    precise.append(site.path)
                if isinstance(target, FunctionValue):
                    partly += (model.place for model in models)
            elif not roots and not site.decorator and not site.test and not is_external(target):
                lost.append(site)
                if is_some_module(target):
                    handed.add((site.path, site.line))
        # A site with one target in sight and another that is not is resolved: what is seen is compiled there.
        lost = [site for site in lost if (site.path, site.line) not in resolved]
        # A module that compiles a part of its own speaks for its file; one that is handed a module may compile any.
        unresolved = based + [site.path for site in lost if not site.own or (site.path, site.line) in handed]
        within = [site.path for site in lost if site.own and (site.path, site.line) not in handed]
        interp.results.unresolved = {place: reason for place, reason in why.items() if place not in resolved}
        result = self._harvest(interp)
        interp.emitter.dispatcher.forget()
        ties = leading.ties(self.program, interp.learned)
        return Sites(result, precise, unresolved, within, partly, knowledge.lessons(interp), ties)

    def around(self, eager: Sequence[Module], asking: Sequence[Module], reached: set[FunctionPlace]) -> Result:
        """The eager code around compiled callables, now that they are known; what is compiled is not entered again."""
        interp = self.main
        self._apart = None  # here it goes on learning
        interp.results.reached |= reached
        sites = {site.path for site in interp.learned.sites.values()}
        cudagraph = self.settings.cudagraph
        named = bool(cudagraph.callables or cudagraph.only_through or cudagraph.clone_helpers)
        for module in eager:
            if named or module in asking or module.path in sites:
                self._enter_module(module)
        for module in eager:
            self._module_rules(interp, module)
        return self._harvest(interp)

    def _mentions_compile(self, source: bytes) -> bool:
        return glance.compiles(source) or any(name in source for name in self._names)

    def _enter_module(self, module: Module, only: Callable[[bytes], bool] | None = None) -> None:
        """Interpret a file's eager code: its top level, then its functions (those of whose text `only` says so)."""
        interp = self.main
        frame, trial = Frame(interp, module, None, {}, None), roles.tries(module.path)
        interp.account.begin(module.path)
        interp.graph_memory.open()
        interp.graph_memory.begin()
        interp.heap.begin(trial)
        interp.recordings.begin()
        with interp.results.guarded(module):
            for statement in module.body:
                if type(statement).__name__ not in ("FunctionDef", "AsyncFunctionDef", "ClassDef"):
                    execute.run_block(frame, [statement])
                    frame.dead = False
        for cls in [d for d in module.names.values() if isinstance(d, Class)]:
            if cls.node.decorator_list:
                with interp.results.guarded(module):
                    interp.functions.decorate_class(frame, cls)
        # `fast = partial(torch.compile, mode=…)`: who calls `fast` need not mention torch.compile.
        shorthands = [name.encode() for name, value in frame.env.items() if _compiles_later(interp, value)]
        for function in list(module.functions):
            function.read()  # its text is looked at, and one that stands in a block of the top level is run with it
            if function.place in interp.results.reached:
                continue
            with interp.results.guarded(function):
                if function.decorators:
                    interp.functions.value(function)  # a decorator may be a compile site
                source = b"" if only is None else source_of(module, function.node)
                if wrappers.compiles(function) and _is_decorator(module, function.name):
                    continue  # what it is called with is what it decorates, and nothing that nobody knows
                if only is None or only(source) or any(name in source for name in shorthands):
                    interp.account.begin(function.place)
                    interp.graph_memory.begin()
                    interp.heap.begin(trial)
                    interp.recordings.begin()
                    interp.entries.by_signature(function, receiver_of(interp, function), None)

    # -- results ------------------------------------------------------------------------------------------------

    def _finish(self, interp: Interpreter) -> Result:
        result = self._harvest(interp)
        interp.close()
        return result

    def _harvest(self, interp: Interpreter) -> Result:
        dispatcher = interp.emitter.dispatcher
        found = []
        absolute = self._absolute
        # File by file: a fix reads the whole file, and not all trees stay in memory.
        for finding, rule, event in sorted(dispatcher.found.values(), key=lambda f: f[0].path):
            # Rules hear of all files, as what one told in the first decides what it tells in the next.
            if finding.path in self._unasked or event.module.library:
                continue
            place = absolute.get(finding.path, finding.path)
            held = self.settings.at(place)
            if self.settings.nearer and not held.selects(rule.code, rule.name, rule.default):
                continue
            if not held.ignored_in(place, finding.code, finding.name):
                found.append(Found(self._with_fix(dispatcher, finding, rule, event), _copy_of(finding, event)))
        # What all parts start from is told once, by the part that found it.
        given = self.teacher.learned.sites if interp is not self.main else {}
        sites = [(s.path, s.line, s.text, _mode(s)) for key, s in interp.learned.sites.items() if key not in given]
        problems = [*dispatcher.problems, *map(_problem, interp.results.failures)]
        results = interp.results
        result = Result(
            found,
            problems,
            set(results.reached),
            sites,
            {k: set(v) for k, v in results.reach.items()},
            set(results.whole),
            *results.unknown(),
            set(results.blind),
            unread_bases(interp) if self.program.libraries is None else set(),
        )
        read, told = result.placed(self._odd)
        self.program.names_lines(read)
        self.program.names_lines(told, elsewhere=True)
        return result

    def _with_fix(self, dispatcher: Dispatcher, finding: Finding, rule: Rule, event: Event) -> Finding:
        if not self.settings.fixes or RANK[finding.confidence.value] < min(
            RANK[held.min_confidence] for held in self.settings.everywhere()
        ):
            return finding
        # Several parts reach a place in the same way; the repair is the same too.
        key = (finding.code, finding.path, finding.span, finding.message, finding.confidence, finding.labels)
        if key not in self._fixes:
            # A fix is made with what stands around the place: it was made from all of the file.
            self.program.touched.add(event.module)
            with self.program.unwatched() as touched:
                touched.add(event.module)
                try:
                    fix = rule.fix(finding, event)
                except Exception as error:
                    dispatcher.crashed(rule, finding.path, finding.span.line, error)
                    return finding
            self._fixes[key] = (fix, touched)
        fix, touched = self._fixes[key]
        self.program.touched |= touched
        return replace(rule.told_of_callers(finding, event, fix), fix=fix)


def _is_decorator(module: Module, name: str) -> bool:
    """Whether a file decorates something with its own function of a name."""
    return name in module.index(_decorators)


def _decorators(module: Module) -> frozenset[str]:
    """The names of what a file decorates its functions and methods with, with and without arguments."""
    applied = (each for function in module.functions for each in function.decorators)
    called = (each.func if isinstance(each, ast.Call) else each for each in applied)
    return frozenset(each.id for each in called if isinstance(each, ast.Name))


def _problem(failure: Failure) -> Problem:
    """What is said about something that could not be interpreted."""
    if isinstance(failure.error, RecursionError):
        what = f"`{failure.name}` is nested too deeply; it is skipped"
        if failure.name == TOP_LEVEL:
            what = "nested too deeply; this file's top level is skipped"
        return Problem(failure.path, failure.line, TOO_DEEP, what)
    name = "the top level of this file" if failure.name == TOP_LEVEL else f"`{failure.name}`"
    why = f"{type(failure.error).__name__}: {failure.error}"
    return Problem(
        failure.path, failure.line, INTERNAL, f"tclint failed on {name} ({why}); it is skipped, please report it"
    )


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


def _mode(site: CompileSite) -> str:
    if site.options:
        return "options"
    return str(site.mode or "default")


def _compiles_later(interp: Interpreter, value: Value) -> bool:
    """Whether calling a value compiles: `torch.compile` with some of its arguments given."""
    return (
        isinstance(value, Partial)
        and isinstance(value.func, External)
        and interp.compile_sites.is_compile_function(value.func.name)
    )


def source_of(module: Module, node: ast.AST) -> bytes:
    """The text of a function, its decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
    return module.peek(first, node.end_lineno)  # type: ignore[attr-defined]
