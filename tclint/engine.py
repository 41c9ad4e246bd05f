"""One run: files in, report out."""

from __future__ import annotations

import ast
import gc
import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tclint import suppress, versions
from tclint.dispatch import Dispatcher
from tclint.finding import RANK, Confidence, Effect, Finding, Severity, Span
from tclint.interpreter.examples import Examples
from tclint.interpreter.machine import Interpreter, Options
from tclint.program import Class, Function, Module, Program
from tclint.regions import CompileSite, Region
from tclint.report import Problem, Report, Site
from tclint.rule import ModuleEvent, Rule, load_rules
from tclint.source import TOO_DEEP, UNREADABLE, Unparsable, broken, decode
from tclint.values import (
    ClassValue,
    Compiled,
    FunctionValue,
    Instance,
    Object,
    Partial,
    Seq,
    Tensor,
    Union,
    Value,
)

if TYPE_CHECKING:
    from tclint.config import Settings
    from tclint.events import Event
    from tclint.files import InputFile

_NAMES: Final = {
    "TCL902": "unreadable-file",
    "TCL903": "syntax-error",
    "TCL904": "too-deep",
    "TCL905": "rule-crashed",
    "TCL906": "internal-error",
}
# A file can only hold a root if one of these is in it; everything else is read when a root leads there.
_COMPILES = (
    rb"(?<!\bre)\.compile\b|import compile\b|_dynamo\.optimize|mark_unbacked|cudagraph|CUDAGraph|graphed_callables"
)
INTERNAL: Final = "TCL906"
_EXAMPLES: Final = re.compile(rb"^def (programs|calls)\(\)", re.M)
_ROOT: Final = re.compile(rb"def forward\b|" + _COMPILES)


def lint(files: Sequence[InputFile], settings: Settings) -> Report:
    """Lint files under settings."""
    limit = sys.getrecursionlimit()
    # Interpretation nests a few Python frames for each nested expression and call.
    sys.setrecursionlimit(max(limit, 12_000 if sys.version_info >= (3, 11) else 4_000))
    collecting = gc.isenabled()
    # Trees and values are freed by reference counts; cycle collection over millions of nodes only costs time.
    gc.disable()
    try:
        return _Run(files, settings).report()
    finally:
        sys.setrecursionlimit(limit)
        if collecting:
            gc.enable()


