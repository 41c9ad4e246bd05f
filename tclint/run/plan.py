"""Which parts a run has, and in which order: compile sites first, then what is only assumed, then the rest.

What the sites compile is known best. What they taught goes into the parts that are assumed to be compiled, and what all
of these reached is not entered again from the eager code around the sites.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tclint.interpreter import registries
from tclint.model.report import Problem
from tclint.program import FunctionPlace, Module, Read, Touched, dynamo_config, portions, reads
from tclint.run import leading, taught
from tclint.run.links import Components, Runs, alone, derives_from, links_of
from tclint.run.memo import Memo
from tclint.run.parts import Part, PartRunner, divided
from tclint.run.results import Entered, Result, Sites
from tclint.run.store import digest_of
from tclint.run.workers import processes, run_parts
from tclint.sources import glance
from tclint.sources.glance import Glance
from tclint.sources.roles import is_test
from tclint.sources.text import Unparsable, broken, parse

if TYPE_CHECKING:
    from tclint.interpreter.state import SiteKnowledge
    from tclint.model.settings import Settings
    from tclint.ruleset.rule import Rule
    from tclint.run.knowledge import Lesson
    from tclint.run.reading import Reading

Progress = Callable[[int, int], None]


class Scope(NamedTuple):
    """What a run about a few files of a large project goes through."""

    leading: frozenset[str]
    """The files that can lead to these."""
    linked: frozenset[str]
    """The files that imports join with them, where those are few: what a site among these says of them is said by no other."""
    unresolved: bool
    """Whether imports join them with a site of which nobody knows what it compiles."""


_Stood = Mapping[str, tuple[str, bytes, bytes]]
"""By file: its hash, the pieces that were read of it, and the lines they stood on."""


@dataclass(frozen=True, slots=True)
class Interpreted:
    """What all parts gave."""

    results: Sequence[Result]
    assumed: bool
    """Whether some `forward` was taken as compiled."""
    commented: frozenset[str]
    """Files that may hold comments which silence something."""
    marked: frozenset[str]
    """Those of them that may hold comments which are tclint's alone."""


