"""One run: files in, report out."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tclint.model.finding import RANK, Confidence, Effect, Finding, Severity, Span
from tclint.model.report import Problem, Report, Site
from tclint.program import Data, Import, Module, Program
from tclint.ruleset.loading import load_rules
from tclint.ruleset.rule import Rule
from tclint.run import suppress
from tclint.run.knowledge import Fact
from tclint.run.parts import INTERNAL, Bench, Found, Group, Place, Result, Sites, left
from tclint.run.store import Cache, digest_of
from tclint.run.workers import Task, processes, run_tasks
from tclint.sources import prefilter
from tclint.sources.prefilter import Facts
from tclint.sources.text import UNREADABLE, Unparsable, broken, decode
from tclint.torch_facts import releases

if TYPE_CHECKING:
    from tclint.model.config import Settings
    from tclint.sources.files import InputFile

_T = TypeVar("_T")
Progress = Callable[[int, int], None]
_VARIANTS: Final = 3
_NAMES: Final = {
    "TCL902": "unreadable-file",
    "TCL903": "syntax-error",
    "TCL904": "too-deep",
    "TCL905": "rule-crashed",
    "TCL906": "internal-error",
}


_NOTEBOOK: Final = ".ipynb"


class _Changed(Exception):
    """A file changed while it was being linted."""


def lint(
    files: Sequence[InputFile],
    settings: Settings,
    *,
    cache: Cache | None = None,
    ends: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Lint files under settings.

    `ends`: the process does nothing else after this, so memory need not be given back. `progress` is told how many of
    how many files are done.
    """
    limit = sys.getrecursionlimit()
    # Interpretation nests a few Python frames for each nested expression and call.
    sys.setrecursionlimit(max(limit, 12_000 if sys.version_info >= (3, 11) else 4_000))
    collecting = gc.isenabled()
    # Trees and values are freed by reference counts; cycle collection over millions of nodes only costs time.
    gc.disable()
    try:
        run = _Run(files, settings, cache, progress)
        if ends:
            _kept.append(run)
        try:
            report = run.report()
        except _Changed:
            return _Run(files, settings, None, progress).report()
        if cache is not None:
            cache.remember(files, report)
        return report
    finally:
        sys.setrecursionlimit(limit)
        if collecting:
            gc.freeze()
            gc.enable()


_kept: list[_Run] = []


