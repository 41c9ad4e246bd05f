"""`tclint server` in a process of its own, spoken to over stdio as an editor does."""

from __future__ import annotations

import json
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from lintkit import ROOT, Project, tclint_command

from tclint import api, cli
from tclint.commands import server
from tclint.model.finding import Applicability
from tclint.run.project import Project as Opened
from tclint.server import session, wording
from tclint.sources import configuration
from tclint.sources.files import InputFile

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x * 2
        if y.sum() > 0:
            return y
        print("low", y)
        return x
"""
TRAIN = """\
import torch

from model import Model

model = torch.compile(Model())
out = model(torch.ones(3))
"""
TIMEOUT = 60


class Editor:
    """A client of the protocol, with no library that could share a mistake with the server's."""

    def __init__(self, root: Path, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self.root = root
        self.outgoing = outgoing
        self.notes: list[dict[str, Any]] = []
        self._queue: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._listen, args=(incoming,), daemon=True).start()

    def _listen(self, incoming: IO[bytes]) -> None:
        while True:
            size = 0
            while (line := incoming.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    size = int(value)
            if not size:
                self._queue.put(None)
                return
            self._queue.put(json.loads(incoming.read(size)))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.outgoing.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.outgoing.flush()

    def _receive(self) -> dict[str, Any]:
        message = self._queue.get(timeout=TIMEOUT)
        assert message is not None, "the server is gone"
        if "id" in message and "method" in message:  # a request of the server's own
            self._send({"id": message["id"], "result": None})
        return message

    def request(self, method: str, params: Any = None) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, **({"params": params} if params is not None else {})})
        while True:
            message = self._receive()
            if message.get("id") == self._number and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]
            self.notes.append(message)

    def notify(self, method: str, params: Any = None) -> None:
        self._send({"method": method, **({"params": params} if params is not None else {})})

    def wait_for(self, method: str, **having: Any) -> dict[str, Any]:
        """The next message of a kind whose parameters hold some values."""
        while True:
            message = self.notes.pop(0) if self.notes else self._receive()
            params = message.get("params") or {}
            if message.get("method") == method and all(params.get(k) == v for k, v in having.items()):
                return dict(params)

    # -- what a person does ---------------------------------------------------------------------------------------

    def start(self, options: dict[str, Any] | None = None, **capabilities: Any) -> dict[str, Any]:
        folder = {"uri": self.root.as_uri(), "name": "project"}
        params = {"processId": None, "rootUri": folder["uri"], "workspaceFolders": [folder]}
        params |= {"initializationOptions": options} if options is not None else {}
        answer = self.request("initialize", {**params, "capabilities": capabilities})
        self.notify("initialized", {})
        return dict(answer["capabilities"])

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str, version: int = 1) -> list[dict[str, Any]]:
        item = {"uri": self.uri(name), "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return self.diagnostics(name, version)

    def change(self, name: str, text: str, version: int) -> None:
        document = {"uri": self.uri(name), "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def diagnostics(self, name: str, version: int | None = None) -> list[dict[str, Any]]:
        having = {} if version is None else {"version": version}
        found = self.wait_for("textDocument/publishDiagnostics", uri=self.uri(name), **having)
        return list(found["diagnostics"])

    def actions(self, name: str, where: dict[str, Any], only: list[str] | None = None) -> list[dict[str, Any]]:
        context: dict[str, Any] = {"diagnostics": []}
        if only:
            context["only"] = only
        params = {"textDocument": {"uri": self.uri(name)}, "range": where, "context": context}
        return list(self.request("textDocument/codeAction", params))

    def hover(self, name: str, line: int, character: int) -> dict[str, Any] | None:
        params = {"textDocument": {"uri": self.uri(name)}, "position": {"line": line, "character": character}}
        answer: dict[str, Any] | None = self.request("textDocument/hover", params)
        return answer


def applied(text: str, edits: list[dict[str, Any]], encoding: str = "utf-16-le", unit: int = 2) -> str:
    """A text after edits, as an editor applies them: all positions are of the text before."""
    starts = wording.Positions(text).starts

    def offset(position: dict[str, int]) -> int:
        line = text[starts[position["line"]] :]
        return starts[position["line"]] + len(line.encode(encoding)[: position["character"] * unit].decode(encoding))

    for edit in sorted(edits, key=lambda e: -offset(e["range"]["start"])):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def quoted(text: str, where: dict[str, Any]) -> str:
    """The part of a text in a range."""
    lines = text.splitlines()
    start, end = where["start"], where["end"]
    assert start["line"] == end["line"]
    units = lines[start["line"]].encode("utf-16-le")
    return units[start["character"] * 2 : end["character"] * 2].decode("utf-16-le")


def serve(root: Path, *args: str, python: str = "") -> subprocess.Popen[bytes]:
    command = tclint_command("server", "--delay", "0.05", *args)
    command[0] = python or command[0]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=root, stdin=pipe, stdout=pipe, stderr=pipe, env=environment())


def environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def editor(project: Project) -> Iterator[Editor]:
    project.write({"model.py": MODEL, "train.py": TRAIN, "tclint.toml": 'target-torch = "2.13"\n'})
    process = serve(project.root)
    assert process.stdin is not None
    assert process.stdout is not None
    editor = Editor(project.root, process.stdout, process.stdin)
    try:
        yield editor
    finally:
        process.kill()
        process.communicate()


def codes(diagnostics: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(each["code"], each["range"]["start"]["line"] + 1) for each in diagnostics]


# --- a session --------------------------------------------------------------------------------------------------------


def test_diagnostics_as_you_type(editor: Editor) -> None:
    editor.start()
    found = editor.open("model.py", MODEL)
    assert codes(found) == [("TCL101", 8), ("TCL108", 10)]
    branch = found[0]
    assert quoted(MODEL, branch["range"]) == "y.sum() > 0"
    assert branch["source"] == "tclint"
    assert branch["severity"] == 2
    assert Path(branch["codeDescription"]["href"].removeprefix("file://")).is_file()
    # The compile site in train.py, which nobody has opened, is why the line is compiled; the label says since when.
    related = {
        (Path(r["location"]["uri"]).name, r["location"]["range"]["start"]["line"] + 1): r["message"]
        for r in branch["relatedInformation"]
    }
    assert "compiled because" in related["train.py", 5]
    editor.change("model.py", MODEL.replace("if y.sum() > 0:", "if y.shape[0] > 3:"), 2)
    assert [code for code, _ in codes(editor.diagnostics("model.py", 2))] == ["TCL108"]
    # A text that is half typed is no Python: that is said, and the next letter heals it.
    editor.change("model.py", MODEL.replace("if y.sum() > 0:", "if y.sum("), 3)
    (broken,) = editor.diagnostics("model.py", 3)
    assert (broken["code"], broken["severity"]) == ("TCL903", 1)
    editor.change("model.py", MODEL, 4)
    assert codes(editor.diagnostics("model.py", 4)) == [("TCL101", 8), ("TCL108", 10)]


def test_unsaved_text_of_another_file_counts(editor: Editor) -> None:
    editor.start()
    assert codes(editor.open("model.py", MODEL)) == [("TCL101", 8), ("TCL108", 10)]
    editor.open("train.py", TRAIN)
    editor.diagnostics("model.py", 1)  # what an edit means for other texts is told after what it means for its own
    # Two lines more above the compile site, in the editor only.
    editor.change("train.py", "\n\n" + TRAIN, 2)
    found = editor.diagnostics("model.py", 1)
    places = [r["location"] for r in found[0]["relatedInformation"] if r["location"]["uri"].endswith("train.py")]
    assert [place["range"]["start"]["line"] + 1 for place in places] == [7]


def test_saving_looks_at_the_disk_again(editor: Editor) -> None:
    editor.start()
    assert editor.open("model.py", MODEL)
    (editor.root / "tclint.toml").write_text('ignore = ["TCL101"]\n')
    editor.notify("textDocument/didSave", {"textDocument": {"uri": editor.uri("model.py")}})
    assert [code for code, _ in codes(editor.diagnostics("model.py", 1))] == ["TCL108"]
    editor.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri("model.py")}})
    assert editor.diagnostics("model.py") == []


