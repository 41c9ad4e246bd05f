"""All modules of a run: which one an import means, whose trees are in memory, which were asked for."""

from __future__ import annotations

import os
from collections import OrderedDict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final, Protocol

from tclint.program.asking import Answers, Question
from tclint.program.kept_facts import Facts
from tclint.program.kept_index import Kept
from tclint.program.libraries import Libraries, is_read
from tclint.program.module import Data, Module
from tclint.program.portions import Fact, Lines, Named, Outline
from tclint.program.symbols import Class, Function, FunctionNode, Lookup

Touched = Module | Question | Outline | Named | Function | Class | Fact | Lines
"""A file, or some of it, or what was asked of all."""
_KEPT_LINES: Final = 150_000  # of whole files, 1.3 kB each: a run over a million lines stays below 600 MiB
_LASTING_LINES: Final = (
    270_000  # of those files, beside the others, of which what is concluded of one hangs on the others
)
_KEPT_FUNCTION_LINES: Final = 40_000  # of functions read again


class Indexes(Protocol):
    """Keeps indexes by what files hold, as plain values (see `kept_index`), and facts about them (`kept_facts`)."""

    def recall(self, module: Module) -> Kept | None: ...

    def keep(self, module: Module, kept: Kept) -> None: ...

    def facts(self, module: Module) -> Facts: ...

    def keep_facts(self, module: Module, facts: Facts) -> None: ...