class _Run:
    """The files of a run, and what is known about each before it is interpreted."""

    def __init__(
        self, files: Sequence[InputFile], settings: Settings, cache: Cache | None, progress: Progress | None
    ) -> None:
        self.settings = settings
        self.progress = progress
        self.cache = cache
        self.problems: list[Problem] = []
        self.hashes: dict[str, str] = {}
        self.program = Program.build(list(self._read(files)))
        self.modules = {m.path: m for m in self.program.modules}
        self.reported = {f.path for f in files if f.report} & self.modules.keys()
        self.target = releases.parse(settings.target_torch) or releases.NEWEST
        self.all_rules = load_rules(settings.rules, settings.packs)
        self.rules = self._active_rules()
        cudagraph = settings.cudagraph
        known = (*settings.compile_functions, *cudagraph.callables, *cudagraph.only_through, *cudagraph.clone_helpers)
        self.names = [n for p in known if (n := p.rpartition(".")[2].replace("*", "").encode())]
        self.bench = Bench(self.program, settings, self.rules, self.names)
        self.jobs = processes(settings.jobs, len(self.modules))
        self.live: set[Module] | None = None  # what the compile sites were read from, once they are
        self.layout = digest_of(f"{m.path} {m.name}" for m in self.program.modules)
        self.assumed = False
        self.checked: set[str] = set()

    def _read(self, files: Sequence[InputFile]) -> Iterator[tuple[str, str, Data, bool, bool]]:
        for file in files:
            data: Data | None = file.text
            if self.cache is not None:
                self.hashes[file.path] = self.cache.hash_of(file)
                if data is None and self.hashes[file.path] and not file.path.endswith(_NOTEBOOK):
                    data = self._reader(file, self.hashes[file.path])
            if data is None:
                try:
                    with open(file.absolute, "rb") as stream:
                        data = stream.read()
                except OSError as error:
                    why = f"cannot be read: {error.strerror or error}; not analysed"
                    self.problems.append(Problem(file.path, 1, UNREADABLE, why))
                    continue
            if file.path.endswith(_NOTEBOOK) and isinstance(data, bytes):
                from tclint.sources import notebook

                try:
                    data = notebook.read(data).source
                except notebook.NotebookError as error:
                    if file.report:
                        why = f"cannot be read as a notebook: {error}; not analysed"
                        self.problems.append(Problem(file.path, error.line, UNREADABLE, why))
                    continue
            # `import numpy` beside numpy.ipynb does not mean the notebook.
            absolute = f"{file.absolute}.py" if file.path.endswith(_NOTEBOOK) else file.absolute
            # What is kept must do for runs that report other files: then all of them are looked at.
            yield (file.path, absolute, data, file.report or self.cache is not None, file.explicit)

    def _reader(self, file: InputFile, digest: str) -> Callable[[], bytes]:
        def read() -> bytes:
            try:
                with open(file.absolute, "rb") as stream:
                    data = stream.read()
            except OSError:
                raise _Changed from None
            if self.cache is not None and self.cache.digest(data) != digest:
                raise _Changed
            return data

        return read

    def _active_rules(self) -> list[Rule]:
        active = []
        for rule in self.all_rules:
            rule.target = self.target
            rule.settings = self.settings
            if self.settings.selects(rule.code, rule.name, rule.default) and rule.holds():
                active.append(rule)
        return active

    def _traced(self, key: str, compute: Callable[[], Any]) -> Any:
        """A plain value that depends on the files it is read from: kept with them, and good while they are the same."""
        if self.cache is None:
            return compute()
        kept = self._recall(key, ())
        if kept is None:
            with self.program.watched() as touched:
                value = compute()
            kept = self._remember(key, (), value, sorted(m.path for m in touched))
        return kept[0]

    def _recall(
        self, key: str, learned: Sequence[Fact], holds: Callable[[Any], bool] | None = None
    ) -> tuple[Any] | None:
        """What was kept under a key, if what it was made from is the same now. None where it is not."""
        if self.cache is None:
            return None
        hashes = self.hashes
        for read, condition, value in self.cache.get(f"{key} {self.layout}") or ():
            if all(hashes.get(path) == was for path, was in read) and condition == _condition(learned, dict(read)):
                if holds is None or holds(value):
                    return (value,)
        return None

    def _remember(self, key: str, learned: Sequence[Fact], value: Any, read: Iterable[str]) -> tuple[Any]:
        if self.cache is not None:
            key = f"{key} {self.layout}"
            rows = {path: self.hashes[path] for path in read}
            entry = (tuple(rows.items()), _condition(learned, rows), value)
            # Some older ones stay: people go back and forth between branches.
            self.cache.put(key, (entry, *(self.cache.get(key) or ())[: _VARIANTS - 1]))
        return (value,)

    def _kept(self, key: str, compute: Callable[[], Any]) -> Any:
        """A plain value from the cache, or computed and put there."""
        if self.cache is None:
            return compute()
        value = self.cache.get(key)
        if value is None:
            value = compute()
            self.cache.put(key, value)
        return value

    # -- the order of things ----------------------------------------------------------------------------------

    def report(self) -> Report:
        self._survey()
        eager = [m for m in self.chosen if self.facts[m.path].compiles]
        with_examples = [m for m in self.chosen if self.facts[m.path].examples]
        self.scripts = (eager, with_examples)
        around = {m.path for m in (*eager, *with_examples)}
        self.site_key = digest_of(sorted(around))
        sites = self._sites()
        results = [sites.result, *self._assumed(sites)]
        reached: set[Place] = set().union(*(r.reached for r in results))
        if around:
            results.append(self._around({place for place in reached if place[0] in around}))
        listening = [m for m in self.program.modules if m.path not in around and self.facts[m.path].listeners]
        tasks = [Task("rules", tuple(m.path for m in some)) for some in _grouped([m for m in listening if m.report])]
        results += map(Result.unpacked, self._values(tasks, ()))
        self._check_rest()
        return self._assemble(results)

    def _survey(self) -> None:
        """Facts of every file."""
        triggers = [(r.code, tuple(r.triggers)) for r in self.rules if hasattr(r, "on_module")]

        def look(module: Module) -> Facts:
            row = self._kept(
                f"facts {self.hashes.get(module.path)}",
                lambda: tuple(prefilter.survey(module.data, self.names, triggers)),
            )
            return Facts(*row)

        self.facts = {m.path: look(m) for m in self.program.modules}
        self.bench.listeners = {path: known.listeners for path, known in self.facts.items()}
        self.chosen = [
            m for m in self.program.modules if m.explicit or self.facts[m.path].compiles or self.facts[m.path].root
        ]

    def _check_rest(self) -> None:
        """Files that nothing was entered from can be broken too."""
        chosen = {m.path for m in self.chosen}
        for module in self.program.modules:
            if module.path in self.checked:
                continue
            if module.path in chosen:
                self._check(module, "tree", self._index)
            elif module.path in self.reported and self.facts[module.path].torch and not module.indexed:
                self._check(module, "compile", lambda module: broken(module.path, module.data))

    def _check(self, module: Module, how: str, problem: Callable[[Module], Problem | None]) -> None:
        def check() -> tuple[int, str, str] | tuple[()]:
            found = problem(module)
            return (found.line, found.code, found.message) if found is not None else ()

        row = self._kept(f"{how} {self.hashes.get(module.path)}", check)
        module.problem = Problem(module.path, *row) if row else None

    def _index(self, module: Module) -> Problem | None:
        module.names  # noqa: B018
        return module.problem

    # -- compile sites ----------------------------------------------------------------------------------------

    def _sites(self) -> Sites:
        return Sites.unpacked(self._traced(f"sites {self.site_key}", lambda: self._go_live().packed()))

    def _go_live(self) -> Sites:
        """Read the compile sites in this process, so that other parts can be interpreted with what they tell."""
        with self.program.watched() as self.live:
            self.bench.find_sites(*self.scripts)
            return self.bench.compiled()

    def _around(self, reached: set[Place]) -> Result:
        def look() -> Any:
            if self.live is None:
                self._go_live()
            assert self.live is not None
            self.program.touched |= self.live
            eager, with_examples = self.scripts
            asking = [m for m in eager if self.facts[m.path].asks]
            return self.bench.around(eager, with_examples, asking, reached).packed()

        known = digest_of(repr(place) for place in sorted(reached))
        return Result.unpacked(self._traced(f"around {self.site_key} {known}", look))

    # -- what is only assumed to be compiled ------------------------------------------------------------------

    def _assumed(self, sites: Sites) -> list[Result]:
        """Every forward as a root, outermost modules first: what they reach is then known by its real arguments."""
        setting = self.settings.assume_compiled
        if setting == "never":
            return []
        modules = self.chosen
        if setting != "all" and sites.precise:
            components = _Components(self.program, {m.path: self._links(m) for m in self.chosen})
            precise = {components.of(path) for path in sites.precise}
            unresolved = {components.of(path) for path in sites.unresolved}
            modules = [m for m in modules if (c := components.of(m.path)) not in precise or c in unresolved]
        modules = [m for m in modules if self.facts[m.path].forward]
        bench = self.bench
        bench.built = set().union(*(self.facts[m.path].built for m in modules))
        # A file is entered as soon as it is read: not all trees stay in memory.
        groups_of = [*_grouped(modules)]
        bench.alone = self._alone(groups_of)
        tasks = [Task("files", tuple(m.path for m in some)) for some in groups_of]
        groups = [*map(Group.unpacked, self._values(tasks, sites.learned, self._still_outermost))]
        entered = [file for group in groups for file in group.files]
        for module, file in zip(modules, entered, strict=True):
            self.checked.add(module.path)
            module.problem = file.problem
        self.assumed = any(file.roots for file in entered)
        results = [group.result for group in groups]
        reached: set[Place] = sites.result.reached.union(*(r.reached for r in results))
        rest = {
            module.path: ordinals
            for module, file in zip(modules, entered, strict=True)
            if not file.alone and (ordinals := left(file, reached))
        }
        tasks = [Task("roots", tuple(some), tuple(rest[path] for path in some)) for some in _grouped([*rest])]
        return [*results, *map(Result.unpacked, self._values(tasks, sites.learned))]

    def _alone(self, groups: Iterable[Sequence[Module]]) -> set[str]:
        """Files that no root or compile site outside their group can lead to, going by the words of imports."""
        mentioned: dict[str, set[str]] = {}
        for module in self.chosen:
            for word in self.facts[module.path].words:
                mentioned.setdefault(word, set()).add(module.path)
        found = set()
        for group in groups:
            paths = {module.path for module in group}
            for module in group:
                folder, name = os.path.split(os.path.splitext(f"{module.directory}/{os.path.basename(module.path)}")[0])
                if all(mentioned.get(word, paths) <= paths for word in (name, os.path.basename(folder))):
                    found.add(module.path)
        return found

    def _still_outermost(self, paths: tuple[str, ...], value: Any) -> bool:
        files = Group.unpacked(value).files
        return all(
            self.bench.outermost(file.roots) == file.entered and file.alone == (path in self.bench.alone)
            for path, file in zip(paths, files, strict=True)
        )

    def _values(
        self,
        tasks: Sequence[Task],
        learned: Sequence[Fact],
        holds: Callable[[tuple[str, ...], Any], bool] | None = None,
    ) -> list[Any]:
        """What some parts gave: from the cache, or interpreted now, with what was learned from the compile sites."""
        keys = [" ".join(map(str, task)) for task in tasks]
        kept = [
            self._recall(key, learned, partial(holds, task.paths) if holds is not None else None)
            for key, task in zip(keys, tasks, strict=True)
        ]
        missing = [i for i, value in enumerate(kept) if value is None]
        if missing:
            if learned and self.live is None:
                self._go_live()
            for i, (value, read) in zip(
                missing,
                run_tasks(self.bench, [tasks[i] for i in missing], self.jobs, self.cache is not None),
                strict=True,
            ):
                kept[i] = self._remember(keys[i], learned, value, read)
                if self.progress is not None and tasks[i].kind == "files":
                    self.progress(sum(len(task.paths) for task in tasks[: i + 1]), sum(len(t.paths) for t in tasks))
        return [value[0] for value in kept if value is not None]

    def _links(self, module: Module) -> tuple[str, ...]:
        """The modules that a file names at its top level."""

        def find() -> tuple[str, ...]:
            dotted: dict[str, None] = {}
            for definition in module.names.values():
                if isinstance(definition, Import):
                    dotted[definition.target] = None
                    dotted[f"{definition.target}.{definition.attribute}"] = None
            return (*dotted, *module.stars)

        links: tuple[str, ...] = self._traced(f"links {module.path}", find)
        return links

    # -- the report -------------------------------------------------------------------------------------------

    def _assemble(self, results: Sequence[Result]) -> Report:
        best: dict[tuple[str, int, int, str], Found] = {}
        starts: dict[tuple[str, int, int, str], set[tuple[str, str]]] = {}
        for found in (f for result in results for f in result.found):
            finding = found.finding
            key = (finding.path, finding.span.line, finding.span.column, finding.code)
            starts.setdefault(key, set()).update((step.path, step.text) for step in finding.chain[:1])
            old = best.get(key)
            if old is None or RANK[finding.confidence.value] > RANK[old.finding.confidence.value]:
                best[key] = found
        mine = [f for f in best.values() if f.finding.path in self.reported]
        findings = [f.finding for f in mine]
        findings.extend(self._problem_findings(p for result in results for p in result.problems))
        suppressed = suppress.apply(findings, self._texts(findings), self._activity())
        least = RANK[self.settings.min_confidence]
        severe = RANK[self.settings.severity]
        kept = [f for f in suppressed.kept if RANK[f.confidence.value] >= least and RANK[f.severity.value] >= severe]
        kept = _with_copies(kept, {id(f.finding): f.copy for f in mine})
        reach = {(site, p[:2]) for result in results for site, places in result.reach.items() for p in places}
        through = Counter(place for _, place in reach)
        kept = [
            replace(f, roots=max(through[f.path, f.function], len(starts.get((*f.sort_key[:4],), ())))) for f in kept
        ]
        kept.sort(key=lambda f: f.sort_key)
        return Report(
            findings=tuple(kept),
            sites=tuple(_site_rows(results)),
            assumed=self.assumed,
            files=len(self.reported),
            functions=len(set().union(*(r.reached for r in results))),
            suppressed=suppressed.suppressed,
            torch=".".join(map(str, self.target)),
        )

    def _texts(self, findings: Iterable[Finding]) -> dict[str, str]:
        """The files whose comments may silence something."""
        texts: dict[str, str] = {}
        flagged = {f.path for f in findings}
        for path in sorted(self.reported):
            if not self.facts[path].comments:
                continue
            data = self.modules[path].data
            if b"tclint:" in data or path in flagged:
                try:
                    texts[path] = decode(path, data)
                except Unparsable:
                    continue
        return texts

    def _activity(self) -> Callable[[str], bool]:
        known = [(r.code, r.name) for r in self.all_rules] + [("TCL901", "unused-suppression")]
        ran = [(r.code, r.name) for r in self.rules]
        if self.settings.selects("TCL901", "unused-suppression", True):
            ran.append(("TCL901", "unused-suppression"))
        return suppress.activity(known, ran)

    def _problem_findings(self, met: Iterable[Problem]) -> Iterator[Finding]:
        own = (m.problem for m in self.program.modules if m.problem is not None)
        told = [p for p in (*met, *own) if p.path in self.reported]
        for problem in dict.fromkeys((*self.problems, *told)):
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