@pytest.mark.parametrize(
    ("encodings", "before"), [(None, 5), (["utf-16"], 5), (["utf-8"], 8), (["utf-32"], 4)], ids=str
)
def test_columns_in_the_units_of_the_protocol(editor: Editor, encodings: list[str] | None, before: int) -> None:
    capabilities = editor.start(**({"general": {"positionEncodings": encodings}} if encodings else {}))
    if encodings:
        assert capabilities["positionEncoding"] == encodings[0]
    text = MODEL.replace("if y.sum() > 0:", "if 'é😀' and y.sum() > 0:")
    found = editor.open("model.py", text)
    column = next(d for d in found if d["code"] == "TCL101")["range"]["start"]["character"]
    assert column == len("        if ") + before + len(" and ")


def test_quick_fix_gives_what_fix_gives(editor: Editor) -> None:
    editor.start(workspace={"workspaceEdit": {"documentChanges": True}})
    source = (
        "import torch\n\n\n@torch.compile\ndef f(x, ü='😀'):\n"
        "    a, b = '😀', x.sum()  # tclint: ignore[TCL108]\n    return a, b\n"
    ).replace("\n", "\r\n")
    (found,) = editor.open("fixable.py", source)
    assert found["code"] == "TCL901"
    action = editor.actions("fixable.py", found["range"])[0]
    assert action["isPreferred"] is True
    assert action["kind"] == "quickfix"
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": editor.uri("fixable.py"), "version": 1}
    path = editor.root / "fixable.py"
    path.write_bytes(source.encode())
    assert cli.main([str(path), "--fix", "-q"]) == 0
    assert applied(source, change["edits"]).encode() == path.read_bytes()
    assert "tclint" not in path.read_text()


