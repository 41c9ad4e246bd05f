"""Where absolute imports start from, by what projects say of themselves and by how they are laid out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.sources.files import InputFile
from tclint.sources.roots import import_roots


def laid_out(top: Path, *paths: str, **texts: str) -> list[InputFile]:
    for path in (*paths, *texts):
        file = top / path.replace("__slash__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts.get(path, ""))
    return [InputFile(str(p.relative_to(top)), str(p), True) for p in sorted(top.rglob("*.py"))]


def found(top: Path, files: list[InputFile], *declared: str) -> list[str]:
    roots = import_roots(files, [str(top / each) for each in declared], str(top))
    return [str(Path(root).relative_to(top)) for root in roots]


def test_src_beside_scripts(tmp_path: Path) -> None:
    files = laid_out(tmp_path, "src/pkg/__init__.py", "scripts/train.py", "tests/test_it.py")
    assert found(tmp_path, files) == ["src"]


def test_a_package_called_src_is_no_root(tmp_path: Path) -> None:
    assert found(tmp_path, laid_out(tmp_path, "src/__init__.py", "src/model.py", "train.py")) == []


def test_a_workspace_of_two(tmp_path: Path) -> None:
    files = laid_out(tmp_path, "packages/a/src/a/__init__.py", "packages/b/src/b/train.py")
    assert found(tmp_path, files) == ["packages/a/src", "packages/b/src"]


def test_a_package_beside_its_setup_stands_for_itself(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/setup.py").write_text(
        "from setuptools import find_packages, setup\nsetup(packages=find_packages())\n"
    )
    files = laid_out(tmp_path, "one/lib/__init__.py", "one/tests/__init__.py", "one/utils.py", "two/train.py")
    assert found(tmp_path, files) == ["one/lib"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.setuptools.packages.find]\nwhere = ["python"]\n'),
        ("pyproject.toml", '[tool.setuptools.package-dir]\n"" = "python"\n'),
        ("pyproject.toml", '[tool.poetry]\npackages = [{include = "pkg", from = "python"}]\n'),
        ("pyproject.toml", '[tool.hatch.build.targets.wheel]\npackages = ["python/pkg"]\n'),
        ("pyproject.toml", '[tool.pdm.build]\npackage-dir = "python"\n'),
        ("pyproject.toml", '[tool.maturin]\npython-source = "python"\n'),
        ("pyproject.toml", '[tool.uv.build-backend]\nmodule-root = "python"\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["python"]\n'),
        ("pyproject.toml", '[tool.ruff]\nsrc = ["python"]\n'),
        ("setup.cfg", "[options]\npackage_dir =\n    = python\n"),
        ("setup.cfg", "[options.packages.find]\nwhere = python\n"),
        ("setup.py", 'setup(package_dir={"": "python"}, packages=find_packages("python"))\n'),
        ("setup.py", 'setuptools.setup(packages=setuptools.find_namespace_packages(where="python"))\n'),
    ],
)
def test_what_a_project_says(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert found(tmp_path, laid_out(tmp_path, "python/pkg/__init__.py", "tools/train.py")) == ["python"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.setuptools\n"),
        ("pyproject.toml", "tool = 3\n"),
        ("pyproject.toml", "[tool.setuptools.packages]\nfind = 1\n[tool.poetry]\npackages = [1]\n"),
        ("setup.cfg", "no header\n"),
        ("setup.py", "setup(\n"),
    ],
)
def test_what_cannot_be_understood_says_nothing(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert found(tmp_path, laid_out(tmp_path, "tools/train.py")) == []


def test_what_the_user_names_comes_first(tmp_path: Path) -> None:
    files = laid_out(tmp_path, "src/pkg/__init__.py", "vendor/lib/__init__.py")
    assert found(tmp_path, files, "vendor") == ["vendor", "src"]
