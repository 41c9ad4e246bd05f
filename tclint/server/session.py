"""What an editor holds open, linted over the project on disk around it."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tclint.adopt import baseline
from tclint.fixes import apply
from tclint.model.errors import UserError
from tclint.run.lasting import Lasting
from tclint.run.project import Project, not_loaded
from tclint.sources import configuration, files
from tclint.sources.files import InputFile
from tclint.sources.text import encoding_of

if TYPE_CHECKING:
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
        return files.shown(self.document.path, self.folder)


@dataclass(slots=True)
class Session:
    """Lints open documents. Not for two threads at once."""

    folders: list[str] = field(default_factory=list)
    """The folders of the workspace."""
    allow_rules: bool = False
    """The editor said that the rules of its workspace may run."""
    notes: list[str] = field(default_factory=list)
    """What there is to say beside the findings, of the last lint."""
    _on_disk: dict[str, Sequence[InputFile]] = field(default_factory=dict)
    """By its root, the files of a project: they are not looked for again with every key that is typed."""
    _lasting: dict[str, Lasting] = field(default_factory=dict)
    """By its root, what is kept of a project from one lint to the next."""

    @property
    def knows_files(self) -> bool:
        """Whether the files of a project were looked for already: the first time takes longer than a lint while typing."""
        return bool(self._on_disk)

    def forget_files(self) -> None:
        """Files came, went or changed on disk: look again before the next lint."""
        self._on_disk.clear()

    def lint(self, documents: Sequence[Document], only: Container[str] | None = None) -> list[Linted]:
        """Every document, those of one project together: a compile site typed in one speaks for the others.

        `only`: the paths of those that are asked about, where it is not all of them.
        """
        by_root: dict[str, list[Document]] = {}
        for document in documents:
            by_root.setdefault(self._root_of(document), []).append(document)
        results: list[Linted] = []
        self.notes.clear()
        for root in self._lasting.keys() - by_root.keys():
            self._lasting.pop(root).save()
        for root, here in by_root.items():
            wanted = [document for document in here if only is None or document.path in only]
            if not wanted:
                continue
            project = self._project(root, here, wanted)
            findings = project.lint().findings
            for document in wanted:
                own = files.shown(document.path, project.cwd)
                results.append(Linted(document, tuple(f for f in findings if f.path == own), project.cwd))
        return results

    def save(self) -> None:
        """Write down what was found out, for the next server and for the command line."""
        for lasting in self._lasting.values():
            lasting.save()

    def fix_all(self, document: Document, others: Iterable[Document]) -> str:
        """The text of a document after every safe fix, as `--fix` would leave it."""
        around = [d for d in others if d.path != document.path]
        held = [document, *around]
        project = self._project(self._root_of(document), held, held)
        own = files.shown(document.path, project.cwd)
        after = project.reporting(own).fix(write=False).fixed.contents.get(own)
        return document.text if after is None else after.decode(encoding_of(after))

    def rules(self, path: str) -> dict[str, Rule]:
        """The rules that hold for a file, by code."""
        settings = configuration.load([path], cwd=os.path.dirname(path), allow_rules=self.allow_rules)
        return {rule.code: rule for rule in Project((), settings, os.path.dirname(path)).rules}

    def _root_of(self, document: Document) -> str:
        """The project a document belongs to. A file without one stands alone: it is its own."""
        holding = [folder for folder in self.folders if document.path.startswith(os.path.join(folder, ""))]
        return files.project_root(document.path) or max(holding, key=len, default=document.path)

    def _project(self, root: str, documents: Sequence[Document], wanted: Sequence[Document]) -> Project:
        """The project on disk, with what the editor holds in place of some files; of these, the wanted ones are reported."""
        cwd = root if os.path.isdir(root) else os.path.dirname(root)
        # A fork in the middle of a server with threads is asking for trouble.
        settings = replace(configuration.load([documents[0].path], cwd=cwd, allow_rules=self.allow_rules), jobs=1)
        if line := not_loaded(settings):
            self.notes.append(f"{line}, or have the editor send `allowRules`")
        if root not in self._on_disk:
            self._on_disk[root] = Project.of((), settings, cwd, around=root).files if cwd == root else ()
        lasting = self._lasting.setdefault(root, Lasting())
        on_disk = Project(self._on_disk[root], settings, cwd, lasting=lasting)
        held = on_disk.holding({document.path: document.data for document in documents})
        if len(wanted) == len(documents):
            return held
        paths = {document.path for document in wanted}
        return replace(held, files=[replace(f, report=f.report and f.absolute in paths) for f in held.files])


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
    except UserError:
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