class _Run:
    def __init__(self, files: Sequence[InputFile], settings: Settings) -> None:
        self.settings = settings
        self.problems: list[Problem] = []
        self.program = Program.build(list(self._read(files)))
        self.target = versions.parse(settings.target_torch) or versions.NEWEST
        self.all_rules = load_rules(settings.rules)
        self.rules = self._active_rules()
        self.dispatcher = Dispatcher(self.rules)
        graphed = (*settings.cudagraph.callables, *settings.cudagraph.only_through)
        options = Options(settings.compile_functions, tuple(dict.fromkeys(graphed)), settings.tokenizers)
        self.interp = Interpreter(self.program, options, self.dispatcher)
        self.assumed = False
        self.examples = Examples(self.interp)

    def _read(self, files: Sequence[InputFile]) -> Iterator[tuple[str, str, bytes, bool, bool]]:
        for file in files:
            data = file.text
            if data is None:
                try:
                    with open(file.absolute, "rb") as stream:
                        data = stream.read()
                except OSError as error:
                    why = f"cannot be read: {error.strerror or error}; not analysed"
                    self.problems.append(Problem(file.path, 1, UNREADABLE, why))
                    continue
            yield (file.path, file.absolute, data, file.report, file.explicit)

    def _active_rules(self) -> list[Rule]:
        active = []
        for rule in self.all_rules:
            rule.target = self.target
            rule.settings = self.settings
            if self.settings.selects(rule.code, rule.name, rule.default) and rule.holds():
                active.append(rule)
        return active

    # -- the order of things ----------------------------------------------------------------------------------

    def report(self) -> Report:
        wrappers = [p.rpartition(".")[2].replace("*", "").encode() for p in self.settings.compile_functions]
        cudagraph = self.settings.cudagraph
        graphed = (*cudagraph.callables, *cudagraph.only_through, *cudagraph.clone_helpers)
        callables = [p.rpartition(".")[2].replace("*", "").encode() for p in graphed]
        names = b"|".join(re.escape(n) for n in (*wrappers, *callables) if n)
        self.mentions_compile = re.compile(_COMPILES + (b"|" + names if names else b""))
        roots = re.compile(_ROOT.pattern + (b"|" + names if names else b""))
        modules = [m for m in self.program.modules if m.explicit or roots.search(m.data)]
        for module in modules:
            module.names  # noqa: B018  index it: a syntax error shows here
        chosen = {m.path for m in modules}
        for module in self.program.modules:
            if module.report and module.path not in chosen and b"torch" in module.data:
                module.problem = broken(module.path, module.data)
        eager = [m for m in modules if self.mentions_compile.search(m.data)]
        self.with_examples = [m for m in modules if _EXAMPLES.search(m.data)]
        self._find_sites(eager)
        self._run_regions(modules)
        self._run_eager(eager)
        self._run_module_rules()
        return self._assemble()

    def _find_sites(self, eager: Sequence[Module]) -> None:
        """A silent pass over eager code: which callables are compiled, where and how."""
        if not eager and not self.with_examples:
            return
        self.interp.quiet += 1
        for module in self.with_examples:
            self.examples.drive(module)
        for module in eager:
            self._enter_module(module, self.mentions_compile)
        # Who calls what is compiled need not mention it: the rest of those files tells how.
        sites = {site.path for site in self.interp.sites.values()}
        for module in eager:
            if module.path in sites:
                self._enter_module(module)
        self.interp.quiet -= 1
        # The second pass must not reuse what the first one did not know yet.
        self.interp.forget_calls()

    def _enter_module(self, module: Module, only: re.Pattern[bytes] | None = None) -> None:
        """Interpret a file's eager code: its top level, then its functions (those whose text matches `only`)."""
        from tclint.interpreter import statements
        from tclint.interpreter.frame import Frame

        frame = Frame(self.interp, module, None, {}, None)
        try:
            for statement in module.tree.body:
                if type(statement).__name__ not in ("FunctionDef", "AsyncFunctionDef", "ClassDef"):
                    statements.run_block(frame, [statement])
                    frame.dead = False
        except RecursionError:
            self.problems.append(
                Problem(module.path, 1, TOO_DEEP, "nested too deeply; this file's top level is skipped")
            )
        for function in list(module.functions):
            node = function.node
            if (module.path, function.qualname, node.lineno) in self.interp.reached:
                continue
            if function.decorators:
                self.interp.function_value(function)  # a decorator may be a compile site
            if only is not None and not only.search(_source_of(module, node)):
                continue
            self.interp.function_value(function)
            receiver = self._receiver(function)
            self.interp.enter_root(function, receiver, None)

    def _receiver(self, function: Function) -> Value | None:
        if function.cls is None:
            return None
        kind = self.interp.method_kind(function)
        if kind == "static":
            return None
        return ClassValue(function.cls) if kind == "class" else Instance(function.cls)

    def _run_regions(self, modules: Sequence[Module]) -> None:
        """Interpret everything compiled: the targets of the sites, then what is only assumed to be compiled."""
        precise: set[str] = set()
        open_components = _Components(self.program, modules)
        for target, site in list(self.interp.targets):
            roots = list(self._roots_of(target))
            for function, receiver in roots:
                self.interp.enter_known(function, receiver, site, self.interp.calls_seen.get(target.key, []))
            component = open_components.of(site.path)
            is_model = any(f.cls is not None and self.interp.is_nn_module(f.cls) for f, _ in roots)
            if is_model and not site.test:
                precise.add(component)
            elif not roots and not site.decorator and not site.test and not _external(target):
                open_components.unresolved.add(component)
        setting = self.settings.assume_compiled
        if setting == "never":
            return
        assumed = [
            m
            for m in modules
            if setting == "all"
            or open_components.of(m.path) not in precise
            or open_components.of(m.path) in open_components.unresolved
        ]
        self._run_assumed(assumed)

    def _run_assumed(self, modules: Sequence[Module]) -> None:
        """Every forward as a root, outermost modules first: what they reach is then known by its real arguments."""
        region = Region(None)
        candidates: list[tuple[Class, Function]] = []
        built: set[str] = set()
        for module in modules:
            if b"forward" not in module.data:
                continue
            for cls in module.classes:
                own = cls.methods.get("forward")
                method = own or (self.interp.find_method(cls, "forward") if cls.methods else None)
                if method is not None and self.interp.is_nn_module(cls):
                    candidates.append((cls, method))
            built.update(_constructed_names(module.data))
        candidates.sort(key=lambda c: (c[0].name in built, c[0].module.path, c[0].ordinal))
        for cls, method in candidates:
            self.assumed = True
            own = cls.methods.get("forward")
            place = (method.module.path, method.qualname, method.node.lineno)
            if own is not None and place in self.interp.reached:
                continue
            seen = [t for t in self.interp.callees.values() if isinstance(t, Instance) and t.cls is cls]
            given = self.examples.arguments(cls)
            if seen:
                for target in seen:
                    self.interp.enter_known(method, target, None, self.interp.calls_seen[target.key])
            elif given is not None:
                receiver, args = given
                self.interp.enter_with(method, receiver, args, region)
            else:
                self.interp.enter_root(method, Instance(cls), region)

    def _roots_of(self, target: Value) -> Iterator[tuple[Function, Value | None]]:
        """The functions that compiling a value compiles."""
        if isinstance(target, FunctionValue):
            self.interp.closures[target.function] = target.closure
            yield target.function, target.bound
        elif isinstance(target, Instance):
            method = self.interp.find_method(target.cls, "forward") or self.interp.find_method(target.cls, "__call__")
            if method is not None:
                yield method, target
        elif isinstance(target, ClassValue):
            method = self.interp.find_method(target.cls, "forward")
            if method is not None:
                yield method, Instance(target.cls)
        elif isinstance(target, (Compiled,)):
            yield from self._roots_of(target.target)
        elif isinstance(target, Partial):
            yield from self._roots_of(target.func)
        elif isinstance(target, Object) and target.args is not None:
            yield from self._roots_of(target.args)
        elif isinstance(target, Seq):
            for item in target.items if target.items is not None else (target.elem,):
                yield from self._roots_of(item)
        elif isinstance(target, Union):
            for option in target.options:
                yield from self._roots_of(option)

    def _run_eager(self, eager: Sequence[Module]) -> None:
        """The eager code around compiled callables, now that they are known."""
        sites = {site.path for site in self.interp.sites.values()}
        cudagraph = self.settings.cudagraph
        named = bool(cudagraph.callables or cudagraph.only_through or cudagraph.clone_helpers)
        for module in self.with_examples:
            if module.path in sites:
                self.examples.drive(module)
        for module in eager:
            asked = b"graphed_callables" in module.data or b"mark_unbacked" in module.data
            if named or asked or module.path in sites:
                self._enter_module(module)

    def _run_module_rules(self) -> None:
        for rule in self.rules:
            handler = getattr(rule, "on_module", None)
            if handler is None:
                continue
            for module in self.program.modules:
                if not module.report or not any(t in module.data for t in rule.triggers):
                    continue
                event = ModuleEvent(self.interp.module_frame(module))
                try:
                    for finding in handler(event):
                        self.dispatcher.record(finding, rule, event)  # type: ignore[arg-type]
                except Exception as error:
                    self.dispatcher.crashed(rule, module.path, 1, error)

    # -- the report -------------------------------------------------------------------------------------------

    def _assemble(self) -> Report:
        findings: list[Finding] = []
        absolute = {m.path: f"{m.directory}/{m.path.rpartition('/')[2]}" for m in self.program.modules}
        for finding, rule, event in self.dispatcher.found.values():
            if self.settings.ignored_in(absolute.get(finding.path, finding.path), finding.code, finding.name):
                continue
            findings.append(self._with_fix(finding, rule, event))
        findings.extend(self._problem_findings())
        reported = {m.path: m for m in self.program.modules if m.report}
        texts: dict[str, str] = {}
        flagged = {f.path for f in findings}
        for path, module in reported.items():
            if b"tclint:" in module.data or (path in flagged and b"noqa" in module.data):
                try:
                    texts[path] = decode(path, module.data)
                except Unparsable:
                    continue
        known = [(r.code, r.name) for r in self.all_rules] + [("TCL901", "unused-suppression")]
        ran = [(r.code, r.name) for r in self.rules]
        if self.settings.selects("TCL901", "unused-suppression", True):
            ran.append(("TCL901", "unused-suppression"))
        suppressed = suppress.apply(findings, texts, suppress.activity(known, ran))
        least = RANK[self.settings.min_confidence]
        severe = RANK[self.settings.severity]
        kept = [f for f in suppressed.kept if RANK[f.confidence.value] >= least and RANK[f.severity.value] >= severe]
        kept = self._with_copies(kept)
        kept.sort(key=lambda f: f.sort_key)
        return Report(
            findings=tuple(kept),
            sites=tuple(self._sites()),
            assumed=self.assumed,
            files=len(reported),
            functions=len(self.interp.reached),
            suppressed=suppressed.suppressed,
            torch=".".join(map(str, self.target)),
        )

    def _with_copies(self, findings: list[Finding]) -> list[Finding]:
        """Name the other places where the same function stands with the same finding: a fix is needed there too."""
        places: dict[tuple[str, str, int, int], list[Finding]] = {}
        keys: dict[int, tuple[str, str, int, int]] = {}
        for i, finding in enumerate(findings):
            found = self.dispatcher.found.get((finding.path, finding.span.line, finding.span.column, finding.code))
            function = found[2].frame.function if found is not None else None
            if function is None:
                continue
            node = function.node
            text = _source_of(function.module, node)
            digest = hashlib.sha1(b"\n".join(line.strip() for line in text.split(b"\n"))).hexdigest()
            keys[i] = (finding.code, digest, finding.span.line - node.lineno, finding.span.column - node.col_offset)
            places.setdefault(keys[i], []).append(finding)
        result = []
        for i, finding in enumerate(findings):
            others = [f for f in places.get(keys.get(i, ("", "", 0, 0)), ()) if f.path != finding.path]
            if others:
                shown = tuple(f"{f.path}:{f.span.line}" for f in sorted(others, key=lambda f: f.sort_key)[:3])
                more = (f"and {len(others) - 3} more",) if len(others) > 3 else ()
                finding = replace(finding, same_as=(*shown, *more))
            result.append(finding)
        return result

    def _with_fix(self, finding: Finding, rule: Rule, event: Event) -> Finding:
        if RANK[finding.confidence.value] < RANK[self.settings.min_confidence]:
            return finding
        try:
            fix = rule.fix(finding, event)
        except Exception as error:
            self.dispatcher.crashed(rule, finding.path, finding.span.line, error)
            return finding
        return replace(finding, fix=fix) if fix is not None else finding

    def _sites(self) -> Iterator[Site]:
        places: dict[tuple[str, int], list[CompileSite]] = {}
        for site in self.interp.sites.values():
            places.setdefault((site.path, site.line), []).append(site)
        for place, found in sorted(places.items()):
            modes = sorted({_mode(s) for s in found} - {"?"}) or ["?"]
            yield Site(*place, found[0].text, "|".join(modes), len(self.interp.reach.get(place, ())))

    def _problem_findings(self) -> Iterator[Finding]:
        problems = [*self.problems, *self.dispatcher.problems]
        problems.extend(m.problem for m in self.program.modules if m.problem is not None and m.report)
        for function, error in self.interp.errors:
            line = function.node.lineno
            if isinstance(error, RecursionError):
                why = f"`{function.qualname}` is nested too deeply; it is skipped"
                problems.append(Problem(function.module.path, line, TOO_DEEP, why))
            else:
                why = f"tclint failed on `{function.qualname}` ({type(error).__name__}: {error}); it is skipped, please report it"
                problems.append(Problem(function.module.path, line, INTERNAL, why))
        seen: set[Problem] = set()
        for problem in problems:
            if problem in seen:
                continue
            seen.add(problem)
            yield Finding(
                code=problem.code,
                name=_NAMES.get(problem.code, "problem"),
                path=problem.path,
                span=Span(problem.line, 1, problem.line, 1),
                message=problem.message,
                effect=Effect.ERROR,
                severity=Severity.HIGH,
                confidence=Confidence.HIGH,
            )


