"""What editors of today speak beside texts that are typed: notebooks, folders, settings, questions for findings, progress."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lintkit import Project
from test_server import MODEL, TRAIN, Editor, codes, serve

from tclint.server import books
from tclint.server.session import Document, Linted
from tclint.server.wording import Positions

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

PULLS: dict[str, Any] = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}

BOOKS: dict[str, Any] = {"notebookDocument": {"synchronization": {}}}


@pytest.fixture
def editor(project: Project) -> Iterator[Editor]:
    project.write({"model.py": MODEL, "train.py": TRAIN, "tclint.toml": 'target-torch = "2.13"\n'})
    process = serve(project.root)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Editor(project.root, process.stdout, process.stdin)
    finally:
        process.kill()
        process.communicate()


# --- notebooks ----------------------------------------------------------------------------------------------------------

FIRST = "import torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x\n"
SECOND = "%time 1\n@torch.compile\ndef g(x: torch.Tensor):\n    print(x)\n    return x\n"


def cell(number: int, text: str = "", language: str = "python") -> dict[str, Any]:
    return {"uri": f"vscode-notebook-cell:/n.ipynb#{number}", "languageId": language, "version": 1, "text": text}


def open_notebook(editor: Editor, *texts: str) -> str:
    uri = editor.uri("n.ipynb")
    items = [cell(number, text) for number, text in enumerate(texts)]
    document = {
        "uri": uri,
        "notebookType": "jupyter-notebook",
        "version": 1,
        "cells": [{"kind": 2, "document": item["uri"]} for item in items],
    }
    editor.notify("notebookDocument/didOpen", {"notebookDocument": document, "cellTextDocuments": items})
    return uri


def of_cell(editor: Editor, number: int) -> list[tuple[str, int]]:
    found = editor.wait_for("textDocument/publishDiagnostics", uri=cell(number)["uri"])
    return codes(found["diagnostics"])


def change_notebook(editor: Editor, uri: str, version: int, cells: dict[str, Any]) -> None:
    identity = {"uri": uri, "version": version}
    editor.notify("notebookDocument/didChange", {"notebookDocument": identity, "change": {"cells": cells}})


def test_findings_in_the_cells_of_a_notebook(editor: Editor) -> None:
    capabilities = editor.start(**BOOKS)
    [selector] = capabilities["notebookDocumentSync"]["notebookSelector"]
    assert selector == {"notebook": {"notebookType": "jupyter-notebook"}, "cells": [{"language": "python"}]}
    uri = open_notebook(editor, FIRST, SECOND)
    assert of_cell(editor, 0) == []
    assert of_cell(editor, 1) == [("TCL108", 4)]

    # A part of the first cell is typed: `return x` becomes `print(x)`.
    where = {"start": {"line": 4, "character": 4}, "end": {"line": 4, "character": 12}}
    typed = {
        "document": {"uri": cell(0)["uri"], "version": 2},
        "changes": [{"range": where, "text": "print(x)"}],
    }
    change_notebook(editor, uri, 2, {"textContent": [typed]})
    assert of_cell(editor, 0) == [("TCL108", 5)]
    assert of_cell(editor, 1) == [("TCL108", 4)]

    # The second goes, another comes before the first.
    array = {"start": 0, "deleteCount": 2, "cells": [{"kind": 2, "document": cell(k)["uri"]} for k in (2, 0)]}
    structure = {"array": array, "didOpen": [cell(2, "import torch\n")], "didClose": [{"uri": cell(1)["uri"]}]}
    change_notebook(editor, uri, 3, {"structure": structure})
    assert of_cell(editor, 1) == []
    assert of_cell(editor, 2) == []
    assert of_cell(editor, 0) == [("TCL108", 5)]

    editor.notify(
        "notebookDocument/didClose", {"notebookDocument": {"uri": uri}, "cellTextDocuments": [cell(2), cell(0)]}
    )
    assert of_cell(editor, 0) == []


def test_a_fix_in_a_cell_is_an_edit_of_that_cell(editor: Editor) -> None:
    editor.start(**BOOKS)
    open_notebook(editor, FIRST, SECOND.replace("%time 1\n", "\n"))
    assert of_cell(editor, 1) == [("TCL108", 4)]
    where = {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 4}}
    params = {"textDocument": {"uri": cell(1)["uri"]}, "range": where, "context": {"diagnostics": []}}
    actions = editor.request("textDocument/codeAction", params)
    [fix] = [each for each in actions if each["title"].startswith("TCL108") and "ignore" not in each["title"]]
    [(uri, [edit])] = fix["edit"]["changes"].items()
    assert uri == cell(1)["uri"]
    assert "is_compiling" in edit["newText"]
    assert edit["range"]["start"]["line"] == 3
    # Of a notebook as a whole no editor applies the edits of a file.
    assert [each for each in actions if "fixAll" in each.get("kind", "")] == []


def test_a_fix_that_reaches_into_another_cell_is_not_offered(project: Project) -> None:
    source = "import torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.item()\n"
    texts = (source.split("\n\n")[0] + "\n", source.split("\n\n")[1])
    book = books.Book(str(project.root / "n.ipynb"), tuple(books.Cell(f"c{n}", text) for n, text in enumerate(texts)))
    (project.root / "n.ipynb").write_bytes(book.document.data)
    found = project.lint("n.ipynb", select=["TCL103", "TCL1"]).findings
    assert any(f.fix and f.fix.edits for f in found), "nothing to leave out"
    told = book.told(Linted(book.document, found, str(project.root)))
    assert list(told) == ["c0", "c1"]
    assert [f.line for f in told["c1"].findings] == [3]
    for each in told["c1"].findings:
        assert each.fix is None or {edit.cell for edit in each.fix.edits} == {2}


@pytest.mark.parametrize(
    ("encoding", "character", "after"),
    [("utf-16", 4, "a𝒳bXc"), ("utf-32", 2, "a𝒳Xbc"), ("utf-8", 5, "a𝒳Xbc"), ("utf-16", 99, "a𝒳bcX")],
)
def test_parts_of_a_text_in_the_units_of_the_protocol(encoding: str, character: int, after: str) -> None:
    text = "one\na𝒳bc\n"
    at = Positions(text, encoding).offset(1, character)
    assert text[:at] + "X" + text[at:] == f"one\n{after}\n"
    assert Positions(text, encoding).offset(9, 0) == len(text)


# --- editors that ask ---------------------------------------------------------------------------------------------------


def asked(editor: Editor, name: str, before: str | None = None) -> dict[str, Any]:
    params: dict[str, Any] = {"textDocument": {"uri": editor.uri(name)}}
    if before is not None:
        params["previousResultId"] = before
    return dict(editor.request("textDocument/diagnostic", params))


def did_open(editor: Editor, name: str, text: str) -> None:
    item = {"uri": editor.uri(name), "languageId": "python", "version": 1, "text": text}
    editor.notify("textDocument/didOpen", {"textDocument": item})


def test_findings_for_an_editor_that_asks(editor: Editor) -> None:
    capabilities = editor.start(**PULLS)
    assert capabilities["diagnosticProvider"]["interFileDependencies"] is True
    did_open(editor, "model.py", MODEL)
    first = asked(editor, "model.py")
    assert first["kind"] == "full"
    assert codes(first["items"]) == [("TCL101", 8), ("TCL108", 10)]
    assert asked(editor, "model.py", first["resultId"]) == {"kind": "unchanged", "resultId": first["resultId"]}

    # What is typed in another file concerns this one: the editor is told to ask again.
    assert "train.py" in str(first)
    did_open(editor, "train.py", TRAIN.replace("torch.compile(Model())", "Model()"))
    again = first
    while "train.py" in str(again) or again["kind"] == "unchanged":
        editor.wait_for("workspace/diagnostic/refresh")
        again = asked(editor, "model.py", first["resultId"])
    assert again["resultId"] != first["resultId"]
    # Told as well, it would show everything twice.
    assert [note for note in editor.notes if note.get("method") == "textDocument/publishDiagnostics"] == []


def test_a_question_that_is_taken_back_ends(editor: Editor) -> None:
    editor.start(**PULLS)
    did_open(editor, "model.py", MODEL)
    editor._number += 1
    number = editor._number
    params = {"textDocument": {"uri": editor.uri("model.py")}}
    editor._send({"id": number, "method": "textDocument/diagnostic", "params": params})
    editor.notify("$/cancelRequest", {"id": number})
    answer = asked(editor, "model.py")
    assert codes(answer["items"]) == [("TCL101", 8), ("TCL108", 10)]
    [told] = [note for note in editor.notes if note.get("id") == number and "method" not in note]
    assert told["error"]["code"] == -32800


# --- folders, settings, progress ----------------------------------------------------------------------------------------


def test_a_folder_that_joins_the_workspace(editor: Editor, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Files without a project of their own are linked with the folder that the editor has open."""
    loose = tmp_path_factory.mktemp("loose")
    (loose / "net.py").write_text(MODEL)
    (loose / "run.py").write_text(TRAIN.replace("model import", "net import"))
    capabilities = editor.start()
    assert capabilities["workspace"]["workspaceFolders"]["supported"] is True
    item = {"uri": (loose / "net.py").as_uri(), "languageId": "python", "version": 1, "text": MODEL}
    editor.notify("textDocument/didOpen", {"textDocument": item})
    alone = editor.wait_for("textDocument/publishDiagnostics", uri=item["uri"])["diagnostics"]
    assert not any("run.py" in str(each.get("relatedInformation")) for each in alone)
    event = {"added": [{"uri": loose.as_uri(), "name": "loose"}], "removed": []}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    linked = editor.wait_for("textDocument/publishDiagnostics", uri=item["uri"])["diagnostics"]
    assert any("run.py" in str(each.get("relatedInformation")) for each in linked)


