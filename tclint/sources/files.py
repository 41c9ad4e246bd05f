"""Which files a run reads: the paths of the command line, folders walked, ignored files left out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from tclint.model.errors import UserError, did_you_mean
from tclint.model.globs import PathMatcher
from tclint.model.settings import Settings
from tclint.sources import ignoring, regular
from tclint.sources.trust import upwards

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

CONFIG_NAMES = ("tclint.toml", "pyproject.toml")
PROJECT_MARKERS = (*CONFIG_NAMES, "setup.py", "setup.cfg", ".git", ".hg")
ENDINGS = (".py", ".ipynb")
"""How the files are called that are looked for in folders."""


class Nearest(Protocol):
    """Who knows the configuration nearest to a path."""

    def above(self, path: str) -> Settings:
        """What holds for a path of the command line."""

    def inside(self, folder: str) -> Settings | None:
        """What a configuration in this very folder says; None where there is none."""


class InputError(UserError):
    """A path of the command line that cannot be read."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of a run."""

    path: str
    """As shown: relative to the folder tclint runs in where possible, with forward slashes."""
    absolute: str
    explicit: bool
    """Named on the command line, not met while walking a folder."""
    report: bool = True
    """False where the file is only linked: its compile sites count, its findings are not shown."""
    text: bytes | None = None
    """The content where it does not come from disk (stdin)."""


def discover(
    paths: Sequence[str],
    settings: Settings,
    cwd: str,
    *,
    force_exclude: bool = False,
    on_problem: Callable[[str], None] | None = None,
    nearest: Nearest | None = None,
) -> list[InputFile]:
    """All Python files and notebooks that `paths` name, each once, sorted by the path shown.

    A path given by name is always taken, whatever the excludes say, unless `force_exclude` (a pre-commit hook names
    files nobody chose). A folder that cannot be listed is told to `on_problem`: the rest is still worth reading.
    `nearest` is asked what holds in folders that may have a configuration of their own; None: `settings` do everywhere.
    """
    walker = _Walker(settings, cwd, on_problem, nearest)
    for path in paths:
        absolute = os.path.normpath(os.path.join(cwd, path))
        walker.enter(absolute)
        if force_exclude and walker.excluded_by_name(absolute):
            continue
        if os.path.isdir(absolute):
            walker.walk(absolute)
        elif regular.is_odd(absolute):
            raise InputError(f"{path}: not a regular file; name files and folders, or - for stdin")
        elif os.path.exists(absolute):
            walker.add(absolute, os.path.realpath(absolute), explicit=True)
        elif os.path.lexists(absolute):
            raise InputError(f"{path}: a link to nothing")
        else:
            raise InputError(f"{path}: no such file or folder{_similar(path, absolute)}")
    return walker.finish()


def _similar(path: str, absolute: str) -> str:
    """A hint at a name that was perhaps meant."""
    folder, name = os.path.split(absolute)
    if not os.path.isdir(folder):
        return f"; there is no folder {os.path.dirname(path)}" if os.path.dirname(path) else ""
    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    hint = did_you_mean(name, names)
    given = os.path.dirname(path)
    return hint.replace("mean '", f"mean '{given}/") if hint and given else hint


def project_root(path: str) -> str | None:
    """The closest folder at or above `path` that looks like the top of a project."""
    for folder in upwards(path if os.path.isdir(path) else os.path.dirname(path)):
        if any(os.path.exists(os.path.join(folder, marker)) for marker in PROJECT_MARKERS):
            return folder
    return None


def link(files: Sequence[InputFile], root: str, settings: Settings, cwd: str) -> list[InputFile]:
    """`files`, plus every other file of the project at `root` as one that is read but not reported."""
    real = _Real()
    known = {real.path(file.absolute) for file in files}
    others = [
        replace(file, report=False, explicit=False)
        for file in discover([root], settings, cwd)
        if real.path(file.absolute) not in known
    ]
    return sorted([*files, *others], key=lambda file: file.path)


