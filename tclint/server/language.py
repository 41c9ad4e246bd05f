"""The protocol, spoken with pygls. Lints run on one thread of their own; nothing that goes wrong there ends the server."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
import zlib
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from tclint import __version__
from tclint.model.errors import UserError
from tclint.model.finding import Applicability, Effect, Finding
from tclint.ruleset.loading import RuleError
from tclint.ruleset.rule import Rule
from tclint.server import books, spots, wording
from tclint.server import session as sessions
from tclint.server.handlers import plain, said
from tclint.server.session import Document, Linted, Session

FIX_ALL = "source.fixAll.tclint"
_STACK = 64 << 20
_PATIENCE = 5.0
"""Seconds that a question of the editor waits for a lint."""
_BOOKS = types.NotebookDocumentSyncOptions(
    [
        types.NotebookDocumentFilterWithCells(
            [types.NotebookCellLanguage("python")], types.NotebookDocumentFilterNotebookType("jupyter-notebook")
        )
    ],
    save=True,
)
_WATCHED = ("**/*.py", "**/*.ipynb", "**/tclint.toml", "**/pyproject.toml")

T = TypeVar("T")


class Language:
    """One connection: the open documents, and what was found in them."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        # The whole text with each change: pygls cuts lines at form feeds, where neither Python nor editors do.
        whole = types.TextDocumentSyncKind.Full
        self.server = LanguageServer("tclint", __version__, whole, notebook_document_sync=_BOOKS)
        self.ended = False
        self.session = Session()
        self.documents: dict[str, Document] = {}
        self.linted: dict[str, Linted] = {}
        """Of documents, and of the cells of notebooks."""
        self.books: dict[str, books.Book] = {}
        """A notebook is a document of its own, too: the file that Jupyter would write."""
        self._rules: dict[str, dict[str, Rule]] = {}
        self._waiting: asyncio.TimerHandle | None = None
        self._told: set[str] = set()
        self._queued = False
        self._saves = True
        """Whether what the next lint finds out is to be written down: it is about texts that lie on disk."""
        self._shown = 0
        self._turn = asyncio.Lock()
        """Held while a lint runs: those who type faster than that do not make a queue."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._worker = ThreadPoolExecutor(1, "tclint-lint", initializer=None)
        # Interpretation nests deeply, and threads have small stacks on some systems.
        before = threading.stack_size(_STACK)
        self._worker.submit(int).result()
        threading.stack_size(before)
        self._register()

    def _register(self) -> None:
        def feature(name: str, handler: Callable[..., Any], options: Any = None) -> None:
            self.server.feature(name, options)(plain(handler))

        feature(types.INITIALIZE, self.initialize)
        feature(types.INITIALIZED, self.initialized)
        feature(types.SHUTDOWN, self.shutdown)
        feature(types.TEXT_DOCUMENT_DID_OPEN, self.did_open)
        feature(types.TEXT_DOCUMENT_DID_CHANGE, self.did_change)
        feature(types.TEXT_DOCUMENT_DID_SAVE, self.did_save)
        feature(types.TEXT_DOCUMENT_DID_CLOSE, self.did_close)
        feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self.files_changed)
        feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self.folders_changed)
        feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION, self.configuration_changed)
        feature(types.NOTEBOOK_DOCUMENT_DID_OPEN, self.book_opened)
        feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE, self.book_changed)
        feature(types.NOTEBOOK_DOCUMENT_DID_SAVE, self.did_save)
        feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE, self.book_closed)
        feature(types.TEXT_DOCUMENT_HOVER, self.hover)
        # A compile site in one file is a reason for findings in another.
        pulled = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False)
        feature(types.TEXT_DOCUMENT_DIAGNOSTIC, self.diagnostic, pulled)
        kinds = types.CodeActionOptions(
            code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True
        )
        feature(types.TEXT_DOCUMENT_CODE_ACTION, self.code_actions, kinds)
        feature(types.CODE_ACTION_RESOLVE, self.resolve)

    # -- what the editor tells --------------------------------------------------------------------------------

    def initialize(self, params: Any) -> None:
        self.session.allow_rules = said(params.initialization_options, "allowRules") is True

    def initialized(self, params: Any) -> None:
        self._know_folders()
        capabilities = self.server.client_capabilities.workspace
        watching = capabilities.did_change_watched_files if capabilities else None
        if watching is not None and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(glob_pattern=glob) for glob in _WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            self.server.client_register_capability(
                types.RegistrationParams(
                    [types.Registration("tclint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)]
                )
            )

    async def shutdown(self, *params: Any) -> None:
        self.ended = True
        if self._waiting is not None:
            self._waiting.cancel()
        if not self._turn.locked():
            # Who ends an editor does not wait for long.
            await asyncio.wait({asyncio.ensure_future(self._in_worker("writing", self.session.save))}, timeout=1.0)

    def did_open(self, params: Any) -> None:
        item = params.text_document
        if not self._hold(item.uri, item.text, item.version):
            return
        self.session.forget_files()
        self._schedule(0)

    def did_change(self, params: Any) -> None:
        uri = params.text_document.uri
        if uri in self.documents:
            text = self.server.workspace.get_text_document(uri).source
            self._hold(uri, text, params.text_document.version)
            self._schedule(self.delay)

    def did_save(self, params: Any) -> None:
        self._saves = True
        self._look_again()

    def files_changed(self, params: Any) -> None:
        self._look_again()

    def folders_changed(self, params: Any) -> None:
        self._know_folders()
        self._look_again()

    def configuration_changed(self, params: Any) -> None:
        allowed = said(said(params.settings, "tclint"), "allowRules")
        if isinstance(allowed, bool):
            self.session.allow_rules = allowed
        self._look_again()

    def _know_folders(self) -> None:
        workspace = self.server.workspace
        found = [to_fs_path(uri) for uri in workspace.folders] or [workspace.root_path]
        self.session.folders = [os.path.normpath(folder) for folder in found if folder]

    def book_opened(self, params: Any) -> None:
        document = params.notebook_document
        path = to_fs_path(document.uri)
        if path and document.uri.startswith("file:") and path.endswith(".ipynb"):
            self._hold_book(document.uri, books.opened(os.path.normpath(path), document, params.cell_text_documents), 0)

    def book_changed(self, params: Any) -> None:
        uri, version = params.notebook_document.uri, params.notebook_document.version
        if uri in self.books:
            after = books.changed(self.books[uri], version, params.change, self._encoding)
            self._forget_cells(uri, {cell.uri for cell in after.cells if cell.code})
            self._hold_book(uri, after, self.delay)

    def book_closed(self, params: Any) -> None:
        uri = params.notebook_document.uri
        if uri in self.books:
            self._forget_cells(uri, set())
            del self.books[uri], self.documents[uri]
            self.linted.pop(uri, None)
            self._schedule(self.delay)

    def _hold_book(self, uri: str, book: books.Book, delay: float) -> None:
        self.books[uri], self.documents[uri] = book, book.document
        self._schedule(delay)

    def _forget_cells(self, uri: str, kept: set[str]) -> None:
        for cell in self.books[uri].cells:
            if cell.code and cell.uri not in kept:
                self.linted.pop(cell.uri, None)
                self._publish(cell.uri, [], None)

    def did_close(self, params: Any) -> None:
        uri = params.text_document.uri
        if self.documents.pop(uri, None) is not None:
            self.linted.pop(uri, None)
            self._publish(uri, [], None)
            self._schedule(self.delay)

    def _look_again(self) -> None:
        self.session.forget_files()
        self._rules.clear()
        self._told.clear()
        self._schedule(0)

    def _hold(self, uri: str, text: str, version: int) -> bool:
        path = to_fs_path(uri)
        # A cell of a notebook, a text in git's past: nothing on disk that a project could be found around.
        if not path or not uri.startswith("file:") or not path.endswith((".py", ".pyi")):
            return False
        self.documents[uri] = Document(os.path.normpath(path), text, version)
        return True

    # -- linting ----------------------------------------------------------------------------------------------

    def _schedule(self, delay: float) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(delay, self._start)

    def _start(self) -> None:
        self._waiting = None
        if self._queued:
            return  # one that has not begun yet will see the newest texts
        self._queued = True
        self._keep(self._lint())

    async def _lint(self) -> None:
        """Lint everything that is open, and show what was found in texts that have not changed since."""
        async with self._turn:
            self._queued = False
            await self._lint_now()

    async def _lint_now(self, whole: bool = False) -> None:
        """Lint what was edited, or what is open where that is all the same; `whole`: everything that is open."""
        if not self.documents:
            return
        snapshot = list(self.documents.values())
        # Who types looks at one text: what that means for the others may wait.
        edited = {document.path for uri, document in self.documents.items() if self._stale(uri)}
        only = edited if 0 < len(edited) < len(snapshot) and not whole else None
        begun = await self._progress("reading the project") if not self.session.knows_files else ""
        results = await self._in_worker("lint", lambda: self.session.lint(snapshot, only))
        if begun:
            self.server.work_done_progress.end(begun, types.WorkDoneProgressEnd())
        for note in self.session.notes:
            self._tell(types.MessageType.Warning, f"tclint: {note}")
        await self._show(results or ())
        if results is None:
            return
        if only is not None:
            self._keep(self._lint_rest())
            return
        if self._pulls and self._refreshes and results:
            self.server.workspace_diagnostic_refresh(None)
        if self._saves:
            self._saves = False
            await self._in_worker("writing", self.session.save)

    async def _lint_rest(self) -> None:
        """Lint what is open beside the texts that were edited, if nobody has edited any since."""
        async with self._turn:
            if not self._queued:
                await self._lint_now(whole=True)

    async def _show(self, results: Iterable[Linted]) -> None:
        """Tell what was found in documents that have not changed since."""
        uris = {document.path: uri for uri, document in self.documents.items()}
        for linted in results:
            if linted.document.path not in uris:
                continue  # closed meanwhile
            uri = uris[linted.document.path]
            if self.documents.get(uri) is linted.document:
                self.linted[uri] = linted
                await self._know_rules(linted.document.path)
                told = self.books[uri].told(linted) if uri in self.books else {uri: linted}
                self.linted |= told
                for place, each in told.items():
                    self._publish(place, self._diagnostics(each), each.document.version)

    async def _progress(self, what: str) -> str:
        """Tell the editor that something takes a while; gives the name to end it by, or nothing where none is shown."""
        window = self.server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return ""
        self._shown += 1
        token = f"tclint-{self._shown}"
        made = asyncio.ensure_future(self.server.work_done_progress.create_async(token))
        await asyncio.wait({made}, timeout=1.0)
        if not made.done() or made.exception() is not None:
            return ""
        self.server.work_done_progress.begin(token, types.WorkDoneProgressBegin(f"tclint: {what}"))
        return token

    async def _current(self, uri: str, patience: float | None = _PATIENCE) -> Linted | None:
        """What is known about a document, or a cell of one, as it stands now."""
        owner = next((book for book, held in self.books.items() if any(c.uri == uri for c in held.cells)), uri)
        if owner not in self.documents:
            return None
        if self._stale(owner):
            # In a large project that takes a while: an editor that waits for a menu should not wait for it.
            await asyncio.wait({self._keep(self._lint_if_stale(owner))}, timeout=patience)
        return None if self._stale(owner) else self.linted.get(uri)

    def _stale(self, uri: str) -> bool:
        linted = self.linted.get(uri)
        return linted is None or linted.document is not self.documents.get(uri)

    async def _lint_if_stale(self, uri: str) -> None:
        async with self._turn:
            if self._stale(uri):
                await self._lint_now()

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task that is not forgotten before it is done."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _in_worker(self, what: str, call: Callable[[], T]) -> T | None:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, call)
        except (UserError, RuleError) as error:
            self._tell(types.MessageType.Error, f"tclint: {error}")
        except Exception as error:
            self._log(traceback.format_exc())
            detail = " ".join(str(error).split())
            self._tell(types.MessageType.Error, f"tclint: {what} failed: {type(error).__name__}: {detail}")
        return None

    async def _know_rules(self, path: str) -> dict[str, Rule]:
        folder = os.path.dirname(path)
        if folder not in self._rules:
            self._rules[folder] = await self._in_worker("loading the rules", lambda: self.session.rules(path)) or {}
        return self._rules[folder]

    def _tell(self, kind: Any, text: str) -> None:
        # The same complaint with every letter typed helps nobody.
        if text not in self._told:
            self._told.add(text)
            self.server.window_show_message(types.ShowMessageParams(kind, text))

    def _log(self, text: str) -> None:
        self.server.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    def _publish(self, uri: str, diagnostics: list[Any], version: int | None) -> None:
        if self._pulls:
            return  # it asks; told as well, it would show everything twice
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    # -- findings in the words of the protocol ----------------------------------------------------------------

    @property
    def _encoding(self) -> str:
        agreed = self.server.server_capabilities.position_encoding or types.PositionEncodingKind.Utf16
        return str(getattr(agreed, "value", agreed))

    def _positions(self, text: str) -> wording.Positions:
        return wording.Positions(text, self._encoding)

    def _diagnostics(self, linted: Linted) -> list[Any]:
        positions = self._positions(linted.document.text)
        return [self._diagnostic(finding, linted, positions) for finding in linted.findings]

    def _diagnostic(self, finding: Finding, linted: Linted, positions: wording.Positions) -> Any:
        rule = self._rules.get(os.path.dirname(linted.document.path), {}).get(finding.code)
        own = from_fs_path(linted.document.path)
        broken = finding.effect is Effect.ERROR
        return types.Diagnostic(
            range=spots.span(finding, positions),
            message=wording.message(finding),
            severity=types.DiagnosticSeverity.Error if broken else spots.LEVEL[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(spots.page(rule)) if rule is not None else None,
            source="tclint",
            related_information=spots.related(finding, own, linted.absolute, positions) or None,
        )

    # -- what the editor asks ---------------------------------------------------------------------------------

    async def diagnostic(self, params: Any) -> Any:
        """The findings of one document, for editors that ask for them. One that asks again takes its question back."""
        await asyncio.sleep(self.delay)
        linted = await self._current(params.text_document.uri, None)
        items = self._diagnostics(linted) if linted is not None else []
        identity = f"{zlib.crc32(repr(items).encode()):08x}"
        if identity == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(identity)
        return types.RelatedFullDocumentDiagnosticReport(items, result_id=identity)

    @property
    def _pulls(self) -> bool:
        text = self.server.client_capabilities.text_document
        return text is not None and text.diagnostic is not None

    @property
    def _refreshes(self) -> bool:
        workspace = self.server.client_capabilities.workspace
        return bool(workspace and workspace.diagnostics and workspace.diagnostics.refresh_support)

    async def hover(self, params: Any) -> Any:
        linted = await self._current(params.text_document.uri)
        if linted is None:
            return None
        positions = self._positions(linted.document.text)
        at = params.position
        here = [f for f in linted.findings if spots.contains(spots.span(f, positions), at.line, at.character)]
        if not here:
            return None
        rules = await self._know_rules(linted.document.path)
        text = "\n\n---\n\n".join(wording.hover(f, linted, rules.get(f.code)) for f in here)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), spots.span(here[0], positions))

    async def code_actions(self, params: Any) -> list[Any]:
        uri = params.text_document.uri
        linted = await self._current(uri)
        if linted is None:
            return []
        only = [getattr(kind, "value", kind) for kind in params.context.only or ()]
        actions: list[Any] = []
        if spots.wanted("quickfix", only):
            positions = self._positions(linted.document.text)
            for finding in linted.findings:
                if spots.touch(spots.span(finding, positions), params.range):
                    actions += self._quick_fixes(uri, linted, finding, positions)
        fixable = any(f.fix and f.fix.edits and f.fix.applicability is Applicability.SAFE for f in linted.findings)
        if fixable and uri in self.documents and spots.wanted(FIX_ALL, only):
            action = types.CodeAction("tclint: fix everything that is safe to fix", kind=FIX_ALL, data={"uri": uri})
            # Trying all fixes takes several lints: only when somebody picks it, where the editor can ask again.
            actions.append(action if self._resolves and not only else await self.resolve(action))
        return actions

    def _quick_fixes(self, uri: str, linted: Linted, finding: Finding, positions: wording.Positions) -> list[Any]:
        actions: list[Any] = []
        document, fix = linted.document, finding.fix
        diagnostic = self._diagnostic(finding, linted, positions)
        if fix is not None and fix.applicability is not Applicability.DISPLAY:
            after = sessions.fixed_by(document, finding)
            if after is not None:
                safe = fix.applicability is Applicability.SAFE
                note = f": {fix.note}" if fix.note else ""
                actions.append(
                    types.CodeAction(
                        f"{finding.code}: {fix.title}" + ("" if safe else f" (unsafe{note})"),
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[diagnostic],
                        is_preferred=True if safe else None,
                        edit=self._edit(uri, document, after),
                    )
                )
        after = sessions.ignored(document, finding)
        if after is not None:
            actions.append(
                types.CodeAction(
                    f"{finding.code}: ignore here",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    edit=self._edit(uri, document, after),
                )
            )
        return actions

    async def resolve(self, action: Any) -> Any:
        data = action.data
        uri = data.get("uri", "") if isinstance(data, dict) else getattr(data, "uri", "")
        document = self.documents.get(uri)
        if document is not None and action.edit is None:
            others = list(self.documents.values())
            after = await self._in_worker("fixing", lambda: self.session.fix_all(document, others))
            if after is not None and self.documents.get(uri) is document:
                action.edit = self._edit(uri, document, after)
        return action

    @property
    def _resolves(self) -> bool:
        text = self.server.client_capabilities.text_document
        support = text.code_action.resolve_support if text and text.code_action else None
        return support is not None and "edit" in support.properties

    def _edit(self, uri: str, document: Document, after: str) -> Any:
        positions = self._positions(document.text)
        edits = [
            types.TextEdit(spots.between(positions.of(start), positions.of(end)), text)
            for start, end, text in sessions.change(document.text, after)
        ]
        workspace = self.server.client_capabilities.workspace
        versioned = workspace.workspace_edit.document_changes if workspace and workspace.workspace_edit else False
        if not versioned:
            return types.WorkspaceEdit(changes={uri: edits})
        # With the version, an editor refuses edits made for a text that has changed since.
        identity = types.OptionalVersionedTextDocumentIdentifier(uri, document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identity, edits)])