DRAWN = """\
import random

import torch


@torch.compile
def f(x):
    return x * random.gauss(0, 1)


f(torch.ones(3))
"""


def test_fixes_to_make_by_hand_are_not_offered(editor: Editor) -> None:
    editor.start()
    found = editor.open("drawn.py", DRAWN)
    (written,) = [d for d in found if d["code"] == "TCL109"]
    report = api.lint(["drawn.py"], cwd=(Project(editor.root).write({"drawn.py": DRAWN})).root)
    assert [f.fix.applicability for f in report.findings if f.code == "TCL109" and f.fix] == [Applicability.DISPLAY]
    titles = [a["title"] for a in editor.actions("drawn.py", written["range"]) if "TCL109" in a["title"]]
    assert titles == ["TCL109: ignore here"]


def test_unsafe_fixes_are_labelled(editor: Editor) -> None:
    editor.start()
    found = editor.open("model.py", MODEL)
    printed = next(d for d in found if d["code"] == "TCL108")
    titles = {a["title"]: a for a in editor.actions("model.py", printed["range"])}
    (unsafe,) = [a for title, a in titles.items() if "(unsafe" in title]
    assert not unsafe.get("isPreferred")
    after = applied(MODEL, unsafe["edit"]["changes"][editor.uri("model.py")])
    assert "is_compiling()" in after
    settings = configuration.load([str(editor.root)], cwd=str(editor.root), overrides={"select": ["TCL108"]})
    file = InputFile("model.py", str(editor.root / "model.py"), True, True, MODEL.encode())
    done = Opened([file], settings, str(editor.root)).fix(unsafe=True, write=False)
    assert done.fixed.contents["model.py"].decode() == after


def test_ignore_here(editor: Editor) -> None:
    editor.start()
    found = editor.open("model.py", MODEL)
    (ignore,) = [a for a in editor.actions("model.py", found[0]["range"]) if "ignore here" in a["title"]]
    after = applied(MODEL, ignore["edit"]["changes"][editor.uri("model.py")])
    assert after.splitlines()[7].startswith("        if y.sum() > 0:  # tclint: ignore[TCL101]")
    editor.change("model.py", after, 2)
    assert [code for code, _ in codes(editor.diagnostics("model.py", 2))] == ["TCL108"]


FIXABLE = """\
import torch


@torch.compile
def f(x):
    y = x.sin()  # tclint: ignore[TCL101]
    z = y.cos()  # tclint: ignore[TCL102]
    return z
"""


@pytest.mark.parametrize("resolving", [True, False])
def test_fix_all(editor: Editor, resolving: bool) -> None:
    text = {"textDocument": {"codeAction": {"resolveSupport": {"properties": ["edit"]}}}} if resolving else {}
    editor.start(**text)
    found = editor.open("fixable.py", FIXABLE)
    assert [d["code"] for d in found] == ["TCL901", "TCL901"]
    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    (on_save,) = editor.actions("fixable.py", everywhere, only=["source.fixAll"])
    (picked,) = [a for a in editor.actions("fixable.py", everywhere) if a["kind"] == "source.fixAll.tclint"]
    assert ("edit" not in picked) is resolving
    if resolving:
        picked = editor.request("codeAction/resolve", picked)
    for action in (on_save, picked):
        after = applied(FIXABLE, action["edit"]["changes"][editor.uri("fixable.py")])
        assert after == FIXABLE.replace("  # tclint: ignore[TCL101]", "").replace("  # tclint: ignore[TCL102]", "")
    assert editor.actions("fixable.py", everywhere, only=["refactor"]) == []