class _Real:
    """Where paths lead through links. Many files lie in one folder, which is looked at once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def path(self, path: str) -> str:
        folder, name = os.path.split(path)
        real = self._folders.get(folder)
        if real is None:
            real = self._folders[folder] = os.path.realpath(folder)
        full = os.path.join(real, name)
        return os.path.realpath(full) if os.path.islink(full) else full


def excluded(absolute: str, settings: Settings, cwd: str) -> bool:
    """Whether the excludes leave out a file that an editor or a hook names."""
    return _Walker(settings, cwd, None, None).excluded_by_name(absolute)


def stdin_file(text: bytes, name: str, cwd: str) -> InputFile:
    """What came on stdin, under the name it would have on disk."""
    absolute = os.path.normpath(os.path.join(cwd, name or "<stdin>.py"))
    return InputFile(shown(absolute, cwd) if name else "-", absolute, True, True, text)


def shown(absolute: str, cwd: str) -> str:
    """A path as findings have it: relative to `cwd` where it lies there, with forward slashes."""
    return _display(absolute, os.path.join(cwd, ""))


def _display(absolute: str, start: str) -> str:
    shown = absolute[len(start) :] if absolute.startswith(start) else absolute
    if os.sep != "/":
        shown = shown.replace(os.sep, "/")
    return shown if shown.isprintable() and not _ODD.search(shown) else _escaped(shown)


_ODD = re.compile(r"\\|^(?:::|##)")


def _escaped(name: str) -> str:
    """A name that is shown otherwise than it is, and like no other one.

    Bytes that are not UTF-8 cannot be written down; control characters a terminal would obey, and those that turn the
    direction of text lead its reader astray. At the start of a line `::` and `##` are commands to a CI system.
    """
    text = name.replace("\\", "\\\\").encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f"./{text}" if text.startswith(("::", "##")) else text


class _Walker:
    """Collects files by their real path, so that links and overlapping arguments give each file once."""

    def __init__(
        self, settings: Settings, cwd: str, on_problem: Callable[[str], None] | None, nearest: Nearest | None
    ) -> None:
        self._cwd = os.path.join(cwd, "")
        self._nearest = nearest
        self._excluded = _left_out(settings)
        self._gitignore = settings.respect_gitignore
        self._on_problem = on_problem
        self._files: dict[str, InputFile] = {}
        self._folders: set[str] = set()
        # Links wait until all real folders are walked, so that a file is known by its real place and not by an alias.
        self._links: list[tuple[str, _Ignores]] = []
        self._root = settings.root
        self._tops: set[str] = set()
        """The folders that were asked for, by their real path."""

    def enter(self, absolute: str) -> None:
        """Go on with a path of the command line."""
        if self._nearest is not None:
            self._excluded = _left_out(self._nearest.above(absolute))

    def add(self, absolute: str, real: str, *, explicit: bool) -> None:
        before = self._files.get(real)
        if before is None:
            self._files[real] = InputFile(_display(absolute, self._cwd), absolute, explicit)
        elif explicit and not before.explicit:
            self._files[real] = replace(before, explicit=True)

    def excluded_by_name(self, absolute: str) -> bool:
        """Whether the excludes leave out this path or a folder above it."""
        path = absolute.replace(os.sep, "/")
        while True:
            above, _, name = path.rpartition("/")
            if self._excluded(name, path):
                return True
            # Folders above the working folder are not the project's: `build/` may well hold the whole checkout.
            if len(above) < len(self._cwd):
                return False
            path = above

    def walk(self, top: str) -> None:
        ignores = _Ignores(())
        if self._gitignore:
            ignores = _ignores_above(top)
            if ignores.match(top, folder=True):
                # The folder was asked for by name: the patterns that hide it would hide all it holds.
                ignores = _Ignores(())
        real = os.path.realpath(top)
        self._tops.add(real)
        self._walk(top, real, ignores)

    def finish(self) -> list[InputFile]:
        while self._links:
            absolute, ignores = self._links.pop(0)
            real = os.path.realpath(absolute)
            if os.path.isdir(real):
                # A link to `/` is quickly made; what it leads to is nobody's project.
                if any(_inside(real, home) for home in self._homes):
                    self._walk(absolute, real, ignores)
                elif self._on_problem is not None:
                    shown = _display(absolute, self._cwd)
                    self._on_problem(f"{shown}: not read: a link that leads out of the project; name what it leads to")
            elif real not in self._files:
                self.add(absolute, real, explicit=False)
        return sorted(self._files.values(), key=lambda file: file.path)

    @cached_property
    def _homes(self) -> set[str]:
        """The folders that no link leads out of: what was asked for, the project, the repository that holds it."""
        repository = [folder for folder in upwards(self._root) if os.path.lexists(os.path.join(folder, ".git"))]
        return {*self._tops, *map(os.path.realpath, (self._root, *repository[:1]))}

    def _walk(self, top: str, real_top: str, ignores: _Ignores) -> None:
        stack = [(top, real_top, ignores, self._excluded)]
        slashes = os.sep == "/"
        while stack:
            folder, real, ignores, excluded = stack.pop()
            if real in self._folders:
                continue
            self._folders.add(real)
            entries = self._list(folder)
            if self._gitignore and any(entry.name == ".gitignore" for entry in entries):
                ignores = ignores.below(folder)
            if self._nearest is not None and any(entry.name in CONFIG_NAMES for entry in entries):
                own = self._nearest.inside(folder)
                excluded = _left_out(own) if own is not None else excluded
            start, real_start = os.path.join(folder, ""), os.path.join(real, "")
            for entry in entries:
                name = entry.name
                try:
                    link, is_folder = entry.is_symlink(), entry.is_dir()
                    if not is_folder and not (name.endswith(ENDINGS) and entry.is_file()):
                        continue
                except OSError:
                    continue  # a link that leads back to itself is no file
                path = start + name
                if excluded(name, path if slashes else path.replace(os.sep, "/")):
                    continue
                if ignores and ignores.match(path, folder=is_folder):
                    continue
                if link:
                    self._links.append((path, ignores))
                elif is_folder:
                    stack.append((path, real_start + name, ignores, excluded))
                else:
                    self.add(path, real_start + name, explicit=False)

    def _list(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if self._on_problem is not None:
                self._on_problem(f"{_display(folder, self._cwd)}: not read: {error.strerror}")
            return []


def _left_out(settings: Settings) -> PathMatcher:
    return PathMatcher((*settings.exclude, *settings.extend_exclude), settings.root)


def _inside(path: str, folder: str) -> bool:
    return os.path.join(path, "").startswith(os.path.join(folder, ""))


class _Ignores:
    """The .gitignore files that hold for one folder, outermost first."""

    __slots__ = ("_specs",)

    def __init__(self, specs: tuple[tuple[str, GitIgnoreSpec], ...]) -> None:
        self._specs = specs

    def __bool__(self) -> bool:
        return bool(self._specs)

    def below(self, folder: str, file: str = ".gitignore") -> _Ignores:
        """These, and the ignore file of one more folder."""
        spec = ignoring.read(os.path.join(folder, file))
        return _Ignores((*self._specs, (os.path.join(folder, ""), spec))) if spec is not None else self

    def match(self, path: str, *, folder: bool) -> bool:
        # As in git: the ignore file closest to the path decides, if it says anything.
        for start, spec in reversed(self._specs):
            relative = path[len(start) :]
            if os.sep != "/":
                relative = relative.replace(os.sep, "/")
            verdict = spec.check_file(relative + "/" if folder else relative).include
            if verdict is not None:
                return verdict
        return False


def _ignores_above(top: str) -> _Ignores:
    """What the repository that holds `top` ignores, from its root down to the folder above `top`."""
    above = list(upwards(top))
    for i, folder in enumerate(above):
        git = os.path.join(folder, ".git")
        if os.path.exists(git):
            ignores = _Ignores(())
            exclude = ignoring.read(os.path.join(_git_folder(git), "info", "exclude"))
            if exclude is not None:
                ignores = _Ignores(((os.path.join(folder, ""), exclude),))
            # `top` itself is left to the walk, which reads the .gitignore of every folder it enters.
            for inner in reversed(above[1 : i + 1] if i else []):
                ignores = ignores.below(inner)
            return ignores
    return _Ignores(())


def _git_folder(git: str) -> str:
    """The folder with the shared part of a repository; in a worktree or submodule `.git` is a file that names it."""
    if os.path.isdir(git):
        return git
    named = _line(git).partition("gitdir:")[2].strip()
    if not named:
        # Not a repository that git itself could read: no extra excludes.
        return git
    target = os.path.join(os.path.dirname(git), named)
    common = _line(os.path.join(target, "commondir"))
    return os.path.join(target, common.strip()) if common else target


def _line(path: str) -> str:
    """What a file of one line says, empty where it is no such file."""
    try:
        return (regular.read(path, 10_000) or b"").decode("utf-8")
    except (OSError, ValueError):
        return ""
