"""What the server keeps of a project between lints: the same findings, the edited text first, and on disk when it is saved."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import random_edits
from lintkit import ROOT, Project

from tclint.run import plan
from tclint.server.session import Document, Session

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

HELPERS = "def scale(x):\n    return x * x.max().item()\n"
MODEL = """\
import torch
from torch import nn

from helpers import scale


class Model(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return scale(x)
"""
TRAIN = "import torch\n\nfrom model import Model\n\nmodel = torch.compile(Model())\nout = model(torch.ones(3))\n"
SOURCES: dict[str, str | bytes] = {
    "helpers.py": HELPERS,
    "model.py": MODEL,
    "train.py": TRAIN,
    "tclint.toml": 'target-torch = "2.13"\n',
}


def documents(root: Path, names: Sequence[str], version: int = 1) -> list[Document]:
    return [Document(str(root / name), (root / name).read_text(), version) for name in names]


def places(
    session: Session, held: Sequence[Document], only: set[str] | None = None
) -> dict[str, list[tuple[str, int]]]:
    found = session.lint(held, only)
    return {Path(each.document.path).name: [(f.code, f.line) for f in each.findings] for each in found}


def told(session: Session, held: Sequence[Document]) -> list[object]:
    return [(linted.document.path, linted.findings) for linted in session.lint(held)]


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were really interpreted."""
    paths: list[str] = []
    original = plan.run_parts

    def listen(runner: object, wanted: Sequence[plan.Part], jobs: int, packed: bool) -> object:
        paths.extend(path for part in wanted for path in part.paths)
        return original(runner, wanted, jobs, packed)  # type: ignore[arg-type]

    monkeypatch.setattr(plan, "run_parts", listen)
    return paths


@pytest.mark.slow
def test_edits_at_random(project: Project) -> None:
    """Typed into one of three open texts, and saved now and then."""
    project.write({"tclint.toml": 'target-torch = "2.13"\n'})
    for path in sorted((ROOT / "fixtures" / "demo").rglob("*.py")):
        project.write({f"{path.parent.name}/{path.name}": path.read_bytes()})
    names = sorted(p.relative_to(project.root).as_posix() for p in project.root.rglob("*.py"))
    dice = random.Random(2)
    opened = dice.sample(names, min(3, len(names)))
    held = dict(zip(opened, documents(project.root, opened), strict=True))
    session = Session([str(project.root)])
    for number in range(random_edits.EDITS):
        name = dice.choice(opened)
        before = held[name]
        held[name] = Document(before.path, random_edits.edited(before.text, number, dice), number)
        if dice.random() < 0.2:
            project.write({name: held[name].data})
            session.forget_files()
            session.save()
        if dice.random() < 0.5:
            session.lint([*held.values()], {held[name].path})
        assert told(session, [*held.values()]) == told(Session([str(project.root)]), [*held.values()]), name


def test_one_text_of_several(project: Project) -> None:
    project.write(SOURCES)
    session = Session([str(project.root)])
    held = documents(project.root, ["model.py", "train.py"])
    whole = places(session, held)
    assert whole["model.py"] == [("TCL101", 9)]
    assert places(session, held, {held[0].path}) == {"model.py": whole["model.py"]}


def test_an_edit_costs_what_reads_it(project: Project, parts: list[str]) -> None:
    project.write({**SOURCES, "other.py": MODEL.replace("Model", "Other").replace("scale(x)", "x")})
    (project.root / "train.py").unlink()
    session = Session([str(project.root)])
    helpers, model = documents(project.root, ["helpers.py", "model.py"])
    session.lint([helpers, model])
    assert {"model.py", "other.py"} <= {*parts}
    parts.clear()
    session.lint([Document(helpers.path, HELPERS.replace("max", "min"), 2), model])
    assert {*parts} == {"model.py"}


def test_it_is_written_when_somebody_says_so(project: Project, parts: list[str]) -> None:
    project.write(SOURCES)
    (project.root / "train.py").unlink()
    session = Session([str(project.root)])
    held = documents(project.root, ["model.py"])
    session.lint(held)
    session.save()
    parts.clear()
    Session([str(project.root)]).lint(held)
    assert parts == []
    session.lint([Document(held[0].path, MODEL.replace("> 0", "> 1"), 2)])
    assert parts
    parts.clear()
    # What was typed and not saved is nobody else's business.
    Session([str(project.root)]).lint([Document(held[0].path, MODEL.replace("> 0", "> 1"), 2)])
    assert parts