def test_hover_has_the_page_and_the_chain(editor: Editor) -> None:
    editor.start()
    found = editor.open("model.py", MODEL)
    start = found[0]["range"]["start"]
    answer = editor.hover("model.py", start["line"], start["character"] + 1)
    assert answer is not None
    text = answer["contents"]["value"]
    assert answer["contents"]["kind"] == "markdown"
    assert "**TCL101 data-dependent-branch**" in text
    assert f"[train.py:5]({editor.uri('train.py')}#L5)" in text
    assert "**Bad**\n\n```python\n" in text
    assert editor.hover("model.py", 0, 0) is None


def test_a_crash_becomes_a_message(project: Project) -> None:
    project.write({"model.py": MODEL, "tclint.toml": 'rules = ["lint/broken.py"]\n', "lint/broken.py": "1 / 0\n"})
    process = serve(project.root)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        editor = Editor(project.root, process.stdout, process.stdin)
        editor.start({"allowRules": True})
        item = {"uri": editor.uri("model.py"), "languageId": "python", "version": 1, "text": MODEL}
        editor.notify("textDocument/didOpen", {"textDocument": item})
        told = editor.wait_for("window/showMessage")
        assert told["type"] == 1
        assert "ZeroDivisionError" in told["message"]
        # The server is alive, and well once the cause is gone.
        (project.root / "tclint.toml").write_text("jobs = 1\n")
        editor.notify("textDocument/didSave", {"textDocument": {"uri": editor.uri("model.py")}})
        assert editor.diagnostics("model.py", 1)
        (project.root / "tclint.toml").write_text("jbos = 1\n")
        editor.notify("textDocument/didSave", {"textDocument": {"uri": editor.uri("model.py")}})
        assert "did you mean 'jobs'" in editor.wait_for("window/showMessage")["message"]
    finally:
        process.kill()
        process.communicate()


CRASHING = """
from tclint.api import Rule

class Crash(Rule):
    '''Crashes.'''

    code, name = "ACME001", "crash"

    def holds(self):
        raise RuntimeError("a rule gone wrong")

    def on_branch(self, event):
        yield from ()
"""


def test_an_error_of_our_own_becomes_a_message_once(project: Project) -> None:
    project.write({"model.py": MODEL, "tclint.toml": 'rules = ["crash.py"]\n', "crash.py": CRASHING})
    process = serve(project.root)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        editor = Editor(project.root, process.stdout, process.stdin)
        editor.start({"allowRules": True})
        item = {"uri": editor.uri("model.py"), "languageId": "python", "version": 1, "text": MODEL}
        editor.notify("textDocument/didOpen", {"textDocument": item})
        told = editor.wait_for("window/showMessage")
        assert told["message"] == "tclint: lint failed: RuntimeError: a rule gone wrong"
        for version in (2, 3):
            editor.change("model.py", MODEL + "\n" * version, version)
        assert editor.hover("model.py", 7, 12) is None  # answered: the server lives
        assert [n for n in editor.notes if n.get("method") == "window/showMessage"] == []
    finally:
        process.kill()
        process.communicate()


def test_typing_fast_does_not_make_a_queue(editor: Editor) -> None:
    editor.start()
    editor.open("model.py", MODEL)
    started = time.monotonic()
    for version in range(2, 42):
        editor.change("model.py", MODEL + f"# {version}\n", version)
        time.sleep(0.02)
    assert codes(editor.diagnostics("model.py", 41)) == [("TCL101", 8), ("TCL108", 10)]
    assert time.monotonic() - started < 20
    editor.change("model.py", MODEL.replace("if y.sum() > 0:", "if y.shape[0] > 3:"), 42)
    assert [code for code, _ in codes(editor.diagnostics("model.py", 42))] == ["TCL108"]


def test_what_is_excluded_stays_silent(editor: Editor) -> None:
    editor.start()
    (editor.root / ".venv").mkdir()
    assert editor.open(".venv/model.py", MODEL) == []


