"""Notebooks: cells as one module, places by cell, fixes back into the cells."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lintkit import ROOT, Project

from tclint import api, cli, output
from tclint.sources import notebook

FIXTURE = ROOT / "fixtures" / "notebook" / "vision.ipynb"


def book(*cells: str, **more: Any) -> dict[str, Any]:
    """A notebook of code cells."""
    listed = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text.splitlines(True)}
        for text in cells
    ]
    return {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


def data(*cells: str, indent: int | None = 1, ascii_only: bool = False, end: str = "\n", **more: Any) -> bytes:
    return (json.dumps(book(*cells, **more), indent=indent, ensure_ascii=ascii_only) + end).encode()


def joined(*cells: str) -> list[str]:
    return notebook.read(data(*cells)).text.splitlines()


def run(args: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.main([*args, "--target-torch", "2.13", "--no-cache"])
    return code, *capsys.readouterr()


@pytest.fixture
def vision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copy(FIXTURE, tmp_path))


PLACES = ["cell 3:6:12: TCL101", "cell 8:7:5: TCL108", "cell 8:8:19: TCL901"]

# --- linting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("argument", ["vision.ipynb", "."])
def test_cell_and_line_in_the_message(vision: Path, argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run([argument, "--output-format", "concise"], capsys)
    assert code == 1
    assert [line.partition("[")[0] for line in out.splitlines()] == [f"vision.ipynb:{place}" for place in PLACES]
    assert "`x.mean(dim=-1)` (line 5)" in out  # counted as the place is


def test_frames_quote_the_cell(vision: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(["vision.ipynb"], capsys)
    assert "6 |         if y.max() > 0:" in out
    assert "compiled because  vision.ipynb:cell 6:2 torch.compile(Pool()) → Pool.forward:6" in out
    assert "vision.ipynb:cell 8:5  torch.compile, mode default" in out


def test_json_has_the_cell(vision: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run([".", "--output-format", "json"], capsys)
    document = json.loads(out)
    places = [(f["path"], f["cell"], f["line"]) for f in document["findings"]]
    assert places == [("vision.ipynb", 3, 6), ("vision.ipynb", 8, 7), ("vision.ipynb", 8, 8)]
    source = json.loads(vision.read_text(encoding="utf-8"))["cells"]
    for finding in document["findings"]:
        assert "expect" in source[finding["cell"] - 1]["source"][finding["line"] - 1] or finding["code"] == "TCL901"
        for edit in finding["fix"]["edits"]:
            assert edit["cell"] == finding["cell"]
    assert [(s["cell"], s["line"]) for s in document["summary"]["sites"]] == [(6, 2), (8, 5)]


@pytest.mark.parametrize("name", sorted(set(output.FORMATS) - output.IN_CELLS))
def test_services_get_lines_of_the_file(vision: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run([".", "--output-format", name], capsys)
    assert code == 1
    lines = vision.read_text(encoding="utf-8").splitlines()
    row = next(i for i, line in enumerate(lines, 1) if "if y.max() > 0" in line)
    assert str(row) in out
    assert "cell 3, line 6" in out


def test_cells_are_one_module(project: Project) -> None:
    cells = (
        "import torch",
        "def helper(x):\n    if x.sum() > 0:\n        return x\n    return -x",
        "f = torch.compile(helper)",
    )
    project.write({"n.ipynb": data(*cells, "f(torch.ones(3))")})
    (finding,) = project.lint().findings
    assert (finding.code, finding.line) == ("TCL101", 5)
    assert notebook.read((project.root / "n.ipynb").read_bytes()).place(finding.line) == (2, 2)


def test_a_notebook_is_no_module_to_import(project: Project) -> None:
    code = "import torch\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x\n\nf(torch.ones(1))\n"
    project.write({"m.py": code, "torch.ipynb": data("def compile(f):\n    return f"), "pkg/__init__.py": ""})
    assert project.places("m.py", "torch.ipynb") == ["m.py:5 TCL108"]


def test_copies_are_named_by_cell(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = "from torch import nn\nclass M(nn.Module):\n    def forward(self, x):\n        print(x)\n        return x"
    project.write({"a.ipynb": data("x = 1", cell), "b.py": cell + "\n"})
    monkeypatch.chdir(project.root)
    _, out, _ = run(["."], capsys)
    assert "= same code as      a.ipynb:cell 2:4\n" in out
    assert "= same code as      b.py:4\n" in out


def test_a_notebook_compiles_a_model_of_the_project(project: Project) -> None:
    model = (
        "from torch import nn\n\nclass M(nn.Module):\n    def forward(self, x):\n        print(x)\n        return x\n"
    )
    project.write(
        {
            "m.py": model,
            "n.ipynb": data("import torch\nfrom m import M", "net = torch.compile(M())\nnet(torch.ones(2))"),
        }
    )
    (finding,) = project.lint().findings
    assert (finding.path, finding.line) == ("m.py", 5)
    assert finding.chain[0].path == "n.ipynb"


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (b"{", 1, "not JSON"),
        (b'{\n "cells": [\n  oops\n ]\n}', 3, "not JSON"),
        (b"[]", 1, "JSON object"),
        (b'{"a": 1}', 1, '"cells"'),
        (b'{"worksheets": []}', 1, "format 3"),
        (b'{"cells": [\n{"cell_type": "code",\n "source": 3}]}', 3, "cell 1"),
        (b'{"cells": [{"cell_type": "code"}]}', 1, "cell 1"),
        (b'{\n"cells": "\xff"}', 2, "not UTF-8"),
        (b"[" * 100_000, 1, ""),
        (b"", 1, "not JSON"),
    ],
)
def test_what_is_no_notebook(project: Project, content: bytes, line: int, says: str) -> None:
    (finding,) = project.write({"n.ipynb": content}).lint().findings
    assert (finding.code, finding.line) == ("TCL902", line)
    assert says in finding.message


def test_a_broken_notebook_beside_what_is_linted_is_nobodys_concern(project: Project) -> None:
    project.write({"n.ipynb": b"{", "m.py": "import torch\n", "tclint.toml": ""})
    assert api.lint(["m.py"], cwd=project.root).findings == ()


@pytest.mark.parametrize(
    "content",
    [
        b'{"cells": []}',
        b'{"cells": [{"cell_type": "markdown", "source": "# if x"}, 3, {}]}',
        data("this is no Python", metadata={"kernelspec": {"language": "R"}}),
        data("x <- 1", metadata={"language_info": {"name": "julia"}}),
        data(""),
        data("await thing()"),
        b"\xef\xbb\xbf" + data("x = 1"),
    ],
)
def test_nothing_to_say(project: Project, content: bytes) -> None:
    project.write({"n.ipynb": content})
    assert project.lint().findings == ()
    read = notebook.read(content)
    assert read.folded(read.source) == content


def test_a_syntax_error_names_the_cell(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write({"n.ipynb": data("import torch", "x = 1\nif x\n    pass")})
    monkeypatch.chdir(project.root)
    _, out, _ = run(["n.ipynb", "--output-format", "concise"], capsys)
    assert out.startswith("n.ipynb:cell 2:2:1: TCL903")


# --- what is IPython's ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline", ["pass"]),
        ("!ls \\\n  -l\nx = 1", ["pass", "", "x = 1"]),
        ("if a:\n    %magic\n    !cmd 'it", ["if a:", "    pass", "    pass"]),
        ("files = !ls\na, b = %magic x", ["files = get_ipython()", "a, b = get_ipython()"]),
        ("model?\n?model\nmodel.fit??", ["pass", "pass", "pass"]),
        ("%%bash\nls 'x\n\nrm", ["", "", "", ""]),
        ("%%time\ny = f(x)", ["pass", "y = f(x)"]),
        ("%%capture out\n!ls\nz = 1", ["pass", "pass", "z = 1"]),
        ("%time y = f(x)", ["if 1: y = f(x)"]),
        ("%timeit f(x)", ["if True:f(x)"]),
        ("%timeit -n 10 f(x)", ["pass"]),
        ("pip install torch\nx = 1", ["pass", "x = 1"]),
        ("  pip install torch==2.13 'x[y]>=1'\nx = 1", ["pass", "x = 1"]),
        (" ! pip install torch\n !ls\nx = 1", ["pass", "pass", "x = 1"]),
        ("y = (x\n     % 3)", ["y = (x", "     % 3)"]),
        ('s = """\n%not magic\n!nor this\n"""\n%magic', ['s = """', "%not magic", "!nor this", '"""', "pass"]),
        ("f(a,\n  b)\n!ls", ["f(a,", "  b)", "pass"]),
        ("x = a \\\n  % b\n%magic", ["x = a \\", "  % b", "pass"]),
        ("x %= 3\nassert x != 2\n%magic", ["x %= 3", "assert x != 2", "pass"]),
        ("ok = 'why?'", ["ok = 'why?'"]),
    ],
)
def test_magics(cell: str, python: list[str]) -> None:
    read = notebook.read(data(cell))
    lines = [line.partition("# tclint magic")[0].rstrip() for line in read.text.splitlines()[1:]]
    assert lines == python
    compile(read.source, "cell", "exec")
    assert read.folded(read.source) == data(cell)


@pytest.mark.parametrize(("language", "lines"), [("shellscript", 0), ("plaintext", 0), ("python", 1)])
def test_a_cell_that_an_editor_takes_for_another_language(language: str, lines: int) -> None:
    content = book("x = 1")
    content["cells"][0]["metadata"] = {"vscode": {"languageId": language}}
    assert notebook.read(json.dumps(content).encode()).text.count("x = 1") == lines


# --- fixes ------------------------------------------------------------------------------------------------------------


def test_fixes_go_into_the_cells(vision: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = vision.read_text(encoding="utf-8")
    code, _, err = run(["vision.ipynb", "--fix", "--unsafe-fixes", "--show-fixes"], capsys)
    assert code == 0, err
    assert "vision.ipynb:cell 8:8 TCL901 remove the comment" in err
    after = vision.read_text(encoding="utf-8")
    old, new = json.loads(before), json.loads(after)
    changed = [i for i, (a, b) in enumerate(zip(old["cells"], new["cells"], strict=True), 1) if a != b]
    assert changed == [3, 8]
    assert "        y = torch.where(y.max() > 0, y * 2, y)  # expect: TCL101\n" in new["cells"][2]["source"]
    assert new["cells"][7]["source"][-1] == "%timeit step(torch.ones(1))"
    # All else is as it was, byte for byte.
    assert after == json.dumps(new, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("indent", "ascii_only", "end"), [(1, False, "\n"), (4, True, ""), (None, False, ""), ("\t", True, "\n")]
)
def test_the_file_keeps_its_style(indent: int | None, ascii_only: bool, end: str) -> None:
    before = data("a = 'ü'\nb = 2", "c = 3", indent=indent, ascii_only=ascii_only, end=end)
    read = notebook.read(before)
    after = read.folded(read.source.replace(b"b = 2", b"b = 20\nbb = 21"))
    assert after == data("a = 'ü'\nb = 20\nbb = 21", "c = 3", indent=indent, ascii_only=ascii_only, end=end)


def test_a_source_that_is_one_string_stays_one() -> None:
    before = data("a = 1").replace(b'[\n    "a = 1"\n   ]', b'"a = 1"')
    assert b'"source": "a = 1"' in before
    read = notebook.read(before)
    assert read.folded(read.source.replace(b"a = 1", b"a = 2\nb = 3")) == before.replace(b"a = 1", rb"a = 2\nb = 3")


def test_numbers_that_json_would_write_otherwise_stay(project: Project) -> None:
    before = data("x = 1", metadata={"t": 0}).replace(b'"t": 0', b'"t": 1E-05')
    read = notebook.read(before)
    assert b"1E-05" in read.folded(read.source.replace(b"x = 1", b"x = 2"))


@pytest.mark.parametrize(
    ("cells", "old", "new", "why"),
    [
        (("a = 1", "b = 2"), b"\n# %% tclint cell 2", b"", "across cells"),
        (("!ls\na = 1",), b"pass  #", b"x  #", "IPython"),
        (("%%time\na = 1",), b"# %% tclint cell 1", b"import os\n# %% tclint cell 1", "cell magic"),
    ],
)
def test_edits_that_do_not_fit_are_refused(cells: tuple[str, ...], old: bytes, new: bytes, why: str) -> None:
    read = notebook.read(data(*cells))
    assert old in read.source
    with pytest.raises(notebook.CannotFold, match=why):
        read.folded(read.source.replace(old, new, 1))


def test_an_import_goes_into_the_first_cell() -> None:
    read = notebook.read(data("a = 1", "b = 2"))
    assert read.folded(b"import os\n" + read.source) == data("import os\na = 1", "b = 2")


def test_timed_statements_are_fixed_too() -> None:
    read = notebook.read(data("%time f(x)"))
    assert read.folded(read.source.replace(b"f(x)", b"g(x)")) == data("%time g(x)")


def test_a_fix_on_a_line_of_ipython_is_refused_aloud(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write({"n.ipynb": data("import torch\n%magic  # tclint: ignore[TCL101]")})
    before = (project.root / "n.ipynb").read_bytes()
    monkeypatch.chdir(project.root)
    run(["n.ipynb", "--fix"], capsys)
    assert (project.root / "n.ipynb").read_bytes() == before


def test_verify_cannot_run_a_cell_and_says_so(
    vision: Path, torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(
        [".", "--verify", "--verify-python", torch_python, "--device", "cpu", "--output-format", "json"], capsys
    )
    assert code == 1
    assert {f["verified"]["outcome"] for f in json.loads(out)["findings"] if f["verified"]} <= {"inconclusive"}


def test_add_ignore(vision: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([".", "--add-ignore=later"], capsys)[0] == 0
    _, out, _ = run([".", "--output-format", "concise"], capsys)
    assert [line.split()[2] for line in out.splitlines()] == ["TCL901[unused-suppression]"]
    cell = json.loads(vision.read_text(encoding="utf-8"))["cells"][2]["source"]
    assert "# tclint: ignore[TCL101]" in cell[5]


def test_baseline(vision: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([".", "--baseline", "known.json", "--update-baseline"], capsys)[0] == 0
    assert run([".", "--baseline", "known.json"], capsys)[0] == 0
    # A cell above does not make old findings new.
    document = json.loads(vision.read_text(encoding="utf-8"))
    document["cells"].insert(0, book("x = 1")["cells"][0])
    vision.write_text(json.dumps(document))
    assert run([".", "--baseline", "known.json"], capsys)[0] == 0


def test_changed_lines(vision: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    assert run([".", "--diff-base", "HEAD"], capsys)[0] == 0
    vision.write_text(vision.read_text(encoding="utf-8").replace('print(\\"step', 'print(\\"stepped'), encoding="utf-8")
    _, out, _ = run([".", "--diff-base", "HEAD", "--output-format", "concise"], capsys)
    assert [line.partition("[")[0] for line in out.splitlines()] == ["vision.ipynb:cell 8:7:5: TCL108"]


def test_stdin(vision: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    class In:
        buffer = io.BytesIO(vision.read_bytes())

    vision.unlink()
    monkeypatch.setattr("sys.stdin", In())
    _, out, _ = run(["-", "--stdin-filename", "vision.ipynb", "--output-format", "concise"], capsys)
    assert [line.partition("[")[0] for line in out.splitlines()] == [f"vision.ipynb:{place}" for place in PLACES]