def _grouped(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Neighbours call the same helpers: what they share is interpreted once for each group.

    An edit costs whole groups, so they are small where all is quick anyway.
    """
    size = 1 + len(items) // 160 if len(items) < 1000 else min(64, len(items) // 32)
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _condition(learned: Sequence[Fact], read: Container[str]) -> str:
    """What of it matters to a result that was read from these files; empty where nothing does."""
    told = [fact.digest for fact in learned if not fact.about or any(path in read for path in fact.about)]
    return digest_of(told) if told else ""


def _with_copies(findings: list[Finding], copies: dict[int, tuple[str, int, int] | None]) -> list[Finding]:
    """Name the other places where the same function stands with the same finding: a fix is needed there too."""
    places: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        copy = copies.get(id(finding))
        if copy is not None:
            places.setdefault((finding.code, *copy), []).append(finding)
    result = []
    for finding in findings:
        copy = copies.get(id(finding))
        others = (
            [f for f in places.get((finding.code, *copy), ()) if f.path != finding.path] if copy is not None else []
        )
        if others:
            shown = tuple(f"{f.path}:{f.span.line}" for f in sorted(others, key=lambda f: f.sort_key)[:3])
            more = (f"and {len(others) - 3} more",) if len(others) > 3 else ()
            finding = replace(finding, same_as=(*shown, *more))
        result.append(finding)
    return result


def _site_rows(results: Iterable[Result]) -> Iterator[Site]:
    places: dict[tuple[str, int], tuple[str, set[str]]] = {}
    reach: dict[tuple[str, int], set[Place]] = {}
    for result in results:
        for path, line, text, mode in result.sites:
            places.setdefault((path, line), (text, set()))[1].add(mode)
        for place, functions in result.reach.items():
            reach.setdefault(place, set()).update(functions)
    for place, (text, modes) in sorted(places.items()):
        shown = sorted(modes - {"?"}) or ["?"]
        yield Site(*place, text, "|".join(shown), len(reach.get(place, ())))


class _Components:
    """Which files belong together: a compile site speaks for what is linked with it by imports."""

    def __init__(self, program: Program, links: dict[str, tuple[str, ...]]) -> None:
        self._parent: dict[str, str] = {}
        modules = {m.path: m for m in program.modules}
        for path, names in links.items():
            for dotted in names:
                found = program.find(modules[path], dotted)
                if found is not None:
                    self._union(path, found.path)

    def of(self, path: str) -> str:
        while self._parent.get(path, path) != path:
            path = self._parent[path]
        return path

    def _union(self, a: str, b: str) -> None:
        a, b = self.of(a), self.of(b)
        if a != b:
            self._parent[max(a, b)] = min(a, b)


__all__ = ["INTERNAL", "lint"]