def test_shutdown(project: Project) -> None:
    process = serve(project.root)
    assert process.stdin is not None
    assert process.stdout is not None
    editor = Editor(project.root, process.stdout, process.stdin)
    editor.start()
    assert editor.request("shutdown") is None
    editor.notify("exit")
    assert process.wait(TIMEOUT) == 0
    _, errors = process.communicate()
    assert b"Traceback" not in errors, errors.decode()


def test_tcp(project: Project) -> None:
    project.write({"model.py": MODEL})
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = serve(project.root, "--tcp", str(port))
    try:
        connection = None
        until = time.monotonic() + TIMEOUT
        while connection is None and time.monotonic() < until:
            try:
                connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
            except OSError:
                assert process.poll() is None
                time.sleep(0.1)
        assert connection is not None
        stream = connection.makefile("rwb")
        editor = Editor(project.root, stream, stream)  # type: ignore[arg-type]
        editor.start()
        assert codes(editor.open("model.py", MODEL))
    finally:
        process.kill()
        process.communicate()


# --- the command and the parts ----------------------------------------------------------------------------------------


def test_without_pygls_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    assert cli.main(["server"]) == 2
    assert "torch-compile-lint[lsp]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\r\nb\r\n", "a\r\nb\r\nc\r\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("x\x0cy\nz", "x\x0cq\nz\n"),
        ("", "a"),
        ("a", ""),
        ("same\n", "same\n"),
        ("a\nb\nc\nd\ne\n", "b\nc\nX\ne\nf\n"),
    ],
)
def test_changes_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    text = before
    for start, end, new in reversed(session.change(before, after)):
        assert before[start - 1 : start + 1] != "\r\n"
        text = text[:start] + new + text[end:]
    assert text == after
    assert (session.change(before, after) == []) is (before == after)


def test_a_document_in_its_own_encoding() -> None:
    document = session.Document("/m.py", "# coding: latin-1\ns = 'é😀'\n")
    assert document.data == b"# coding: latin-1\ns = '\xe9?'\n"


def test_opening_a_hostile_folder_runs_nothing_of_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = "import pathlib; pathlib.Path(__file__).with_suffix('.ran').touch()\n"
    shadows = {f"{name}.py": mark for name in ("click", "pygls", "lsprotocol", "ast", "typing", "libcst")}
    project.write(
        {
            "model.py": MODEL,
            "train.py": TRAIN,
            "pyproject.toml": '[tool.tclint]\nrules = ["lint"]\n',
            "lint/evil.py": mark,
            "evil.py": mark,
            "evil-1.egg-info/entry_points.txt": "[tclint.rules]\nevil = evil\n",
            **shadows,
        }
    )
    # What the shell allows is not what the editor allows.
    monkeypatch.setenv("TCLINT_ALLOW_RULES", "1")
    process = serve(project.root)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        editor = Editor(project.root, process.stdout, process.stdin)
        editor.start()
        item = {"uri": editor.uri("model.py"), "languageId": "python", "version": 1, "text": MODEL}
        editor.notify("textDocument/didOpen", {"textDocument": item})
        told = editor.wait_for("window/showMessage")
        assert told["type"] == 2
        assert "not loaded: the rules of pyproject.toml:2 (lint)" in told["message"]
        assert "allowRules" in told["message"]
        assert editor.diagnostics("model.py", 1)
        editor.hover("model.py", 7, 12)
    finally:
        process.kill()
        process.communicate()
    assert list(project.root.rglob("*.ran")) == []


def test_a_document_that_is_not_saved_makes_no_folder(tmp_path: Path) -> None:
    document = session.Document(str(tmp_path / "no" / "such" / "m.py"), MODEL)
    (linted,) = session.Session().lint([document])
    assert linted.findings
    assert list(tmp_path.iterdir()) == []


def test_the_edited_text_is_told_first(editor: Editor) -> None:
    editor.start()
    editor.open("model.py", MODEL)
    editor.open("train.py", TRAIN)
    editor.diagnostics("model.py", 1)
    editor.diagnostics("train.py", 1)
    for version in (2, 3):
        editor.change("train.py", "\n" * version + TRAIN, version)
        told = [editor.wait_for("textDocument/publishDiagnostics") for _ in range(3)]
        assert [Path(each["uri"]).name for each in told] in (
            ["train.py", "model.py", "train.py"],
            ["train.py", "train.py", "model.py"],
        )
        assert {each["version"] for each in told if each["uri"].endswith("train.py")} == {version}
