"""Which files a run reads."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tclint.model.settings import Settings
from tclint.sources import files
from tclint.sources.configuration import load


def tree(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")


def shown(root: Path, *paths: str, settings: Settings | None = None, **options: bool) -> list[str]:
    found = files.discover(paths or (".",), settings or Settings(root=str(root)), str(root), **options)  # type: ignore[arg-type]
    return [file.path for file in found]


def test_python_files_only_sorted(tmp_path: Path) -> None:
    tree(tmp_path, "b.py", "a/z.py", "a/x.pyi", "c.txt", "a.py.bak")
    assert shown(tmp_path) == ["a/z.py", "b.py"]


def test_default_excludes_and_paths_given_by_name(tmp_path: Path) -> None:
    tree(tmp_path, "m.py", "build/a.py", ".venv/lib/site-packages/torch/b.py", "node_modules/x/c.py", "builder/d.py")
    assert shown(tmp_path) == ["builder/d.py", "m.py"]
    assert shown(tmp_path, "build") == ["build/a.py"]
    assert shown(tmp_path, "build/a.py") == ["build/a.py"]
    inside = ".venv/lib/site-packages/torch"
    assert shown(tmp_path, inside) == [f"{inside}/b.py"]


def test_force_exclude(tmp_path: Path) -> None:
    tree(tmp_path, "m.py", "build/a.py")
    assert shown(tmp_path, "m.py", "build/a.py", force_exclude=True) == ["m.py"]


def test_force_exclude_does_not_look_above_the_working_folder(tmp_path: Path) -> None:
    project = tmp_path / "build" / "p"
    tree(project, "m.py")
    assert shown(project, "m.py", force_exclude=True) == ["m.py"]


def test_exclude_globs(tmp_path: Path) -> None:
    tree(tmp_path, "a/gen_x.py", "a/b/c.py", "b/c.py", "k.py")
    settings = Settings(root=str(tmp_path), extend_exclude=("gen_*.py", "a/b"))
    assert shown(tmp_path, settings=settings) == ["b/c.py", "k.py"]


def test_exclude_on_the_command_line_starts_at_the_working_folder(tmp_path: Path) -> None:
    tree(tmp_path, "sub/a/x.py", "sub/y.py")
    (tmp_path / "tclint.toml").write_text("")
    cwd = tmp_path / "sub"
    settings = load(cwd=str(cwd), overrides={"extend-exclude": ["a/x.py"]})
    assert settings.root == str(tmp_path)
    assert shown(cwd, settings=settings) == ["y.py"]


def test_gitignore_nested_negated_and_info_exclude(tmp_path: Path) -> None:
    tree(tmp_path, "keep.py", "gen/a.py", "gen/keep.py", "deep/x.py", "deep/y.py", "local.py", ".git/info/exclude")
    (tmp_path / ".gitignore").write_text("# comment\ngen/*\n!gen/keep.py\n*.log\n")
    (tmp_path / "deep/.gitignore").write_text("/x.py\n")
    (tmp_path / ".git/info/exclude").write_text("local.py\n")
    assert shown(tmp_path) == ["deep/y.py", "gen/keep.py", "keep.py"]
    assert len(shown(tmp_path, settings=Settings(root=str(tmp_path), respect_gitignore=False))) == 6


def test_gitignore_above_the_given_folder_holds(tmp_path: Path) -> None:
    tree(tmp_path, "src/pkg/a.py", "src/pkg/gen_b.py", "src/pkg/c.py", ".git/HEAD")
    (tmp_path / ".gitignore").write_text("gen_*\n")
    (tmp_path / "src/.gitignore").write_text("c.py\n")
    assert shown(tmp_path, "src/pkg") == ["src/pkg/a.py"]
    # A nearer file takes back what an outer one said.
    (tmp_path / "src/pkg/.gitignore").write_text("!c.py\n")
    assert shown(tmp_path, "src/pkg") == ["src/pkg/a.py", "src/pkg/c.py"]


def test_gitignore_outside_the_repository_does_not_hold(tmp_path: Path) -> None:
    tree(tmp_path, "repo/a.py", "repo/.git/HEAD")
    (tmp_path / ".gitignore").write_text("*.py\n")
    assert shown(tmp_path / "repo") == ["a.py"]


def test_ignored_folder_given_by_name_is_read(tmp_path: Path) -> None:
    tree(tmp_path, "out/a.py", ".git/HEAD")
    (tmp_path / ".gitignore").write_text("out/\n")
    assert shown(tmp_path) == []
    assert shown(tmp_path, "out") == ["out/a.py"]


def test_worktree_reads_the_shared_exclude(tmp_path: Path) -> None:
    tree(tmp_path, "main/.git/info/exclude", "main/.git/worktrees/w/commondir", "w/a.py", "w/b.py")
    (tmp_path / "main/.git/info/exclude").write_text("b.py\n")
    (tmp_path / "main/.git/worktrees/w/commondir").write_text("../..\n")
    (tmp_path / "w/.git").write_text(f"gitdir: {tmp_path}/main/.git/worktrees/w\n")
    assert shown(tmp_path / "w") == ["a.py"]


def test_no_pathspec_without_gitignore(tmp_path: Path) -> None:
    import subprocess

    tree(tmp_path, "a.py")
    code = (
        "import sys; from tclint.sources import files; from tclint.model.settings import Settings;"
        f"files.discover(['.'], Settings(root={str(tmp_path)!r}), {str(tmp_path)!r});"
        "sys.exit('pathspec' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_loops_and_aliases_give_each_file_once(tmp_path: Path) -> None:
    tree(tmp_path, "rules/a.py", "pkg/m.py")
    (tmp_path / "pkg/loop").symlink_to(tmp_path)
    (tmp_path / "aa").symlink_to(tmp_path / "rules")
    (tmp_path / "alias.py").symlink_to(tmp_path / "pkg/m.py")
    (tmp_path / "broken.py").symlink_to(tmp_path / "nothing")
    assert shown(tmp_path) == ["pkg/m.py", "rules/a.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_is_followed_inside_the_repository_and_not_out_of_it(tmp_path: Path) -> None:
    tree(tmp_path, "p/a.py", "other/b.py", "shared/c.py")
    (tmp_path / "p/link").symlink_to(tmp_path / "other")
    (tmp_path / "p/all").symlink_to("/")
    notes: list[str] = []

    def found(*paths: str) -> list[str]:
        notes.clear()
        settings = Settings(root=str(tmp_path / "p"))
        return [f.path for f in files.discover(paths, settings, str(tmp_path / "p"), on_problem=notes.append)]

    assert found(".") == ["a.py"]
    assert [note.split(":")[0] for note in notes] == ["all", "link"]
    # Who names the folder means it; a repository around the project is one with it.
    assert found(".", "link") == ["a.py", "link/b.py"]
    (tmp_path / ".git").mkdir()
    assert found(".") == ["a.py", "link/b.py"]
    assert [note.split(":")[0] for note in notes] == ["all"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names there")
def test_a_repository_whose_git_is_a_pipe(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    os.mkfifo(tmp_path / ".git")
    assert shown(tmp_path) == ["a.py"]


def test_overlapping_arguments(tmp_path: Path) -> None:
    tree(tmp_path, "a/x.py", "a/y.py")
    found = files.discover(["a", "a/x.py", "./a/x.py"], Settings(root=str(tmp_path)), str(tmp_path))
    assert [(file.path, file.explicit) for file in found] == [("a/x.py", True), ("a/y.py", False)]


def test_missing_path(tmp_path: Path) -> None:
    with pytest.raises(files.InputError, match=r"^nope\.py: no such file or folder$"):
        shown(tmp_path, "nope.py")


def test_outside_the_working_folder_is_absolute(tmp_path: Path) -> None:
    tree(tmp_path, "x.py", "sub/y.py")
    assert shown(tmp_path / "sub", "../x.py") == [f"{tmp_path.as_posix()}/x.py"]


def test_unreadable_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "a.py", "shut/b.py")
    scandir = os.scandir

    def refuse(folder: str) -> object:
        # Not chmod: root, which tests often run as, may read everything.
        if folder.endswith("shut"):
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    told: list[str] = []
    found = files.discover(["."], Settings(root=str(tmp_path)), str(tmp_path), on_problem=told.append)
    assert [file.path for file in found] == ["a.py"]
    assert told == ["shut: not read: Permission denied"]


def test_link_adds_the_project_unreported(tmp_path: Path) -> None:
    tree(tmp_path, "train.py", "models/vlm.py")
    settings = Settings(root=str(tmp_path))
    given = files.discover(["models/vlm.py"], settings, str(tmp_path))
    linked = files.link(given, str(tmp_path), settings, str(tmp_path))
    assert [(file.path, file.report, file.explicit) for file in linked] == [
        ("models/vlm.py", True, True),
        ("train.py", False, False),
    ]


def test_stdin_replaces_the_file_on_disk(tmp_path: Path) -> None:
    tree(tmp_path, "m.py", "train.py")
    given = files.stdin_file(b"x = 1\n", "m.py", str(tmp_path))
    linked = files.link([given], str(tmp_path), Settings(root=str(tmp_path)), str(tmp_path))
    assert [(file.path, file.text) for file in linked] == [("m.py", b"x = 1\n"), ("train.py", None)]


def test_project_root(tmp_path: Path) -> None:
    tree(tmp_path, "p/.git/HEAD", "p/a/b/m.py", "p/a/pyproject.toml")
    assert files.project_root(str(tmp_path / "p/a/b/m.py")) == str(tmp_path / "p/a")
    assert files.project_root(str(tmp_path / "p")) == str(tmp_path / "p")


def test_fast(tmp_path: Path) -> None:
    for i in range(100):
        folder = tmp_path / f"p{i % 10}" / f"q{i}"
        folder.mkdir(parents=True)
        for j in range(25):
            (folder / f"m{j}.py").touch()
    (tmp_path / ".gitignore").write_text("*.log\nout/\n*.egg-info\n/site\n__pycache__/\n")
    shown(tmp_path, "p0")  # import pathspec outside the clock
    start = time.process_time()
    assert len(shown(tmp_path)) == 2500
    # Takes 0.06 s here; the bound leaves room for a slow machine and still catches a quadratic walk.
    assert time.process_time() - start < 0.3
