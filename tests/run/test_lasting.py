"""What a process keeps of a project between lints saves time and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import random_edits
from lintkit import Project
from test_store import EDITS, SOURCES, TRAIN

from tclint.model.report import Report
from tclint.program import Module, Program, module, program
from tclint.run import engine
from tclint.run.lasting import Lasting
from tclint.run.project import Project as Opened
from tclint.sources import configuration, files


class Process:
    """A process that lints one project again and again."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.lasting = Lasting()

    def lint(self, *, kept: bool = True, **overrides: object) -> Report:
        """Of all files as they are now; not `kept`: with nothing of what was there before."""
        given: dict[str, object] = {key.replace("_", "-"): value for key, value in overrides.items()}
        settings = configuration.load(["."], cwd=self.root, isolated=True, overrides={"no-cache": True, **given})
        inputs = files.discover(["."], settings, self.root)
        if not kept:
            return engine.lint(inputs, settings)
        return Opened(inputs, settings, self.root, lasting=self.lasting).lint()


@pytest.fixture
def process(project: Project) -> Process:
    return Process(project.root)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files of which something was parsed."""
    paths: list[str] = []
    original = module.parse

    def listen(path: str, data: bytes) -> object:
        paths.append(path)
        return original(path, data)

    monkeypatch.setattr(module, "parse", listen)
    return paths


@pytest.mark.parametrize("start", [SOURCES, {**SOURCES, "train.py": TRAIN}], ids=["assumed", "compiled"])
def test_what_is_kept_changes_nothing(project: Project, process: Process, start: Mapping[str, str | bytes]) -> None:
    project.write(dict(start))
    assert process.lint() == process.lint(kept=False)
    for edit in EDITS.values():
        project.write(edit)
        assert process.lint() == process.lint(kept=False)
        project.write(dict(start))
        for name in edit.keys() - start.keys():
            (project.root / name).unlink()
        process.lint()


@pytest.mark.slow
def test_nor_after_edits_at_random(project: Project, process: Process) -> None:
    for name in random_edits.over(project, "TCL[345]0*/*.py", 16, seed=1):
        assert process.lint() == process.lint(kept=False), name


def test_what_did_not_change_is_not_parsed_again(project: Project, process: Process, parsed: list[str]) -> None:
    project.write({**SOURCES, "train.py": TRAIN})
    process.lint()
    assert set(parsed) >= {"models.py", "helpers.py"}
    parsed.clear()
    project.write({"helpers.py": "# a line\ndef scale(x):\n    return x * x.min().item()\n"})
    changed = process.lint()
    assert set(parsed) == {"helpers.py"}
    assert changed == process.lint(kept=False)


def test_what_was_found_out_with_the_help_of_others_goes(
    project: Project, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something that is kept with one file and hangs on another one does not outlive an edit of that one."""
    project.write({"a.py": "import b\n", "b.py": "x = 1\n"})
    made: list[str] = []

    def seen(own: Module) -> bytes:
        made.append(own.path)
        return own.program.by_path["b.py"].data

    rows = [(name, str(project.root / name), (project.root / name).read_bytes(), True) for name in ("a.py", "b.py")]
    built = Program.build(rows)
    monkeypatch.setattr(program, "seen", seen, raising=False)
    ask: Callable[[], bytes] = lambda: built.by_path["a.py"].index(seen)  # noqa: E731
    assert (ask(), ask()) == (b"x = 1\n", b"x = 1\n")
    built.renew([("b.py", str(project.root / "b.py"), b"x = 2\n", True)])
    assert ask() == b"x = 2\n"
    assert made == ["a.py"] * 2
