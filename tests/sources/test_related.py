"""What is read around a single file: the parts of its project that imports join, and no others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from lintkit import Project

from tclint.model.settings import Settings
from tclint.run import project as front
from tclint.run.parts import PartRunner
from tclint.run.project import Project as Opened
from tclint.run.store import open_cache
from tclint.sources.files import InputFile
from tclint.sources.related import _imported, related

Content = Callable[[InputFile], bytes]
Say = Callable[[bytes], frozenset[str]]
NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n        return x\n"


def around(root: Path, named: str, files: dict[str, str], roots: tuple[str, ...] = ()) -> set[str]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    inputs = [InputFile(name, str(root / name), name == named, name == named) for name in sorted(files)]
    return {file.path for file in related(inputs, str(root), [str(root / each) for each in roots])}


@pytest.mark.parametrize(
    "line",
    [
        "import b",
        "import os, b.x as c",
        "from b.x import f",
        "from b import (\n    x,\n)",
        "if 1: import os; import b",
        "from \\\n  b import x",
        "import \\\n  b",
        "import os, \\\n  b",
        "def f():\n    import b.x",
    ],
)
@pytest.mark.parametrize("named", ["a/m.py", "b/x.py"])
def test_what_imports_join(tmp_path: Path, line: str, named: str) -> None:
    """Whoever imports whom: a site in either speaks for the other."""
    files = {"a/m.py": f"{line}\n", "a/other.py": "", "b/x.py": "import os\n", "c/x.py": "import d\n", "lone.py": ""}
    assert around(tmp_path, named, files) == {"a/m.py", "a/other.py", "b/x.py"}


def test_parts_are_joined_over_others(tmp_path: Path) -> None:
    files = {"a.py": "import b\n", "b/x.py": "", "c/y.py": "from b import x\n", "d.ipynb": '"import c\\n"', "e.py": ""}
    assert around(tmp_path, "a.py", files) == {"a.py", "b/x.py", "c/y.py", "d.ipynb"}


def test_names_that_lead_into_a_part(tmp_path: Path) -> None:
    """A root of imports inside a part gives its packages names; the folder itself may be imported from above."""
    files = {"a.py": "import deep\n", "lib/src/deep/x.py": "", "c.py": f"import {tmp_path.name}.a\n", "d.py": ""}
    assert around(tmp_path, "a.py", files, ("lib/src",)) == {"a.py", "lib/src/deep/x.py", "c.py"}


def test_parts_of_a_package_import_each_other_relatively(tmp_path: Path) -> None:
    files = {"__init__.py": "", "a/m.py": "from ..b import x\n", "b.py": "", "c.py": ""}
    assert around(tmp_path, "a/m.py", files) == set(files)


def test_files_of_another_project_stay(tmp_path: Path) -> None:
    other = InputFile("other.py", str(tmp_path / "other.py"), False, False)
    own = InputFile("a.py", str(tmp_path / "here" / "a.py"), True, True)
    assert related([own, other], str(tmp_path / "here"), []) == [own, other]


def test_a_file_in_a_folder_of_many_packages(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs what it has to do with, and says what it says beside all of them."""
    packages = {f"p{i}/net.py": NET for i in range(40)}
    packages["p3/train.py"] = "import torch\nfrom p7.net import Net\n\nmodel = torch.compile(Net())\n"
    project.write({"setup.py": "", **packages, **{f"p{i}/__init__.py": "" for i in range(40)}})
    how = {"no-cache": True, "jobs": 1}

    def opened() -> Opened:
        return Opened.open([os.path.join("p7", "net.py")], cwd=str(project.root), overrides=how)

    whole = opened()
    monkeypatch.setattr(front, "_LARGE", 10)
    bounded = opened()
    assert len(whole.files) > 80
    assert {file.path.partition("/")[0] for file in bounded.files} == {"p3", "p7"}
    assert bounded.lint().findings == whole.lint().findings != ()


def test_a_file_after_a_run_over_all_of_them(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of the whole program is known to a hook: the sites are not read again, and it says the same."""
    packages = {f"p{i}/net.py": NET for i in range(8)}
    packages["p3/train.py"] = "import torch\nfrom p7.net import Net\n\nmodel = torch.compile(Net())\n"
    project.write({"setup.py": "", **packages, **{f"p{i}/__init__.py": "" for i in range(8)}})
    monkeypatch.setattr(front, "_LARGE", 10)
    named = os.path.join("p7", "net.py")

    def opened(path: str, **how: object) -> Opened:
        return Opened.open([path], cwd=str(project.root), overrides={"cache-dir": ".kept", "jobs": 1, **how})

    before = opened(named)
    assert {file.path.partition("/")[0] for file in before.files} == {"p3", "p7"}
    opened(".").lint()
    again = opened(named)
    assert len(again.files) == len(opened(".").files) > len(before.files)
    read: list[object] = []
    monkeypatch.setattr(PartRunner, "find_sites", lambda runner, eager: read.append(eager))
    assert [f.line for f in again.lint().findings] == [6]
    other = os.path.join("p5", "net.py")
    project.write({other: NET.replace("print(x)", "pass\n        print(x)")})
    assert [f.line for f in opened(other).lint().findings] == [7]
    assert read == []


def test_imports_are_looked_for_once(tmp_path: Path) -> None:
    """Of files that did not change, and changed ones by what they hold now."""
    for name, text in {"a.py": "import b\n", "b.py": "", "c.py": ""}.items():
        (tmp_path / name).write_text(text)
    inputs = [
        InputFile(name, str(tmp_path / name), name == "a.py", name == "a.py") for name in ("a.py", "b.py", "c.py")
    ]
    settings = Settings(root=str(tmp_path), cache_dir=str(tmp_path / ".kept"))
    asked: list[bytes] = []

    def found() -> list[str]:
        cache = open_cache(settings, str(tmp_path))
        assert cache is not None

        def said(question: str, files: Sequence[InputFile], content: Content, say: Say) -> Mapping[str, frozenset[str]]:
            def heard(data: bytes) -> frozenset[str]:
                asked.append(data)
                return say(data)

            return cache.said(question, files, content, heard)

        return [file.path for file in related(inputs, str(tmp_path), [], said)]

    assert found() == found() == ["a.py", "b.py"]
    assert sorted(asked) == [b"", b"import b\n"]
    (tmp_path / "c.py").write_text("import a, b\n")
    assert found() == ["a.py", "b.py", "c.py"]
    assert asked[2:] == [b"import a, b\n"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"from \\\n  alpha import x\n", {"alpha"}),
        (b"from alpha \\\r\n  import x\r\n", {"alpha"}),
        (b"import \\\n alpha, \\\n  beta as b\nx = 1\n", {"alpha", "beta"}),
        (b"x = 1; import alpha\nif x: from beta import y", {"alpha", "beta"}),
        (b"def f():\n\tfrom alpha.gamma import (\n\t\tx,\n\t)\n", {"alpha"}),
        (b"import alpha\rimport beta\r", {"alpha", "beta"}),
    ],
)
def test_every_import_is_found(text: bytes, words: set[str]) -> None:
    assert words <= _imported(text, "top")
