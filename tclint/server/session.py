"""What an editor holds open, linted over the project on disk around it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tclint.adopt import baseline
from tclint.fixes import apply
from tclint.model import config
from tclint.run import engine
from tclint.run.store import open_cache
from tclint.sources import files
from tclint.sources.files import InputFile
from tclint.sources.text import encoding_of

if TYPE_CHECKING:
    from tclint.model.config import Settings
    from tclint.model.finding import Finding
    from tclint.ruleset.rule import Rule


@dataclass(frozen=True, slots=True)
class Document:
    """A text in the editor. `path` is absolute."""

    path: str
    text: str
    version: int = 0

    @property
    def data(self) -> bytes:
        """The bytes the file would have on disk. What its encoding lacks is replaced, so that no column moves."""
        try:
            encoding = encoding_of(self.text.encode("utf-8", "replace"))
            return self.text.encode(encoding, "replace")
        except (SyntaxError, LookupError):  # the engine says what is wrong with the coding line
            return self.text.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Linted:
    """What is known about one document."""

    document: Document
    findings: tuple[Finding, ...]
    """Their paths are relative to `folder`."""
    folder: str

    def absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, path))

    @property
    def shown(self) -> str:
        """The document's path as the findings have it."""
        return _shown(self.document.path, self.folder)


@dataclass(slots=True)
class Session:
    """Lints open documents. Not for two threads at once."""

    folders: list[str] = field(default_factory=list)
    """The folders of the workspace."""
    _projects: dict[str, list[InputFile]] = field(default_factory=dict)

    def forget_files(self) -> None:
        """Files came, went or changed on disk: look again before the next lint."""
        self._projects.clear()

    def lint(self, documents: Sequence[Document]) -> list[Linted]:
        """Every document, those of one project together: a compile site typed in one speaks for the others."""
        by_root: dict[str | None, list[Document]] = {}
        for document in documents:
            root = files.project_root(document.path) or self._folder_of(document.path)
            # A file without a project stands alone.
            by_root.setdefault(root or document.path, []).append(document)
        results: list[Linted] = []
        for root, here in by_root.items():
            assert root is not None
            inputs, settings, cwd = self._inputs(root, here)
            findings = self._findings(inputs, settings, cwd)
            for document in here:
                own = _shown(document.path, cwd)
                results.append(Linted(document, tuple(f for f in findings if f.path == own), cwd))
        return results

    def fix_all(self, document: Document, others: Iterable[Document]) -> str:
        """The text of a document after every safe fix, as `--fix` would leave it."""
        root = files.project_root(document.path) or self._folder_of(document.path) or document.path
        around = [d for d in others if d.path != document.path]
        inputs, settings, cwd = self._inputs(root, [document, *around])
        own = _shown(document.path, cwd)
        inputs = [replace(each, report=each.path == own) for each in inputs]
        before = document.data

        def lint(contents: Mapping[str, bytes]) -> Sequence[Finding]:
            now = [replace(f, text=contents[f.path]) if f.path in contents else f for f in inputs]
            return self._findings(now, settings, cwd)

        fixed = apply.run(lint, lambda path: before)
        after = fixed.contents.get(own)
        return document.text if after is None else after.decode(encoding_of(after))

    def rules(self, path: str) -> dict[str, Rule]:
        """The rules that hold for a file, by code."""
        from tclint.ruleset.loading import load_rules

        settings = config.load([path], cwd=os.path.dirname(path))
        return {rule.code: rule for rule in load_rules(settings.rules, settings.packs)}

    def _findings(self, inputs: Sequence[InputFile], settings: Settings, cwd: str) -> Sequence[Finding]:
        cache = open_cache(settings, cwd)
        known = cache.recall(inputs) if cache is not None else None
        return (known or engine.lint(inputs, settings, cache=cache)).findings

    def _folder_of(self, path: str) -> str | None:
        holding = [folder for folder in self.folders if path.startswith(os.path.join(folder, ""))]
        return max(holding, key=len) if holding else None

    def _inputs(self, root: str, documents: Sequence[Document]) -> tuple[list[InputFile], Settings, str]:
        """The files of one run: the project's, with what the editor holds in place of what is on disk."""
        cwd = root if os.path.isdir(root) else os.path.dirname(root)
        settings = config.load([documents[0].path], cwd=cwd)
        # A fork in the middle of a server with threads is asking for trouble.
        settings = replace(settings, jobs=1)
        linked: dict[str, InputFile] = {}
        if os.path.isdir(root):
            linked = {file.absolute: file for file in self._project(root, settings)}
        for document in documents:
            left_out = files.excluded(document.path, settings, cwd)
            linked[document.path] = InputFile(
                _shown(document.path, cwd),
                document.path,
                explicit=not left_out,
                report=not left_out,
                text=document.data,
            )
        return sorted(linked.values(), key=lambda file: file.path), settings, cwd

    def _project(self, root: str, settings: Settings) -> list[InputFile]:
        if root not in self._projects:
            found = files.discover([root], settings, root)
            self._projects[root] = [replace(file, report=False, explicit=False) for file in found]
        return self._projects[root]


def _shown(path: str, folder: str) -> str:
    start = os.path.join(folder, "")
    return (path[len(start) :] if path.startswith(start) else path).replace(os.sep, "/")


def fixed_by(document: Document, finding: Finding) -> str | None:
    """The text of a document after the fix of one finding; None where it cannot be applied here."""
    if finding.fix is None or not finding.fix.edits or any(e.path != finding.path for e in finding.fix.edits):
        return None
    try:
        after = apply.apply_edits(document.data, finding.fix.edits)
    except apply.CannotApply:
        return None
    return None if apply.parses(after) else after.decode(encoding_of(after))


def ignored(document: Document, finding: Finding) -> str | None:
    """The text of a document with the comment that silences one finding; None where no comment fits."""
    try:
        done = baseline.add_ignores(document.data, [finding])
    except config.UserError:
        return None
    return done.data.decode(encoding_of(done.data)) if done.written else None


Change = tuple[int, int, str]
"""Replace text[start:end] by a text."""


def change(before: str, after: str) -> list[Change]:
    """The lines that differ, as few replacements as there are separate places."""
    import difflib

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        _narrowed(starts[i1], "".join(old[i1:i2]), "".join(new[j1:j2]))
        for what, i1, i2, j1, j2 in matcher.get_opcodes()
        if what != "equal"
    ]


def _narrowed(at: int, old: str, new: str) -> Change:
    """The same replacement without what both have at their start and end."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    # "\r\n" is one line end to an editor: do not cut it in two.
    if start and old[start - 1 : start] == "\r":
        start -= 1
    if end and old[len(old) - end] == "\n" and (old[len(old) - end - 1 : len(old) - end] == "\r"):
        end -= 1
    return at + start, at + len(old) - end, new[start : len(new) - end]