def test_settings_of_the_editor_that_change(editor: Editor) -> None:
    rule = """
from tclint.api import Call, Rule

class Clock(Rule):
    \"\"\"A clock.\"\"\"

    code, name = "ACME001", "clock"
    calls = owns = ("time.*",)

    def on_call(self, event: Call):
        yield self.finding(event, "a clock")
"""
    (editor.root / "lint").mkdir()
    (editor.root / "lint" / "clock.py").write_text(rule)
    (editor.root / "tclint.toml").write_text('target-torch = "2.13"\nrules = ["lint"]\n')
    editor.start()
    text = MODEL.replace("import torch\n", "import time\nimport torch\n", 1).replace("y = x * 2", "y = x * time.time()")
    assert "ACME001" not in dict(codes(editor.open("model.py", text)))
    editor.notify("workspace/didChangeConfiguration", {"settings": {"tclint": {"allowRules": True}}})
    assert "ACME001" in dict(codes(editor.diagnostics("model.py")))
    editor.notify("workspace/didChangeConfiguration", {"settings": {"tclint": {"allowRules": False}}})
    assert "ACME001" not in dict(codes(editor.diagnostics("model.py")))
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    assert "ACME001" not in dict(codes(editor.diagnostics("model.py")))


def test_reading_a_project_shows_progress(editor: Editor) -> None:
    editor.start(window={"workDoneProgress": True})
    item = {"uri": editor.uri("model.py"), "languageId": "python", "version": 1, "text": MODEL}
    editor.notify("textDocument/didOpen", {"textDocument": item})
    token = editor.wait_for("window/workDoneProgress/create")["token"]
    begun = editor.wait_for("$/progress", token=token)["value"]
    assert (begun["kind"], begun["title"]) == ("begin", "tclint: reading the project")
    assert editor.wait_for("$/progress", token=token)["value"]["kind"] == "end"
    assert codes(editor.diagnostics("model.py"))
    editor.notes.clear()
    editor.change("model.py", MODEL + "\n", 2)
    editor.diagnostics("model.py", 2)
    assert not any(note.get("method") == "$/progress" for note in editor.notes), "only the first time takes long"


def test_a_document_in_a_book_is_the_file_that_jupyter_writes() -> None:
    book = books.Book("/p/n.ipynb", (books.Cell("a", "x = 'é\"'\n"), books.Cell("b", "# words", code=False)), 3)
    assert isinstance(book.document, Document)
    assert '"cell_type": "markdown"' in book.document.text
    assert (book.document.path, book.document.version) == ("/p/n.ipynb", 3)