class Plan:
    """The parts of one run."""

    def __init__(
        self, reading: Reading, settings: Settings, rules: Sequence[Rule], memo: Memo, progress: Progress | None
    ) -> None:
        self.program = reading.program
        self.reported = reading.reported
        self.settings = settings
        self.memo = memo
        self.progress = progress
        names = glance.configured(settings)
        self.jobs = processes(settings.jobs, len(self.program.modules))
        triggers = [(r.code, tuple(r.triggers)) for r in rules if hasattr(r, "on_module")]
        self.glances = {m.path: self._glance(m, names, triggers) for m in self.program.modules}
        helping = sorted({name for each in self.glances.values() for name in each.helpers})
        names += [name.encode() for name in helping if name.encode() not in names]
        for module in self.program.modules if helping else ():
            if not self.glances[module.path].compiles and self._imports_any(module, helping):
                self.glances[module.path] = glance.glance(module.data, names, triggers)
        self._links: dict[str, tuple[str, ...]] = {}
        """What was asked of imports: in a run about a few files the same is asked again and again."""
        self.inheriting = glance.inheriting(self.glances) | self._below_libraries()
        self.chosen = [
            m
            for m in self.program.modules
            if (seen := self.glances[m.path]).compiles or seen.root or m.path in self.inheriting
        ]
        dynamo = self._dynamo()
        self._made = partial(PartRunner, self.program, settings, rules, names, dynamo)
        self._settled = [f"{path} {sorted(dynamo[path])}" for path in sorted(dynamo)]
        self.begin([m for m in self.chosen if self.glances[m.path].compiles])

    def begin(self, eager: Sequence[Module], scope: Scope | None = None) -> None:
        """Know nothing yet, and read the compile sites of these files. `scope`: they are not all there are."""
        self.eager, self.scope = eager, scope
        self.around = {m.path for m in eager}
        self.program.lasting = self.around
        self.runner = self._made()
        self.runner.listeners = {path: seen.listeners for path, seen in self.glances.items()}
        self.site_key = digest_of([*sorted(self.around), *self._settled])
        self.sites_read: set[Touched] | None = None
        """The files the compile sites were read from in this process, once they are."""
        self.ties: Sequence[leading.Tie] = ()
        """Files, each with one of which the sites gave it something."""
        self.assumed = False
        self.checked: set[str] = set()
        self.memo.noted.clear()
        self.__dict__.pop("leading", None)

    def _glance(
        self, module: Module, names: Sequence[bytes], triggers: Sequence[tuple[str, Sequence[bytes]]]
    ) -> Glance:
        key = f"glance {self.memo.hashes.get(module.path)}"
        return Glance(*self.memo.by_content(key, lambda: tuple(glance.glance(module.data, names, triggers))))

    def _imports_any(self, module: Module, names: Sequence[str]) -> bool:
        # By content, as all that is asked of every file: reading them all again costs more than a small edit.
        key = f"imports {digest_of(names)} {self.memo.hashes.get(module.path)}"
        return bool(self.memo.by_content(key, lambda: glance.imports_any(module.data, names)))

    def _below_libraries(self) -> frozenset[str]:
        """The files of which a class may inherit a `forward` from a library that is read."""
        libraries = self.program.libraries
        if libraries is None:
            return frozenset()
        return frozenset(
            m.path
            for m in self.program.modules
            if (seen := self.glances[m.path]).bases
            and not libraries.names.isdisjoint(seen.words)
            and derives_from(m, libraries.names)
        )

    def _dynamo(self) -> dict[str, frozenset[str]]:
        """What the program switches on in Dynamo's configuration, for each file that all runs get to with the setting."""
        setters = {m: on for m in self.program.modules if not is_test(m.path) and any(on := self._switched_on(m))}
        if not setters:
            return {}
        # Whoever imports a file of a package runs what stands above it first.
        packages = [
            m for m in self.program.modules if os.path.basename(m.path) == "__init__.py" and not is_test(m.path)
        ]
        linked = {m.path: self.links(m) for m in {*self.chosen, *setters, *packages}}
        found = dict.fromkeys(linked, frozenset[str]())
        runs = Runs(linked)
        for setting in sorted({name for lasting, _ in setters.values() for name in lasting}):
            for path in runs.always([m.path for m, (lasting, _) in setters.items() if setting in lasting]):
                found[path] |= {setting}
        # What holds only for a while holds in its file, and in those that may call what sets it.
        for module, (_, limited) in setters.items():
            for path in (module.path, *(p for p in linked if module.path in linked[p])) if limited else ():
                found[path] |= set(limited)
        return {path: found[path] for path in sorted(found) if found[path]}

    def _switched_on(self, module: Module) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found: tuple[tuple[str, ...], tuple[str, ...]] = self.memo.by_content(
            f"dynamo {self.memo.hashes.get(module.path)}", lambda: _switched(module)
        )
        return found

    def run(self) -> Interpreted:
        """Interpret all parts, or recall what they gave."""
        sites = self._sites()
        self.ties = sites.ties
        results = [sites.result, *self._assumed(sites)]
        reached: set[FunctionPlace] = set().union(*(r.reached for r in results))
        if self.around:
            results.append(self._around_sites({place for place in reached if place[0] in self.around}))
        listening = [
            m.path
            for m in self.program.modules
            if m.report and m.path not in self.around and self.glances[m.path].listeners
        ]
        parts = [Part("rules", tuple(some)) for some in divided(listening)]
        found = self._results(parts, ())
        results += [Result.unpacked(value) for value in found if value is not None]
        self._check_rest()
        commented = frozenset(path for path, seen in self.glances.items() if seen.comments)
        marked = frozenset(path for path in commented if self.glances[path].marked)
        return Interpreted(results, self.assumed, commented, marked)

    # -- compile sites ------------------------------------------------------------------------------------------

    def _sites(self) -> Sites:
        key = f"sites {self.site_key}"
        return Sites.unpacked(self.memo.traced(key, lambda: self._read_sites().packed()))

    def _read_sites(self) -> Sites:
        """Read the compile sites in this process, so that other parts can be interpreted with what they teach."""
        with self.program.watched() as self.sites_read:
            self.runner.find_sites(self.eager)
            sites = self.runner.compiled()
        if self.memo.keeps:
            # By itself: it is full of lines, and what the sites gave holds, too, where some of them move.
            with self.program.unwatched() as touched:
                touched |= self.sites_read
                written = taught.written(self.runner.main.learned)
                self.program.names_lines(written.fixed)
                read = reads(touched)
                self.memo.remember(self._taught_key, (), (written.data, self._stood(written.moving, read)), read)
        self.runner.teacher = self.runner.main
        self.program.release()
        return sites

    def _learn(self) -> None:
        """Know what the sites teach: from an earlier run, or by reading them."""
        if self.sites_read is not None or self.runner.teacher is not self.runner.main:
            return
        kept = self.memo.recall(self._taught_key, ())
        learned = self._taught(*kept[0]) if kept is not None else None
        if learned is not None:
            self.runner.learn(learned)
        else:
            self._read_sites()

    def _stood(self, paths: Container[str], read: Iterable[Read]) -> _Stood:
        """Where that stands now which was read of some files."""
        return {
            path: (self.memo.hashes.get(path, ""), some.pieces, portions.spans(self.program.by_path[path], some.pieces))
            for path, some in read
            if some is not None and path in paths
        }

    def _taught(self, data: bytes, stood: _Stood) -> SiteKnowledge | None:
        """What the sites taught in an earlier run, with the lines on which it stands now."""
        moved: dict[str, dict[int, int]] = {}
        try:
            for path, (was, pieces, spans) in stood.items():
                if self.memo.hashes.get(path) != was:
                    moved[path] = portions.moved(spans, portions.spans(self.program.by_path[path], pieces))
        except LookupError:
            return None
        return taught.read(data, self.program, moved)

    @property
    def _taught_key(self) -> str:
        return f"taught {self.site_key}"

    def _around_sites(self, reached: set[FunctionPlace]) -> Result:
        known = digest_of(repr(place) for place in sorted(reached))
        key = f"around {self.site_key} {known}"
        kept = self.memo.recall(key, ())
        if kept is not None:
            return Result.unpacked(kept[0])
        if not any(path in self.leading for path in self.around):
            return Result()

        def look() -> Any:
            if self.sites_read is None:
                self._read_sites()
            assert self.sites_read is not None
            self.program.touched |= self.sites_read
            asking = [m for m in self.eager if self.glances[m.path].asks]
            return self.runner.around(self.eager, asking, reached).packed()

        return Result.unpacked(self.memo.traced(key, look))

    @cached_property
    def leading(self) -> Container[str]:
        """The files that can lead to one that is reported: nothing else says anything about it.

        All of them where eager code around a site does: what is concluded there follows from all that is walked before.
        """
        if self.scope is not None:
            return self.scope.leading
        if len(self.reported) == len(self.program.modules):
            return self.reported
        found = self._leading_to(self.reported)
        return self.program.paths if any(path in found for path in self.around) else found

    def _leading_to(self, paths: Collection[str]) -> Container[str]:
        naming = partial(self.memo.answers, leading.named)
        return leading.leading(self.program, paths, naming, self.keepers, self.ties)

    def keepers(self, module: Module) -> tuple[str, ...]:
        found: tuple[str, ...] = self.memo.traced(f"keepers {module.path}", lambda: registries.keepers(module))
        return found

    # -- what is only assumed to be compiled ---------------------------------------------------------------------

    def _assumed(self, sites: Sites) -> list[Result]:
        """Every forward as a root, outermost modules first: what they reach is then known by its real arguments."""
        modules = self._without_site(sites)
        if not modules:
            return []
        runner = self.runner
        runner.partly = frozenset(sites.partly)
        runner.built = set().union(*(self.glances[m.path].built for m in modules))
        # A file is entered as soon as it is read: not all trees stay in memory. Where few are wanted, their neighbours are not.
        together = [*divided(modules)] if self.scope is None else [[module] for module in modules]
        runner.alone = alone(together, self.chosen, self.glances)
        parts = [Part("outermost", tuple(m.path for m in some)) for some in together]
        values = self._results(parts, sites.learned, self._still_outermost)
        entered = [(some, Entered.unpacked(v)) for some, v in zip(together, values, strict=True) if v is not None]
        for some, each in entered:
            for module, file in zip(some, each.files, strict=True):
                self.checked.add(module.path)
                module.problem = file.problem
                self.assumed |= bool(file.roots) and module.path in self.reported
        results = [each.result for _, each in entered]
        reached: set[FunctionPlace] = sites.result.reached.union(*(r.reached - r.blind for r in results))
        # Each file by itself: what is left of its neighbours follows from all that leads to them, and says nothing about it.
        parts = [
            Part("roots", (module.path,), (addresses,))
            for some, each in entered
            for module, file in zip(some, each.files, strict=True)
            if not file.alone and (addresses := file.roots_left(reached))
        ]
        left = self._results(parts, sites.learned)
        results += (Result.unpacked(value) for value in left if value is not None)
        self.assumed |= any(place[0] in self.reported for result in results for place in result.reached)
        return results

    def _without_site(self, sites: Sites) -> list[Module]:
        """The files whose classes count as compiled though no site says so."""
        setting = self.settings.assume_compiled
        if setting == "never":
            return []
        modules = self.chosen
        if setting != "all" and sites.precise and (self.scope is None or not self.scope.unresolved):
            linked = [m for m in self.chosen if self.scope is None or m.path in self.scope.linked]
            components = Components({m.path: self.links(m) for m in linked})
            precise = {components.of(path) for path in sites.precise}
            unresolved = {components.of(path) for path in sites.unresolved}
            within = {path for each in sites.within for path in components.imported(each)}
            modules = [
                m for m in modules if (c := components.of(m.path)) not in precise or c in unresolved or m.path in within
            ]
        found = [m for m in modules if self.glances[m.path].forward or m.path in self.inheriting]
        # The models that tests make for themselves are nobody's, but for a run that is about tests alone.
        tested = [m for m in found if not is_test(m.path)]
        return tested if any(not is_test(path) for path in self.reported) else found

    def links(self, module: Module) -> tuple[str, ...]:
        found = self._links.get(module.path)
        if found is None:
            found = self._links[module.path] = self.memo.traced(f"linked {module.path}", lambda: links_of(module))
        return found

    def _still_outermost(self, paths: tuple[str, ...], value: Any) -> bool:
        files = Entered.unpacked(value).files
        return all(
            self.runner.outermost(file.roots) == file.entered and file.alone == (path in self.runner.alone)
            for path, file in zip(paths, files, strict=True)
        )

    def _results(
        self,
        parts: Sequence[Part],
        learned: Sequence[Lesson],
        holds: Callable[[tuple[str, ...], Any], bool] | None = None,
    ) -> list[Any]:
        """What some parts gave: recalled, or interpreted now, with what was learned from the compile sites.

        None of a part that nobody remembers and that leads to nothing that is reported.
        """
        memo = self.memo
        kept = []
        for part in parts:
            with memo.noting(self.scope is not None and self._wanted(part)):
                kept.append(memo.recall(part.key, learned, partial(holds, part.paths) if holds is not None else None))
        missing = [i for i, value in enumerate(kept) if value is None and self._wanted(parts[i])]
        if missing:
            if learned:
                self._learn()
            packed = memo.keeps or self.scope is not None
            found = run_parts(self.runner, [parts[i] for i in missing], self.jobs, packed)
            for i, (value, read) in zip(missing, found, strict=True):
                with memo.noting(self.scope is not None):
                    kept[i] = memo.remember(parts[i].key, learned, value, read)
                if self.progress is not None and parts[i].kind == "outermost":
                    self.progress(sum(len(part.paths) for part in parts[: i + 1]), sum(len(p.paths) for p in parts))
        return [value[0] if value is not None else None for value in kept]

    def _wanted(self, part: Part) -> bool:
        """Whether a part can say something about a file that is reported."""
        if any(path in self.reported for path in part.paths):
            return True
        if part.kind == "rules":
            return False
        return any(path in self.leading for path in part.paths)

    # -- what nothing was entered from ---------------------------------------------------------------------------

    def _check_rest(self) -> None:
        """Files that nothing was entered from can be broken too, also those that never speak of torch."""
        chosen = {m.path for m in self.chosen}
        for module in self.program.modules:
            if module.path in self.checked or module.path not in self.reported:
                continue
            if module.path in chosen:
                self._check(module, "tree", _indexed)
            else:
                self._check(module, "compile", _broken)

    def _check(self, module: Module, how: str, problem: Callable[[Module], Problem | None]) -> None:
        def check() -> tuple[int, str, str] | tuple[()]:
            found = problem(module)
            return (found.line, found.code, found.message) if found is not None else ()

        row = self.memo.by_content(f"{how} {self.memo.hashes.get(module.path)}", check)
        module.problem = Problem(module.path, *row) if row else None


def _switched(module: Module) -> tuple[tuple[str, ...], tuple[str, ...]]:
    data = module.data
    # Many files import a `config` of their own: that of Dynamo comes from `_dynamo`.
    bound = b"import config" in data and b"_dynamo" in data
    if not bound and b"dynamo.config" not in data and b"TORCHDYNAMO_" not in data:
        return (), ()
    try:
        lasting, limited = dynamo_config.switched(parse(module.path, module.data))
    except Unparsable:  # told where the file is read
        return (), ()
    return tuple(sorted(lasting)), tuple(sorted(limited))


def _broken(module: Module) -> Problem | None:
    # Of a file that was parsed on the way it is known, and is kept for the run that does not come by.
    return module.problem if module.indexed else broken(module.path, module.data)


def _indexed(module: Module) -> Problem | None:
    module.names  # noqa: B018
    return module.problem
