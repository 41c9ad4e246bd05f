"""Which files of a project are read where a folder of it is linted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.sources.around import around
from tclint.sources.files import InputFile

SITE = "f = torch.compile(f)\n"


def read_with(root: Path, folder: str, files: dict[str, str], roots: tuple[str, ...] = ()) -> set[str]:
    """The files beside those of a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    inside = {name for name in files if name.startswith(f"{folder}/")}
    inputs = [InputFile(name, str(root / name), False, name in inside) for name in sorted(files)]
    return {f.path for f in around(inputs, str(root), [str(root / each) for each in roots], [b"our_compile"])} - inside


@pytest.mark.parametrize(
    "line",
    [
        "import pkg.m\n",
        "from pkg import m\n",
        "from pkg.m import Net\n",
        "from .pkg.m import Net\n",
        "def main():\n    from pkg.m import Net\n",
        "from helper import Net\n",
    ],
)
@pytest.mark.parametrize("site", [SITE, "f = our_compile(f)\n"])
def test_a_site_that_leads_to_the_folder_is_read_with_what_it_imports(tmp_path: Path, line: str, site: str) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/m.py": "import torch\n",
        "train.py": f"{line}import data\n{site}",
        "helper.py": "from pkg.m import Net\n",
        "data.py": "",
        "other.py": "import pkg.m\n",
    }
    expected = {"train.py", "data.py"} | ({"helper.py"} if "helper" in line else set())
    assert read_with(tmp_path, "pkg", files) == expected


def test_where_no_site_leads_to_the_folder_nothing_is_read(tmp_path: Path) -> None:
    files = {"pkg/m.py": "import util\n", "util.py": "", "other.py": SITE, "caller.py": "import pkg.m\n"}
    assert read_with(tmp_path, "pkg", files) == set()


def test_who_calls_what_the_folder_compiles_is_read_but_no_test(tmp_path: Path) -> None:
    files = {
        "pkg/m.py": SITE,
        "pkg/plain.py": "",
        "script.py": "from pkg.m import f\n",
        "above.py": "import script\n",
        "plain.py": "import pkg.plain\n",
        "tests/test_m.py": "from pkg.m import f\n",
        "tests/test_site.py": f"from pkg.m import f\n{SITE}",
    }
    assert read_with(tmp_path, "pkg", files) == {"script.py", "above.py", "tests/test_site.py"}


def test_imports_start_where_projects_are_installed_from(tmp_path: Path) -> None:
    """A folder of packages, a package that is installed by itself, and a notebook that imports them."""
    files = {
        "src/pkg/m.py": "",
        "train.py": f"from pkg.m import Net\n{SITE}",
        "book.ipynb": '{"source": ["from pkg.m import Net\\n", "f = torch.compile(f)\\n"]}',
    }
    assert read_with(tmp_path, "src/pkg", files) == set()
    assert read_with(tmp_path, "src/pkg", files, ("src",)) == {"train.py", "book.ipynb"}
    assert read_with(tmp_path, "src/pkg", files, ("src/pkg",)) == {"train.py", "book.ipynb"}


def test_what_lies_outside_of_the_project_stays(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    lone = InputFile("lone.py", str(tmp_path / "lone.py"), False, False)
    assert around([lone], str(tmp_path / "in"), []) == [lone]