class Program:
    """All modules of a run, by path and by dotted name."""

    def __init__(self) -> None:
        self.modules: list[Module] = []
        self.touched: set[Touched] = set()
        """What of which files was asked for, and what was asked of all. What a result was read from it depends on."""
        self.by_place: dict[str, Module] = {}
        self._words: set[str] = set()
        """The last words of the places: what an import must end with to mean a file."""
        self._resolved: dict[tuple[str, str], Module | None] = {}
        self._decided: dict[tuple[str, str], list[Module]] = {}
        """The files whose content decides what an import means."""
        self._recent: OrderedDict[str, tuple[Module, int]] = OrderedDict()
        self._kept = 0
        self.lasting: Container[str] = ()
        """Files that are gone through together: what is known of one names nodes of the others, so their trees stay."""
        self._lasting_lines: dict[str, int] = {}
        self._functions: deque[tuple[Function, int]] = deque()
        self._kept_functions = 0
        self._top = ""
        self._roots: list[tuple[str, str]] = []
        self._indexes: dict[object, object] = {}
        self.libraries: Libraries | None = None
        self._of_libraries: dict[str, Module | None] = {}
        """The files of libraries that were asked for, by dotted name. None of `modules`: nothing is asked of all of them."""
        self.answered: dict[Question, Answers] = {}
        """What was said to questions to all files."""
        self.looked_up: dict[object, Mapping[str, Mapping[str, Any]]] = {}
        """By what makes them, the tables of all files in one: by word and path, what they say (see `asking.looking_up`)."""
        self.indexes: Indexes | None = None
        """Who keeps the indexes of files."""
        self.digested: dict[tuple[str, bytes, tuple[str, ...], bool], str] = {}
        """What pieces of files are known to come to (see `portions.digest`), by the file and what of it they are."""
        self.crossing: list[tuple[dict[Any, Any], object]] = []
        """Where something is kept, and under which key, that was found out about one file with the help of others."""

    @classmethod
    def build(
        cls, files: Sequence[tuple[str, str, Data, bool]], roots: Sequence[str] = (), libraries: Libraries | None = None
    ) -> Program:
        """From (display path, absolute path, content, report), in any order.

        `roots` are folders that absolute imports may start from, beside those above the importing file, and packages that
        may be imported from anywhere. Files of `libraries` are read when a name out of them is asked for.
        """
        program = cls()
        program.libraries = libraries
        packages = {os.path.dirname(a) for _, a, *_ in files if a.endswith(os.sep + "__init__.py")}
        dotted = _Dotted(packages)
        for path, absolute, data, report in sorted(files, key=lambda file: file[:2]):
            name, root = dotted.of(absolute)
            module = Module(program, path, absolute, name, root, data, report)
            program.modules.append(module)
            place = absolute[:-12] if module.is_package else os.path.splitext(absolute)[0]
            program.by_place[place] = module
            program._words.add(os.path.basename(place))
        # A package that is installed by itself says nothing of what lies beside it.
        program._roots = [(os.path.dirname(r), os.path.basename(r)) if r in packages else (r, "") for r in roots]
        program._top = os.path.commonpath([m.directory for m in program.modules]) if program.modules else ""
        return program

    def renew(self, files: Iterable[tuple[str, str, Data, bool]]) -> None:
        """Give some files of the program another content, for a run that comes after another one in the same process.

        What was found out about the others stays as far as it hangs on nothing but them: their trees, what they define. What
        was concluded from them goes.
        """
        new: dict[str, Module] = {}
        for path, absolute, data, report in files:
            old = self.by_path[path]
            made = new[path] = Module(self, path, absolute, old.name, old.root, data, report)
            self.by_path[path] = made
            self.by_place[absolute[:-12] if made.is_package else os.path.splitext(absolute)[0]] = made
            self._lasting_lines.pop(path, None)
            if path in self._recent:
                self._kept -= self._recent.pop(path)[1]
        self.modules = [new.get(module.path, module) for module in self.modules]
        for key, decided in list(self._decided.items()):
            if any(module.path in new for module in decided):
                del self._decided[key], self._resolved[key]
        for key, module in self._resolved.items():
            if module is not None and module.path in new:
                self._resolved[key] = new[module.path]
        held = [(function, lines) for function, lines in self._functions if function.module.path not in new]
        self._functions, self._kept_functions = deque(held), sum(lines for _, lines in held)
        for table, build in self.crossing:
            table.pop(build, None)
        self.crossing.clear()
        for module in self.modules:
            module.constants = {}
        self.touched = set()
        self._indexes.clear()
        self._of_libraries.clear()
        self.answered.clear()
        self.looked_up.clear()
        self.digested.clear()

    def find(self, importer: Module, dotted: str) -> Module | None:
        """The module that `import dotted` in `importer` means, if it is one of the program's; in a library, of the libraries'."""
        if importer.library:
            return self.installed(dotted)
        key = (importer.directory, dotted)
        if key not in self._resolved:
            self._resolved[key] = self._find(importer, dotted)
        self.touched.update(self._decided.get(key, ()))
        return self._resolved[key]

    def installed(self, dotted: str) -> Module | None:
        """The module of a library that is installed, where libraries are read."""
        if self.libraries is None:
            return None
        if dotted not in self._of_libraries:
            path = self.libraries.file_of(dotted)
            made = (
                Module(self, path, path, dotted, self.libraries.folder, _bytes_of(path), False, True) if path else None
            )
            self._of_libraries[dotted] = made
        return self._of_libraries[dotted]

    def _find(self, importer: Module, dotted: str) -> Module | None:
        # Wherever it starts from: most names are a library's, or what a file defines.
        if dotted.rpartition(".")[2] not in self._words:
            return None
        relative = dotted.replace(".", os.sep)
        # The folder that holds the importer's package first, then those above it: one of them is on sys.path. Folders
        # inside the package are not: `import logging` in pkg/utils/logging.py means the standard library.
        folder = importer.root
        candidates = []
        while len(folder) >= len(self._top) and folder not in ("", os.sep):
            candidates.append(folder)
            folder = os.path.dirname(folder)
        candidates.append(os.path.dirname(self._top))
        for base in candidates:
            found = self.by_place.get(os.path.join(base, relative))
            if found is not None:
                return found
        return self._installed(importer, dotted) or self._below_top(importer, dotted) or self._beside(importer, dotted)

    def _below_top(self, importer: Module, dotted: str) -> Module | None:
        """What lies in the folder of the whole program, where that folder is a package itself: by an `__init__.py` that nobody
        needs, beside the packages and scripts that start their imports there.

        A single word may mean a library whose name a file of the package has too, except within that package. The standard
        library, torch and what else is not read as text mean themselves even there: `import torch` in pkg/torch/layer.py.
        """
        first, _, rest = dotted.partition(".")
        if self._top not in self.by_place or not self.by_place[self._top].is_package or not is_read(first):
            return None
        if not rest and not f"{importer.directory}{os.sep}".startswith(os.path.join(self._top, first, "")):
            return None
        return self.by_place.get(os.path.join(self._top, dotted.replace(".", os.sep)))

    def _beside(self, importer: Module, dotted: str) -> Module | None:
        """What lies in a folder of the importer's package that its `__init__.py` puts on sys.path: `import utils` means a neighbour."""
        folder, relative = importer.directory, dotted.replace(".", os.sep)
        while len(folder) > len(importer.root):
            package = self.by_place.get(folder)
            found = self.by_place.get(os.path.join(folder, relative))
            if package is not None and found is not None and found is not importer:
                self._decided.setdefault((importer.directory, dotted), []).append(package)
                if b"sys.path" in package.data:
                    return found
            folder = os.path.dirname(folder)
        return None

    def _installed(self, importer: Module, dotted: str) -> Module | None:
        """What the closest root has; nothing where several are as close, as nobody knows which one is installed."""
        first, relative = dotted.partition(".")[0], dotted.replace(".", os.sep)
        near: dict[int, dict[str, Module]] = {}
        for root, only in self._roots:
            found = self.by_place.get(os.path.join(root, relative)) if only in ("", first) else None
            if found is not None:
                near.setdefault(len(os.path.commonpath([root, importer.directory])), {})[found.path] = found
        closest = list(near[max(near)].values()) if near else []
        return closest[0] if len(closest) == 1 else None

    def index(self, build: Callable[[Program], Lookup]) -> Lookup:
        """What `build` makes of all files, made once. Whoever asks depends on every file."""
        if build not in self._indexes:
            self._indexes[build] = build(self)
        self.touched.update(self.modules)
        return self._indexes[build]  # type: ignore[return-value]

    def answers(self, scan: Callable[..., Any], *args: Any) -> Answers:
        """By path, what `scan` says of the files of which it says something. Whoever asks depends on that alone.

        `scan` is a function at the top of its module; `args` and what it gives are plain values.
        """
        question = Question(scan, args)
        if question not in self.answered:
            with self.unwatched():
                self.answered[question] = Answers(question.of_all(self))
        self.touched.add(question)
        return self.answered[question]

    def names_lines(self, paths: Iterable[str], *, elsewhere: bool = False) -> None:
        """Note that somebody keeps lines of these files: it counts where that stands which was read of them.

        `elsewhere`: he need not have read what stands there, he was told.
        """
        for module in filter(None, map(self.by_path.get, paths)):
            self.touched.add(module.placed)
            if elsewhere:
                self.touched.add(module.outline)

    @contextmanager
    def watched(self) -> Iterator[set[Touched]]:
        """What is touched from here to the end of the block."""
        outer, self.touched = self.touched, set()
        try:
            yield self.touched
        finally:
            # What many parts need is kept longer than what one did.
            used = {
                each.path if type(each) is Module else each.module.path  # type: ignore[union-attr]
                for each in self.touched
                if type(each) is not Question
            }
            for path in sorted(used & self._recent.keys()):
                self._recent.move_to_end(path)
            outer |= self.touched
            self.touched = outer

    @contextmanager
    def unwatched(self) -> Iterator[set[Touched]]:
        """What is touched in this block is nobody else's business; whoever opens it may look."""
        outer, self.touched = self.touched, set()
        try:
            yield self.touched
        finally:
            self.touched = outer

    @cached_property
    def by_path(self) -> dict[str, Module]:
        """The files by their paths."""
        return {module.path: module for module in self.modules}

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files. They tell modules apart; separate projects may use the same dotted name."""
        return frozenset(module.path for module in self.modules)

    def keep(self, module: Module) -> None:
        """Note that a module's tree is in memory, and drop the least recently parsed ones beyond the bound."""
        if module.path in self._recent:
            self._recent.move_to_end(module.path)
            return
        lines = module.raw.count(b"\n") + 1
        if module.path in self.lasting and sum(self._lasting_lines.values()) + lines <= _LASTING_LINES:
            self._lasting_lines[module.path] = lines
            return
        self._recent[module.path] = (module, lines)
        self._kept += lines
        most = max(_KEPT_LINES - sum(self._lasting_lines.values()), _KEPT_LINES // 3)
        while self._kept > most and len(self._recent) > 1:
            # How long it is was noted: whoever makes room must not come to depend on what had to go.
            _, (oldest, lines) = self._recent.popitem(last=False)
            self._kept -= lines
            oldest.forget()

    def release(self) -> None:
        """The files that are gone through together have been, for now: where they are many their trees go, and the next time all
        are new."""
        if sum(self._lasting_lines.values()) <= _KEPT_LINES // 3:
            return
        for path in self._lasting_lines:
            self.by_path[path].forget()
        for function, _ in self._functions:
            if function.module.path in self._lasting_lines:
                function.forget()
        held = [
            (function, lines) for function, lines in self._functions if function.module.path not in self._lasting_lines
        ]
        self._functions, self._kept_functions = deque(held), sum(lines for _, lines in held)
        self._lasting_lines.clear()

    def keep_function(self, function: Function, node: FunctionNode) -> None:
        """The same for a function's node."""
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        self._functions.append((function, lines))
        self._kept_functions += lines
        while self._kept_functions > _KEPT_FUNCTION_LINES and len(self._functions) > 1:
            oldest, size = self._functions.popleft()
            self._kept_functions -= size
            oldest.forget()


def _bytes_of(path: str) -> Data:
    def read() -> bytes:
        try:
            with open(path, "rb") as stream:
                return stream.read()
        except OSError:
            return b""  # it is being installed anew

    return read


class _Dotted:
    """The dotted names of files, and the folders they count from."""

    def __init__(self, packages: Container[str]) -> None:
        self._packages = packages
        self._known: dict[str, tuple[str, str]] = {}
        """Of folders: what is before the names of their files, and where that counts from."""

    def of(self, absolute: str) -> tuple[str, str]:
        folder, base = os.path.split(absolute)
        stem = os.path.splitext(base)[0]
        before, root = self._folder(folder)
        return (before[:-1] or stem, root) if stem == "__init__" else (before + stem, root)

    def _folder(self, folder: str) -> tuple[str, str]:
        known = self._known.get(folder)
        if known is None:
            if folder in self._packages:
                above, name = os.path.split(folder)
                before, root = self._folder(above)
                known = (f"{before}{name}.", root)
            else:
                known = ("", folder)
            self._known[folder] = known
        return known
