"""The front door: a project is opened from paths and settings, then linted, fixed, explained.

Whoever lints comes in here: the command line, the hooks, the editor's server, `tclint.api`, verify and diagnose. So which
configuration holds, which files are read, what is linked around single files and what is known from earlier runs is
decided once. What stands further to the right (verify, diagnose) takes a project as an argument.

A run without a change needs no more than this module: the engine and the rules are imported when they are asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tclint.model.errors import UserError, did_you_mean
from tclint.model.settings import Settings, check_selectors, matches
from tclint.ruleset import packs
from tclint.run.store import Cache, open_cache
from tclint.sources import configuration, roots, trust
from tclint.sources import files as sources
from tclint.sources.files import InputError, InputFile
from tclint.sources.nearest import Configurations
from tclint.sources.text import quoted

if TYPE_CHECKING:
    from tclint.fixes.passes import Keep
    from tclint.model.report import Report
    from tclint.ruleset.rule import Rule
    from tclint.run.fixing import Done
    from tclint.run.lasting import Lasting

AUTO: Final = "auto"
"""Around single files, the project they belong to; around folders what of it leads there."""
_LARGE: Final = 1000
"""Files around single ones from which on it pays to ask which of them have to do with these."""


@dataclass(frozen=True)
class Project:
    """The files of a run and the settings that hold for them."""

    files: Sequence[InputFile]
    settings: Settings
    cwd: str
    """The folder that paths are shown relative to."""
    notes: tuple[str, ...] = ()
    """What could not be read while looking for files."""
    say: Callable[[str], None] | None = None
    """Hears why no cache is kept, where one was to be."""
    lasting: Lasting | None = None
    """What the process keeps of the project from one lint to the next, where it does."""

    @classmethod
    def open(
        cls,
        paths: Sequence[str] = (".",),
        *,
        cwd: str,
        config: str | None = None,
        isolated: bool = False,
        overrides: Mapping[str, object] | None = None,
        text: bytes | None = None,
        force_exclude: bool = False,
        around: str | None = AUTO,
        say: Callable[[str], None] | None = None,
        allow_rules: bool | None = None,
    ) -> Project:
        """The project that `paths` name. What holds for the run as a whole says the configuration of the first of them;
        what is said of a file, the one nearest to it.

        `config` names a configuration file, `isolated` reads none, `overrides` are laid over it. `text` is the content of
        the one file that `paths` names, or of one without a name. `force_exclude` leaves out what the excludes say even
        where it is named. `around` is the folder that is read too, without being reported; None looks at `paths` only.
        `allow_rules`: the rules that the configuration file names may run.
        """
        settings = configuration.load(
            paths, cwd=cwd, config=config, isolated=isolated, overrides=overrides, allow_rules=allow_rules
        )
        if say is not None and (line := not_loaded(settings)):
            say(line)
        nearest = None
        if config is None and not isolated and text is None and paths:
            nearest = Configurations(settings, cwd, overrides, allow_rules)
        return cls.of(
            paths, settings, cwd, text=text, force_exclude=force_exclude, around=around, say=say, nearest=nearest
        )

    @classmethod
    def of(
        cls,
        paths: Sequence[str],
        settings: Settings,
        cwd: str,
        *,
        text: bytes | None = None,
        force_exclude: bool = False,
        around: str | None = AUTO,
        say: Callable[[str], None] | None = None,
        nearest: Configurations | None = None,
    ) -> Project:
        """The same, under settings that are known; `nearest` knows those that hold for a part of the files."""
        notes: list[str] = []
        if text is not None:
            found = [sources.stdin_file(text, paths[0] if paths else "", cwd)]
        else:
            found = sources.discover(
                paths, settings, cwd, force_exclude=force_exclude, on_problem=notes.append, nearest=nearest
            )
        if nearest is not None:
            settings = nearest.over(found)
        return cls(_linked(found, paths, settings, cwd, around), settings, cwd, tuple(notes), say)

    # -- what it holds ------------------------------------------------------------------------------------------

    @property
    def reported(self) -> list[str]:
        """The paths whose findings are shown."""
        return [file.path for file in self.files if file.report]

    @property
    def oddly_named(self) -> list[str]:
        """The files that are reported although they are not called like Python's, relative to `cwd` where they lie in it."""
        start = os.path.join(self.cwd, "")
        return [
            file.absolute[len(start) :]
            for file in self.files
            if file.report and file.absolute.startswith(start) and not file.absolute.endswith(sources.ENDINGS)
        ]

    @cached_property
    def rules(self) -> Sequence[Rule]:
        """Every rule there is: tclint's own, those of packs, those of the project."""
        from tclint.ruleset.loading import load_rules

        return load_rules(self.settings.rules, self.settings.packs, untrusted=self.settings.untrusted)

    def explain(self, words: Iterable[str]) -> list[Rule]:
        """The rules that codes, prefixes, names or Dynamo's graph-break ids speak of, or `UserError`."""
        chosen: dict[str, Rule] = {}
        for word in words:
            found = [
                rule for rule in self.rules if matches(word, rule.code, rule.name) or word.upper() in rule.graph_breaks
            ]
            if not found:
                ids = [gb for rule in self.rules for gb in rule.graph_breaks]
                known = [rule.code for rule in self.rules] + [rule.name for rule in self.rules] + ids
                why = "no rule stands for" if word.upper().startswith("GB") else "no rule is called"
                hint = did_you_mean(word, known) or "; `tclint rule` lists the rules"
                raise UserError(f"{why} {word!r}{hint}")
            chosen.update({rule.code: rule for rule in found})
        return list(chosen.values())

    def text_of(self, path: str) -> str:
        """The text of a file by the path shown; of a notebook, its code cells joined."""
        return self._text(path, joined=True)

    def raw_text_of(self, path: str) -> str:
        """The text of a file as it is; of a notebook, its JSON."""
        return self._text(path, joined=False)

    def holding(self, documents: Mapping[str, bytes]) -> Project:
        """The project in which files hold what an editor has open, by absolute path. Only those are reported."""
        known = {file.absolute: file for file in self.files}
        for absolute, data in documents.items():
            left_out = sources.excluded(absolute, self.settings, self.cwd)
            shown = sources.shown(absolute, self.cwd)
            known[absolute] = InputFile(shown, absolute, explicit=not left_out, report=not left_out, text=data)
        return replace(self, files=sorted(known.values(), key=lambda file: file.path))

    def held(self) -> Project:
        """The project with the bytes of the files that are reported, as they are now."""
        from tclint.run import fixing

        return replace(self, files=fixing.hold(self.files))

    def reporting(self, path: str) -> Project:
        """The project of which one file, by the path shown, is reported."""
        return replace(self, files=[replace(file, report=file.path == path) for file in self.files])

    # -- what it does -------------------------------------------------------------------------------------------

    def lint(self, *, ends: bool = False, progress: Callable[[int, int], None] | None = None) -> Report:
        """The findings: known from an earlier run over the same content, or found now.

        `ends`: the process ends after this, so memory need not be given back. `progress` is told how many of how many
        files are done.
        """
        report = self._lint(self.files, ends, progress)
        if not any(f.fix and f.fix.switch and not f.fix.edits for f in report.findings):
            return report
        from tclint.fixes.switches import resolved

        return replace(report, findings=tuple(resolved(report.findings, self._changeable)))

    def _changeable(self, path: str) -> bytes | None:
        """The bytes of a file that a fix may change; None of one that is not reported, or that is a notebook."""
        file = self._by_path.get(path)
        if file is None or not file.report or path.endswith(".ipynb"):
            return None
        if file.text is not None:
            return file.text
        with open(file.absolute, "rb") as source:
            return source.read()

    def fix(self, *, unsafe: bool = False, write: bool = True, keep: Keep | None = None) -> Done:
        """Apply the fixes to the files that are reported, and say what is left. `keep` is asked about each."""
        from tclint.run import fixing

        return fixing.fix(self.files, self._lint, root=self.settings.root, unsafe=unsafe, write=write, keep=keep)

    def offered(self, report: Report) -> Report:
        """The report of this project with the fixes that pay."""
        from tclint.run import fixing

        return fixing.offered(report, self.files, self._lint)

    def check_selectors(self) -> None:
        """Refuse a selector that names no rule."""
        for settings in self.settings.everywhere():
            own = self if settings is self.settings else replace(self, settings=settings)
            check_selectors(settings, own.rules)

    @cached_property
    def _by_path(self) -> Mapping[str, InputFile]:
        return {file.path: file for file in self.files}

    @cached_property
    def import_roots(self) -> tuple[str, ...]:
        """The folders that absolute imports start from: those of the configuration, and where projects are installed from."""
        return roots.import_roots(self.files, self.settings.src, self.settings.root)

    @cached_property
    def _effective(self) -> Settings:
        return replace(self.settings, src=self.import_roots)

    @cached_property
    def _cache(self) -> Cache | None:
        if self.lasting is not None:
            return self.lasting.cache(self._effective, self.cwd, self.say)
        return open_cache(self._effective, self.cwd, self.say)

    def _lint(
        self,
        files: Sequence[InputFile],
        ends: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        # What follows from libraries is kept with each part: which of their files a run reads is known when it has run.
        known = self._cache.recall(files) if self._cache is not None and not self.settings.python else None
        if known is not None:
            return known
        from tclint.run import engine

        self.check_selectors()
        return engine.lint(
            files, self._effective, cache=self._cache, ends=ends, progress=progress, lasting=self.lasting
        )

    def _text(self, path: str, joined: bool) -> str:
        file = self._by_path.get(path)
        if file is not None and joined and path.endswith(".ipynb"):
            from tclint.sources import cells

            book = cells.texts([file])(path)
            return book.text if book is not None else ""
        if file is not None and file.text is not None:
            return quoted(file.text)
        with open(file.absolute if file else path, "rb") as source:
            return quoted(source.read())


def not_loaded(settings: Settings) -> str:
    """What was not loaded because nobody allowed it to run, and how to allow it; empty where nothing was left out."""
    what = []
    if settings.withheld:
        where = settings.source.get("rules", "the configuration")
        what.append(f"the rules of {where} ({', '.join(settings.withheld)})")
    if left_out := packs.chosen(settings.packs, packs.brought_along(settings.untrusted)):
        what.append(f"the packs {', '.join(map(str, left_out))} of this folder")
    if not what:
        return ""
    return (
        f"not loaded: {' and '.join(what)}: that is code, and would run; where you trust it, say --allow-rules, "
        f"set {trust.ALLOW_VARIABLE}=1 or list the folder in {trust.user_file()}"
    )


def _linked(
    files: list[InputFile], paths: Sequence[str], settings: Settings, cwd: str, around: str | None
) -> list[InputFile]:
    """`files`, found at `paths`, and what is read around them."""
    if around is None:
        return files
    if around != AUTO:
        root = os.path.normpath(os.path.join(cwd, around))
        if not os.path.isdir(root):
            raise InputError(f"--project-root {around}: no such folder")
        return sources.link(files, root, settings, cwd)
    # Text without a name belongs to no project.
    if not files or any(file.path == "-" for file in files):
        return files
    if all(file.explicit for file in files):
        return _around_files(files, settings, cwd)
    return _around_folders(files, paths, settings, cwd)


def _around_files(files: list[InputFile], settings: Settings, cwd: str) -> list[InputFile]:
    # A hook names files of several projects at once.
    found = dict.fromkeys(sources.project_root(file.absolute) for file in files)
    for root in filter(None, found):
        files = sources.link(files, root, settings, cwd)
        if len(files) >= _LARGE:
            files = _of_large(files, root, settings, cwd)
    return files


def _of_large(files: list[InputFile], root: str, settings: Settings, cwd: str) -> list[InputFile]:
    """The files without those of the large project at `root` that have nothing to do with the ones that are reported.

    All of them where an earlier run read all: what it found out about its program holds for this one.
    """
    from tclint.sources.related import related

    import_roots = roots.import_roots(files, settings.src, settings.root)
    cache = open_cache(replace(settings, src=import_roots), cwd)
    if cache is not None and cache.covers(files):
        return files
    return related(files, root, import_roots, cache.said if cache is not None else None)


def _around_folders(files: list[InputFile], paths: Sequence[str], settings: Settings, cwd: str) -> list[InputFile]:
    named = [os.path.normpath(os.path.join(cwd, path)) for path in paths]
    for root in filter(None, dict.fromkeys(map(sources.project_root, named))):
        if root in named:
            continue
        linked = sources.link(files, root, settings, cwd)
        if len(linked) > len(files):
            files = _around_folder(linked, root, settings, cwd)
    return files


def _around_folder(linked: list[InputFile], root: str, settings: Settings, cwd: str) -> list[InputFile]:
    """The files without those of the project at `root` that have nothing to do with the ones that are reported."""
    import_roots = roots.import_roots(linked, settings.src, settings.root)

    def found() -> list[InputFile]:
        from tclint.sources import glance
        from tclint.sources.around import around

        return around(linked, root, import_roots, glance.configured(settings))

    # It follows from the content of all of them: where none changed, none is read.
    cache = open_cache(settings, cwd)
    return found() if cache is None else cache.chosen(("around", root, import_roots), linked, found)


__all__ = ["AUTO", "Project", "not_loaded"]
