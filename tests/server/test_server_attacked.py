"""An editor that misbehaves: the server answers or ends, and does not grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lintkit import Project
from test_server import MODEL, TIMEOUT, TRAIN, Editor, codes, serve

BOTH = [("TCL101", 8), ("TCL108", 10)]


class Attacked(Editor):
    """An editor that knows the process it speaks to."""

    def __init__(self, root: Path, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        super().__init__(root, process.stdout, process.stdin)
        self.process = process

    def raw(self, data: bytes) -> None:
        self.outgoing.write(data)
        self.outgoing.flush()

    def body(self, data: bytes) -> None:
        self.raw(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def resident(self) -> float:
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.fixture(params=[""])
def editor(project: Project, request: pytest.FixtureRequest) -> Iterator[Attacked]:
    project.write({"model.py": MODEL, "train.py": TRAIN, "tclint.toml": 'target-torch = "2.13"\n'})
    process = serve(project.root, python=request.param)
    try:
        yield Attacked(project.root, process)
    finally:
        process.kill()
        process.communicate()


def measured(test: Callable[[Attacked], None]) -> Callable[[Attacked], None]:
    """What a test says of memory it says of the real process."""
    test = pytest.mark.parametrize("editor", [sys.executable], indirect=True, ids=["real"])(test)
    return pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")(test)


def still_well(editor: Attacked, version: int = 1) -> None:
    """The server lints what is opened now."""
    assert codes(editor.open("model.py", MODEL, version)) == BOTH


def test_messages_that_are_none(editor: Attacked) -> None:
    editor.start()
    for data in (b"{", b"[]", b"null", b"7", b'"x"', b"\xff\xfe\x00", b"{}", b'{"jsonrpc": "2.0"}', b"[" * 10_000):
        editor.body(data)
    for message in (
        {"id": 1001, "method": "no/such"},
        {"method": "no/such", "params": []},
        {"id": 1002, "method": "textDocument/hover"},
        {"id": 1003, "method": "textDocument/hover", "params": 3},
        {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": 5}}},
        {"method": "textDocument/didChange", "params": {"textDocument": {"uri": "file:///a.py"}}},
        {"id": "x" * 1000, "result": None},
        {"id": None, "error": {"code": 1, "message": "\x1b"}},
    ):
        editor.body(json.dumps({"jsonrpc": "2.0", **message}).encode())
    still_well(editor)


def test_messages_out_of_order(editor: Attacked) -> None:
    editor.start()
    editor.change("model.py", MODEL, 7)
    editor.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri("model.py")}})
    editor.notify("textDocument/didSave", {"textDocument": {"uri": editor.uri("gone.py")}})
    assert editor.hover("never_opened.py", 3, 3) is None
    still_well(editor)
    for _ in range(2):
        editor.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri("model.py")}})
    editor.start()
    still_well(editor, 9)


def test_documents_of_elsewhere(editor: Attacked, tmp_path: Path) -> None:
    editor.start()
    before = sorted(os.listdir("/"))
    for uri in (
        "untitled:Untitled-1",
        "http://example.com/a.py",
        "file:///a.py",
        "file:///no/such/folder/a.py",
        "file:///a%00b.py",
        "file:///" + "a" * 5000 + ".py",
        "file://host/share/a.py",
        "file:///" + "x/" * 2000 + "a.py",
        "file:///%ff%fe.py",
        "",
        "::::",
    ):
        item = {"uri": uri, "languageId": "python", "version": 1, "text": MODEL}
        editor.notify("textDocument/didOpen", {"textDocument": item})
        editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    still_well(editor)
    assert sorted(os.listdir("/")) == before


@measured
def test_a_thousand_edits_in_a_second_and_many_more(editor: Attacked) -> None:
    """A queue of what was typed long ago helps nobody, and nothing of it stays."""
    editor.start()
    still_well(editor)
    version = 1

    def burst(count: int) -> float:
        nonlocal version
        for _ in range(count):
            version += 1
            editor.change("model.py", f"{MODEL}# {version}\n", version)
            editor.notify("$/cancelRequest", {"id": version + 50_000})
        assert codes(editor.diagnostics("model.py", version)) == BOTH
        editor.notes.clear()
        return editor.resident()

    started = time.monotonic()
    burst(1000)
    assert time.monotonic() - started < 60
    settled = burst(1000)
    for _ in range(3):
        last = burst(1000)
    assert last - settled < 30, f"{settled:.0f} MB, then {last:.0f} MB"


@measured
def test_edits_that_are_all_linted_leave_nothing_behind(editor: Attacked) -> None:
    editor.start()
    still_well(editor)
    sizes = []
    for version in range(2, 42):
        editor.change("model.py", MODEL.replace("low", f"low {version}"), version)
        assert codes(editor.diagnostics("model.py", version)) == BOTH
        sizes.append(editor.resident())
    assert sizes[-1] - sizes[19] < 30, sizes


def test_a_document_of_five_megabytes(editor: Attacked) -> None:
    editor.start()
    text = MODEL + "".join(
        f"VALUE_{i} = 'something that is quite long and says nothing at all'\n" for i in range(80_000)
    )
    assert len(text) > 5_000_000
    assert codes(editor.open("model.py", text)) == BOTH
    editor.change("model.py", MODEL, 2)
    assert codes(editor.diagnostics("model.py", 2)) == BOTH


def test_questions_that_are_taken_back(editor: Attacked) -> None:
    editor.start()
    still_well(editor)
    document = {"textDocument": {"uri": editor.uri("model.py")}}
    for number in range(20_000, 20_200):
        editor._send(
            {
                "id": number,
                "method": "textDocument/hover",
                "params": {**document, "position": {"line": 7, "character": 13}},
            }
        )
        editor.notify("$/cancelRequest", {"id": number})
    assert editor.hover("model.py", 7, 13) is not None


@pytest.mark.parametrize("how", ["nobody writes", "in the middle of a message"])
def test_an_editor_that_is_gone(editor: Attacked, how: str) -> None:
    editor.start()
    still_well(editor)
    editor.change("model.py", MODEL + "\n", 2)
    if how == "in the middle of a message":
        editor.raw(b"Content-Length: 5000\r\n\r\n{")
    editor.outgoing.close()
    editor.process.stdin = None
    assert editor.process.wait(TIMEOUT) == 1