def _mode(site: CompileSite) -> str:
    if site.options:
        return "options"
    return str(site.mode or "default")


def _external(target: Value) -> bool:
    """A target outside the program says nothing about the program's own modules."""
    from tclint.values import External

    return isinstance(target, (External, Tensor)) or (isinstance(target, Object) and target.args is None)


def _source_of(module: Module, node: ast.AST) -> bytes:
    """The text of a function, its decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
    return b"\n".join(module.byte_lines()[first - 1 : node.end_lineno])  # type: ignore[attr-defined]


_CALLED = re.compile(rb"\b([A-Z][A-Za-z0-9_]*)\(")


def _constructed_names(data: bytes) -> set[str]:
    """Class names that a file calls: a module built by another is no outermost root."""
    return {
        name.decode()
        for line in data.split(b"\n")
        if not line.lstrip().startswith(b"class ")
        for name in _CALLED.findall(line)
    }


class _Components:
    """Which files belong together: a compile site speaks for what is linked with it by imports."""

    def __init__(self, program: Program, modules: Sequence[Module]) -> None:
        from tclint.program import Import

        self.unresolved: set[str] = set()
        self._parent: dict[str, str] = {}
        for module in modules:
            for definition in module.names.values():
                if isinstance(definition, Import):
                    for dotted in (definition.target, f"{definition.target}.{definition.attribute}"):
                        found = program.find(module, dotted)
                        if found is not None:
                            self._union(module.path, found.path)
            for star in module.stars:
                found = program.find(module, star)
                if found is not None:
                    self._union(module.path, found.path)

    def of(self, path: str) -> str:
        while self._parent.get(path, path) != path:
            path = self._parent[path]
        return path

    def _union(self, a: str, b: str) -> None:
        a, b = self.of(a), self.of(b)
        if a != b:
            self._parent[max(a, b)] = min(a, b)
