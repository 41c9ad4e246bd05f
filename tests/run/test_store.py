"""The cache and the processes change when a run ends, never what it says."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import random_edits
from lintkit import ROOT, Project, tclint_command, within

from tclint.model.errors import ConfigError
from tclint.model.report import Report
from tclint.model.settings import Settings
from tclint.run import cachedir, cachekey, engine, plan, store, suppress, taught, workers
from tclint.run.parts import Part
from tclint.sources import configuration, files

MODEL = """
import torch
from torch import nn
from helpers import scale

class Inner(nn.Module):
    def forward(self, x):
        return scale(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        return self.inner(x)
"""
HELPERS = """
def scale(x):
    return x * x.max().item()
"""
OTHER = """
from torch import nn

class Other(nn.Module):
    def forward(self, x):
        return x[x > 0]
"""
TRAIN = """
import torch
from models import Model

model = torch.compile(Model())
for size in (2, 3):
    model(torch.ones(size))
"""
SOURCES: dict[str, str | bytes] = {"models.py": MODEL, "helpers.py": HELPERS, "other.py": OTHER}


def run(project: Project, *paths: str, cached: bool = True, **overrides: object) -> Report:
    """As the command does it."""
    given: dict[str, object] = {key.replace("_", "-"): value for key, value in overrides.items()}
    given["no-cache"] = not cached
    cwd = str(project.root)
    settings = configuration.load(paths or ["."], cwd=cwd, isolated=True, overrides=given)
    inputs = files.discover(paths or ["."], settings, cwd)
    if paths and all(os.path.isfile(os.path.join(cwd, path)) for path in paths):
        inputs = files.link(inputs, cwd, settings, cwd)
    kept = store.open_cache(settings, cwd)
    if kept is None:
        return engine.lint(inputs, settings)
    return kept.recall(inputs) or engine.lint(inputs, settings, cache=kept)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> list[Part]:
    """The parts that were really interpreted."""
    parts: list[Part] = []
    original = plan.run_parts

    def listen(runner: object, wanted: Sequence[Part], jobs: int, packed: bool) -> object:
        parts.extend(wanted)
        return original(runner, wanted, jobs, packed)  # type: ignore[arg-type]

    monkeypatch.setattr(plan, "run_parts", listen)
    return parts


def command(project: Project, *args: str) -> tuple[int, bytes, bytes]:
    child = subprocess.run(
        tclint_command("--isolated", "--output-format", "json", *args),
        cwd=project.root,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    return child.returncode, child.stdout, child.stderr


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


# --- the same findings -----------------------------------------------------------------------------------------------


def test_an_edit_reaches_what_reads_the_file_and_nothing_else(project: Project, interpreted: list[Part]) -> None:
    project.write(SOURCES)
    first = run(project)
    assert {f.code for f in first.findings} >= {"TCL101", "TCL103", "TCL106"}
    assert {path for part in interpreted for path in part.paths} >= {"models.py", "other.py"}
    interpreted.clear()
    assert run(project) == first
    assert interpreted == []
    project.write({"helpers.py": "# a line\n" + HELPERS.lstrip()})
    changed = run(project)
    assert {path for part in interpreted for path in part.paths} == {"models.py"}, "other.py reads no helper"
    assert changed == run(project, cached=False) != first


def test_an_edit_reaches_who_reads_the_function(project: Project, interpreted: list[Part]) -> None:
    helpers = "def scale(x):\n    return x * x.max()\n\n\ndef unused(x):\n    return x + 1\n"
    project.write({**SOURCES, "helpers.py": helpers})
    run(project)
    for text, reached in (
        (helpers.replace("x + 1", "x + 2"), set()),
        (helpers + "# a note\n", set()),
        ("import math\n\n\n# a note\n" + helpers, set()),
        ("def first(x):\n    return x\n\n\n" + helpers, set()),
        (helpers + "\n\ndef last(x):\n    return x\n", set()),
        ("def float(x):\n    return x\n\n\n" + helpers.replace("x.max()", "float(x)"), {"models.py"}),
        (helpers + "\n\nfrom math import *\n", {"models.py"}),
        (helpers.replace("x.max()", "x.min()"), {"models.py"}),
        (helpers.replace("return x + 1", "global scale"), {"models.py"}),
    ):
        assert text != helpers
        project.write({"helpers.py": text})
        interpreted.clear()
        changed = run(project)
        assert {path for part in interpreted for path in part.paths} == reached
        assert changed == run(project, cached=False)


SCALED = """
import os
import torch

@torch.compile
def f(x):
    return x * float(os.getenv("SCALE"))
"""


def test_an_edit_writes_what_it_added(project: Project, interpreted: list[Part]) -> None:
    project.write({**SOURCES, **{f"other_{number}.py": OTHER for number in range(40)}})
    run(project)
    (whole,) = (project.root / ".tclint_cache" / "parts").iterdir()
    before = whole.read_bytes()
    for text in ("# one\n", "# two\n"):
        project.write({"other_7.py": text + OTHER})
        assert run(project) == run(project, cached=False)
        assert whole.read_bytes() == before
        (added,) = set(whole.parent.iterdir()) - {whole}
        assert added.stat().st_size < len(before)
    # What was added is known as what was there, also where the reports of whole runs are gone.
    for report in (project.root / ".tclint_cache" / "runs").iterdir():
        report.unlink()
    interpreted.clear()
    run(project)
    assert interpreted == []


def test_an_edit_that_answers_a_question_to_all_files_as_before_reaches_nobody(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether some file sets the variable is asked of all of them: what counts is the answer."""
    project.write({**SOURCES, "env.py": SCALED, "notes.py": ""})
    first = run(project, min_confidence="low")
    assert [f.severity.value for f in first.findings if f.code == "TCL502"] == ["low"]
    read: list[str] = []
    original = plan.Plan._read_sites
    monkeypatch.setattr(plan.Plan, "_read_sites", lambda self: read.append("sites") or original(self))
    project.write({"notes.py": "import os\n"})
    assert run(project, min_confidence="low").findings == first.findings
    assert read == []
    project.write({"notes.py": 'import os\nos.environ["SCALE"] = "2"\n'})
    changed = run(project, min_confidence="low")
    assert read == ["sites"]
    assert [f.severity.value for f in changed.findings if f.code == "TCL502"] == ["medium"]
    assert changed == run(project, cached=False, min_confidence="low")


def test_an_edit_that_the_sites_did_not_read_leaves_them_unread(
    project: Project, interpreted: list[Part], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part that is interpreted again knows what they taught: from the cache."""
    project.write({**SOURCES, "env.py": SCALED})
    run(project)
    read: list[str] = []
    original = plan.Plan._read_sites
    monkeypatch.setattr(plan.Plan, "_read_sites", lambda self: read.append("sites") or original(self))
    interpreted.clear()
    project.write({"other.py": OTHER.replace("x > 0", "x > 1")})
    changed = run(project)
    assert ({path for part in interpreted for path in part.paths}, read) == ({"other.py"}, [])
    assert changed == run(project, cached=False)


BATCHES = """
import torch

def batch():
    held = torch.ones(2)
    return held
"""
START = """
import torch
from batches import batch
from models import Model

model = torch.compile(Model())
model(batch())
"""


def test_what_the_sites_taught_holds_where_lines_moved(
    project: Project, interpreted: list[Part], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They need not be read again for the edit after one that moves lines."""
    project.write({**SOURCES, "batches.py": BATCHES, "start.py": START})
    run(project)
    read: list[str] = []
    original = plan.Plan._read_sites
    monkeypatch.setattr(plan.Plan, "_read_sites", lambda self: read.append("sites") or original(self))
    moved: list[object] = []
    written = taught.read
    monkeypatch.setattr(taught, "read", lambda *args: moved.append(args[2]) or written(*args))
    interpreted.clear()
    project.write({"batches.py": BATCHES.replace("def batch", "\n# a word\ndef batch")})
    run(project)
    assert (interpreted, read) == ([], [])
    project.write({"other.py": OTHER.replace("x > 0", "x > 1")})
    changed = run(project)
    assert ({path for part in interpreted for path in part.paths}, read) == ({"other.py"}, [])
    assert moved == [{"batches.py": {1: 1, 3: 5, 4: 6, 5: 7}}]
    assert changed == run(project, cached=False)


ASKING = """
from tclint.ruleset.rule import Rule

def words(module):
    return module.path == "n.py" and b"magic" in module.data

class Magic(Rule):
    '''Tells where a file says so.'''

    code, name = "ACME001", "magic"
    scope = "any"
    calls = ("metrics.*",)

    def on_call(self, event):
        yield self.finding(event, str(list(event.ask.of_files(words))))
"""


def test_what_own_rules_ask_of_all_files_is_asked_again(project: Project) -> None:
    project.write(
        {"lint/magic.py": ASKING, "m.py": "import metrics, torch\n\n@torch.compile\ndef f(x):\n    metrics.a()\n"}
    )
    own: dict[str, object] = {"rules": [str(project.root / "lint")], "select": ["ACME001"]}
    project.write({"n.py": "x = 1\n"})
    for text, told in (("x = 1\n", "[]"), ("magic = 1\n", "['n.py']"), ("x = 2\n", "[]")):
        project.write({"n.py": text})
        assert [f.message for f in run(project, "m.py", **own).findings] == [told]


@pytest.mark.parametrize("target", ["2.11", "2.15"])
def test_an_edit_costs_what_it_touches_on_every_target(project: Project, interpreted: list[Part], target: str) -> None:
    """TCL510 speaks up to 2.11 alone, and asks all files who changes attributes of classes."""
    project.write({**SOURCES, "leaf.py": OTHER.replace("Other", "Leaf")})
    run(project, target_torch=target)
    interpreted.clear()
    project.write({"leaf.py": OTHER.replace("Other", "Leaf").replace("x > 0", "x > 1")})
    run(project, target_torch=target)
    assert {path for part in interpreted for path in part.paths} == {"leaf.py"}


def test_who_changes_attributes_of_classes_is_asked_again(project: Project) -> None:
    read = "import torch\nfrom conf import Config\n\n@torch.compile\ndef f(x):\n    return x * Config.factor\n"
    project.write({"conf.py": "class Config:\n    factor = 1.0\n", "m.py": read})
    told = (
        ("import conf\n", 0),
        ("from conf import (\n    Config,\n)\n\ndef change():\n    Config.factor = 2.0\n", 1),
        ("from conf import *\n\ndef change():\n    Config.factor += 2.0\n", 1),
        ("def change(Config):\n    Config.other = 2.0\n", 0),
    )
    for text, many in told:
        project.write({"n.py": text})
        report = run(project, target_torch="2.11", select=["TCL510"])
        assert [f.path for f in report.findings] == ["m.py"] * many, text


def test_going_back_is_known_too(project: Project, interpreted: list[Part]) -> None:
    project.write(SOURCES)
    first = run(project)
    project.write({"models.py": MODEL.replace("> 0", "> 1")})
    run(project)
    interpreted.clear()
    project.write({"models.py": MODEL, "unrelated.txt": "x"})
    assert run(project) == first
    assert interpreted == []


EDITS: dict[str, dict[str, str | bytes]] = {
    "a compile site appears": {"train.py": TRAIN},
    "a compile site changes": {"train.py": TRAIN.replace("Model())", 'Model(), mode="reduce-overhead")')},
    "a call changes": {"train.py": TRAIN.replace("(2, 3)", "(2, 2)")},
    "lines move": {"helpers.py": "# one more line\n" + HELPERS},
    "lines move around a site": {"train.py": "# one more line\n" + TRAIN.replace("\n\n", "\n\n\n")},
    "a name comes in between": {"helpers.py": "def item(x):\n    return x\n\n" + HELPERS + "\nclass Scale: ...\n"},
    "a helper is mended": {"helpers.py": "def scale(x):\n    return x * x.max()\n"},
    "a helper is broken": {"helpers.py": "def scale(x:\n"},
    "a base class changes": {"other.py": OTHER.replace("nn.Module", "object")},
    "somebody builds it": {"user.py": "from other import Other\n\ndef build():\n    return Other()\n"},
    "a file hides another": {"helpers/__init__.py": "def scale(x):\n    return x\n"},
    "a rule is silenced": {"other.py": OTHER.replace("x > 0]", "x > 0]  # tclint: ignore[TCL106] -- small")},
    "a file is emptied": {"models.py": ""},
}


@pytest.mark.parametrize("start", [SOURCES, {**SOURCES, "train.py": TRAIN}], ids=["assumed", "compiled"])
@pytest.mark.parametrize("edit", EDITS)
def test_cached_is_what_a_fresh_run_says(project: Project, start: dict[str, str | bytes], edit: str) -> None:
    project.write(start)
    assert run(project) == run(project, cached=False)
    project.write(EDITS[edit])
    assert run(project) == run(project, cached=False)
    project.write(start)
    assert run(project) == run(project, cached=False)


def test_the_comments_of_a_file_are_read_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    scans: list[str] = []
    scan = suppress.scan
    monkeypatch.setattr(suppress, "scan", lambda text: scans.append(text) or scan(text))
    silent = OTHER.replace("x[x > 0]", "x[x > 0]  # tclint: ignore[TCL106]")
    project.write({**SOURCES, "other.py": silent})
    first = run(project)
    assert scans == [silent.lstrip()]
    project.write({"helpers.py": HELPERS + "\n# edited\n"})
    assert run(project).suppressed == first.suppressed == 1
    assert scans == [silent.lstrip()]
    project.write({"other.py": OTHER.replace("x[x > 0]", "x[x > 0]  # tclint: ignore[TCL101]")})
    assert run(project) == run(project, cached=False)
    assert len(scans) == 3


@pytest.mark.slow
def test_random_edits(project: Project) -> None:
    """Lines come and go in a copy of the demo and some fixtures, and definitions change places."""
    for name in random_edits.over(project, "TCL[12]0*/*.py", 12, seed=0):
        assert run(project) == run(project, cached=False), name


def test_a_run_over_one_file_and_one_over_all_share_their_parts(project: Project, interpreted: list[Part]) -> None:
    project.write({**SOURCES, "train.py": TRAIN})
    run(project)
    interpreted.clear()
    one = run(project, "models.py")
    assert {path for part in interpreted for path in part.paths} <= {"models.py"}
    assert one == run(project, "models.py", cached=False)
    assert {f.path for f in one.findings} == {"models.py"}


def test_what_else_a_result_depends_on(project: Project) -> None:
    project.write(SOURCES)
    run(project)
    for overrides in (
        {"select": ["TCL101"]},
        {"min-confidence": "low"},
        {"target-torch": "2.6"},
        {"assume-compiled": "never"},
        {"per-file-ignores": {"models.py": ["TCL1"]}},
    ):
        assert run(project, **overrides) == run(project, cached=False, **overrides), overrides


def test_a_rule_of_ones_own_that_changes(project: Project) -> None:
    rule = """
    from tclint.model.finding import Effect, Severity
    from tclint.ruleset.rule import Rule

    class Mine(Rule):
        "A page."
        code, name = "TCL950", "mine"
        effect, severity = Effect.SLOW, Severity.LOW
        triggers = (b"Other",)

        def on_module(self, event):
            yield self.finding(event, "seen", node=event.node.body[0])
    """
    project.write({**SOURCES, "own/mine.py": rule})
    settings = {"rules": [str(project.root / "own" / "mine.py")], "extend-select": ["TCL950"]}
    assert [f.message for f in run(project, **settings).findings if (f.path, f.code) == ("other.py", "TCL950")] == [
        "seen"
    ]
    project.write({"own/mine.py": rule.replace('"seen"', '"seen again"')})
    sys.modules.pop("mine", None)
    assert [f.message for f in run(project, **settings).findings if (f.path, f.code) == ("other.py", "TCL950")] == [
        "seen again"
    ]


@pytest.mark.parametrize("jobs", [2, 3])
def test_processes_change_nothing(project: Project, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_CHUNK", 2)
    for number in range(6):
        project.write({f"part{number}/{name}": source for name, source in SOURCES.items()})
    project.write({"train.py": TRAIN.replace("models", "part0.models"), "part0/__init__.py": ""})
    alone = run(project, cached=False, jobs=1)
    assert run(project, cached=False, jobs=jobs) == alone
    assert run(project, jobs=jobs) == alone
    assert run(project, jobs=1) == alone


# --- files that change while we look -------------------------------------------------------------------------------


def test_a_change_within_the_clock_s_resolution_is_seen(project: Project) -> None:
    project.write(SOURCES)
    path = project.root / "other.py"
    status = path.stat()
    first = run(project)
    path.write_text(path.read_text().replace("x[x > 0]", "x[ 1: 2]"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert run(project) == run(project, cached=False) != first


def test_a_file_that_changes_during_the_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(SOURCES)
    original = store.Cache.hash_of

    def change(self: store.Cache, file: files.InputFile) -> str:
        digest = original(self, file)
        if file.path == "other.py":
            project.write({"other.py": OTHER.replace("x[x > 0]", "x")})
        return digest

    monkeypatch.setattr(store.Cache, "hash_of", change)
    report = run(project)
    assert not [f for f in report.findings if f.path == "other.py"], "what was read is what is reported"
    monkeypatch.undo()
    assert run(project) == run(project, cached=False)


# --- entries on disk -----------------------------------------------------------------------------------------------


def entries(project: Project) -> list[Path]:
    folder = project.root / ".tclint_cache"
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in ("CACHEDIR.TAG", ".gitignore"))


@pytest.mark.parametrize("harm", ["cut", "garbage", "empty", "flip", "foreign"])
def test_damaged_entries_are_as_good_as_none(project: Project, harm: str) -> None:
    project.write(SOURCES)
    expected = run(project)
    assert len(entries(project)) >= 3
    for path in entries(project):
        data = path.read_bytes()
        if harm == "cut":
            data = data[: len(data) // 2]
        elif harm == "garbage":
            data = os.urandom(200)
        elif harm == "empty":
            data = b""
        elif harm == "flip":
            data = data[:-3] + bytes([data[-3] ^ 255]) + data[-2:]
        else:
            data = b"tclint cache 0\n" + data
        path.write_bytes(data)
    assert run(project) == expected
    project.write({"models.py": MODEL.replace("> 0", "> 1")})
    assert run(project) == run(project, cached=False)


def test_the_folder_is_a_cache_to_others(project: Project) -> None:
    project.write(SOURCES)
    run(project)
    folder = project.root / ".tclint_cache"
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert (folder / ".gitignore").read_text() == "*\n"
    assert not [p for p in folder.rglob(".*") if p.name != ".gitignore"], "no temporary file stays"


def test_no_folder_to_write_to(project: Project) -> None:
    project.write({**SOURCES, "taken": "a file"})
    assert run(project, cache_dir=str(project.root / "taken" / "cache")) == run(project, cached=False)


def test_no_cache_writes_nothing(project: Project) -> None:
    project.write(SOURCES)
    code, _, _ = command(project, "--no-cache", ".")
    assert code == 1
    assert not (project.root / ".tclint_cache").exists()


def test_it_does_not_grow_without_bound(project: Project) -> None:
    project.write(SOURCES)
    for number in range(70):
        project.write({"other.py": f"# {number}\n" + OTHER})
        run(project)
    assert len(list((project.root / ".tclint_cache" / "runs").iterdir())) <= 64
    assert sum(p.stat().st_size for p in entries(project)) < 1_000_000


def test_runs_at_the_same_time(project: Project) -> None:
    for number in range(4):
        project.write({f"part{number}/{name}": source for name, source in SOURCES.items()})
    expected = command(project, "--no-cache", ".")
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tclint", "--isolated", "--output-format", "json", "."],
            cwd=project.root,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for child in children:
        out, err = child.communicate(timeout=120)
        assert (child.returncode, out, err) == expected
    assert command(project, ".") == expected


# --- folders and files of others -----------------------------------------------------------------------------------

OURS = b"tclint cache 3\n"


@pytest.fixture
def clone(tmp_path: Path) -> Project:
    """A repository beside a folder of somebody's files."""
    for number in range(40):
        Project(tmp_path).write({f"docs/{number:032x}": f"page {number}", f"docs/page{number}.md": "text"})
    return Project(tmp_path / "repo").write(SOURCES)


def everything(folder: Path) -> dict[str, bytes]:
    """Every regular file, links not followed."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def tagged(project: Project) -> Path:
    """A cache that a repository brought along."""
    project.write({".tclint_cache/CACHEDIR.TAG": cachedir.CACHE_TAG, ".tclint_cache/.gitignore": "*\n"})
    return project.root / ".tclint_cache"


@pytest.mark.parametrize("name", [".tclint_cache", ".tclint_cache/parts", ".tclint_cache/runs", ".tclint_cache/verify"])
@pytest.mark.parametrize("tag", [False, True])
def test_a_link_in_the_cache_is_not_followed(clone: Project, name: str, tag: bool) -> None:
    docs = clone.root.parent / "docs"
    if name == ".tclint_cache" and tag:
        (docs / "CACHEDIR.TAG").write_text(cachedir.CACHE_TAG)
    elif tag:
        tagged(clone)
    link = clone.root / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(docs)
    before = everything(docs)
    code, out, err = command(clone, ".")
    assert code == 1
    assert json.loads(out)["findings"]
    assert b"tclint: no cache is kept: " in err
    assert b"--cache-dir" in err
    for number in range(9):
        clone.write({"other.py": f"# {number}\n" + OTHER})
        run(clone)
    assert everything(docs) == before
    assert link.is_symlink()


def test_a_link_on_the_way_to_the_cache(clone: Project) -> None:
    docs = clone.root.parent / "docs"
    before = everything(docs)
    clone.write({"tclint.toml": 'cache-dir = "deep/cache"\n'})
    (clone.root / "deep").symlink_to(docs)
    settings = configuration.load(cwd=str(clone.root))
    with pytest.raises(ConfigError, match=r"^tclint.toml:1: cache-dir: .*deep is a link"):
        store.open_cache(settings, str(clone.root))
    assert everything(docs) == before


@pytest.mark.parametrize("kind", ["link", "device", "pipe", "folder", "huge"])
def test_entries_that_are_no_files(project: Project, kind: str) -> None:
    project.write(SOURCES)
    expected = run(project)
    outside = project.root / "outside"
    outside.write_bytes(OURS + b"somebody's")
    for path in entries(project):
        path.unlink()
        if kind == "link":
            path.symlink_to(outside)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            with path.open("wb") as file:
                file.write(OURS)
                file.truncate(2**40)
    with within(60):
        assert run(project) == expected
        project.write({"models.py": MODEL.replace("> 0", "> 1")})
        assert run(project) == run(project, cached=False)
    assert outside.read_bytes() == OURS + b"somebody's"


# --- whose entries count ---------------------------------------------------------------------------------------------


def forged(project: Project, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """A cache that somebody with another key filled while the files held nothing to find."""
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    monkeypatch.setattr(engine, "lint", lambda files, settings, cache=None, **how: _clean(files, cache))
    assert not run(project).findings
    monkeypatch.undo()


def _clean(files: Any, cache: Any) -> Report:
    report = Report((), files=len(files))
    cache.remember(files, report)
    return report


def test_a_report_that_somebody_else_signed_hides_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project.write(SOURCES)
    forged(project, monkeypatch, tmp_path / "other")
    assert [path.parent.name for path in entries(project)].count("runs") == 2  # the report, and which files it is about
    found = run(project)
    assert found.findings
    assert found == run(project, cached=False)
    # What this user signed counts again, from the same folder.
    assert run(project) == found


def test_an_entry_stands_for_its_own_name_only(project: Project) -> None:
    project.write(SOURCES)
    run(project)
    folder = cachedir.claim(str(project.root / ".tclint_cache"))
    folder.write("runs/" + "1" * 32, b"something")
    assert folder.read("runs/" + "1" * 32) == b"something"
    os.rename(Path(folder.path, "runs", "1" * 32), Path(folder.path, "runs", "2" * 32))
    assert folder.read("runs/" + "2" * 32) is None


def test_the_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(cachekey.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = cachekey.key()
    path = tmp_path / "tclint" / "cache.key"
    assert first == path.read_bytes()
    assert len(first) == 32
    assert path.stat().st_mode & 0o077 == 0
    assert [each.name for each in path.parent.iterdir()] == ["cache.key"]
    monkeypatch.setenv(cachekey.VARIABLE, "shared by the runners")
    assert cachekey.key() not in (None, first)
    monkeypatch.delenv(cachekey.VARIABLE)
    # No place for one, or one that is no key: no cache, and no error.
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert cachekey.key() is None
    (tmp_path / "odd" / "tclint").mkdir(parents=True)
    (tmp_path / "odd" / "tclint" / "cache.key").symlink_to(path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "odd"))
    assert cachekey.key() is None


def test_no_place_for_a_key_is_no_cache(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    project.write(SOURCES)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert run(project) == run(project, cached=False)
    assert not (project.root / ".tclint_cache").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory")
@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_made_up_file_takes_no_memory(project: Project, version: int) -> None:
    """36 bytes that say of themselves that they are a list of 2**31 - 1 values."""
    import resource

    project.write(SOURCES)
    bomb = b"[" + (2**31 - 1).to_bytes(4, "little")
    checksum = hashlib.blake2b(bomb, digest_size=16).digest()
    (tagged(project) / "stats").write_bytes(b"tclint cache %d\n" % version + checksum + bomb)
    child = subprocess.run(
        [sys.executable, "-m", "tclint", "--isolated", "--jobs", "1", "."],
        cwd=project.root,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30)),
    )
    assert child.returncode == 1, child.stderr.decode()
    assert child.stderr == b""


@pytest.mark.parametrize(
    "text", [b"", b"\n" * 500_000, b"\t\t\t\n" * 9, b"1 2 3 4\tnow\tx\tmodels.py", b"9" * 10_000, b"\xff\xfe\t"]
)
def test_made_up_lines_fit_no_file(project: Project, text: bytes) -> None:
    project.write(SOURCES)
    expected = run(project, cached=False)
    run(project)
    folder = cachedir.claim(str(project.root / ".tclint_cache"))
    folder.write("stats", text)
    assert run(project) == expected


def test_only_what_we_wrote_is_trimmed_or_replaced(project: Project) -> None:
    project.write(SOURCES)
    run(project)
    folder = project.root / ".tclint_cache"
    for kind in ("runs", "parts"):
        for number in range(80):
            (folder / kind / f"{number:032x}").write_text("a name like ours")
            (folder / kind / f"page{number}").write_bytes(OURS)
    (folder / "stats").write_text("somebody's")
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))
    before = everything(folder)
    for number in range(3):
        project.write({"other.py": f"# {number}\n" + OTHER})
        run(project)
    after = everything(folder)
    lost = [name for name in before if name not in after or after[name] != before[name]]
    assert all(before[name].startswith(OURS) and "page" not in name for name in lost), lost


@pytest.mark.parametrize("sub", ["lint", "clean"])
@pytest.mark.parametrize(
    ("text", "args", "says"),
    [
        (
            'cache-dir = "own"',
            (),
            "tclint.toml:1: cache-dir: {root}/own is not a cache of tclint (it holds parts and 2 more)",
        ),
        ('cache-dir = "."', (), "tclint.toml:1: cache-dir must be a folder of its own"),
        ('cache-dir = ""', (), "tclint.toml:1: cache-dir must be a folder of its own"),
        ('cache-dir = "../docs"', (), "tclint.toml:1: cache-dir must be a folder inside the project"),
        ("", ("--cache-dir", "own"), "command line: cache-dir: {root}/own is not a cache of tclint"),
        ("", ("--cache-dir", "."), "command line: cache-dir must be a folder of its own"),
        ("", ("--cache-dir", "../docs"), "command line: cache-dir: {above}/docs is not a cache of tclint"),
    ],
)
def test_a_folder_of_others_is_no_cache(clone: Project, sub: str, text: str, args: tuple[str, ...], says: str) -> None:
    clone.write({"tclint.toml": text, **{f"own/{name}": "mine" for name in ("stats", "runs/notes", "parts/notes")}})
    before = everything(clone.root.parent)
    child = subprocess.run(
        tclint_command(*(() if sub == "lint" else (sub,)), *args),
        cwd=clone.root,
        env=environment(),
        capture_output=True,
        check=False,
        text=True,
    )
    assert child.returncode == 2, child.stderr
    says = says.format(root=clone.root, above=clone.root.parent)
    assert says in child.stderr or (sub == "clean" and "remove it by hand" in child.stderr), child.stderr
    assert everything(clone.root.parent) == before


def test_a_tag_alone_does_not_make_a_folder_ours(project: Project) -> None:
    project.write({**SOURCES, "own/CACHEDIR.TAG": cachedir.CACHE_TAG, "own/guide.md": "text"})
    with pytest.raises(ConfigError, match=r"cache-dir: .*own is not a cache of tclint alone \(it holds guide.md\)"):
        run(project, cache_dir="own")
    assert sorted(everything(project.root / "own")) == ["CACHEDIR.TAG", "guide.md"]


def test_a_folder_that_is_empty_or_half_labelled_becomes_a_cache(project: Project) -> None:
    project.write({**SOURCES, "half/CACHEDIR.TAG": ""})
    (project.root / "empty").mkdir()
    for name in ("empty", "half", "new/folder"):
        run(project, cache_dir=name)
        assert (project.root / name / "CACHEDIR.TAG").read_text() == cachedir.CACHE_TAG
        assert (project.root / name / ".gitignore").read_text() == "*\n"
        assert len(list((project.root / name / "runs").iterdir())) == 2  # the report, and which files it is about


# --- what a warm run costs -------------------------------------------------------------------------------------------


def test_a_warm_run_imports_neither_libcst_nor_the_interpreter(project: Project) -> None:
    project.write(SOURCES)
    code = (
        "import sys; from tclint.cli import main\n"
        "code = main(['--isolated', '.'])\n"
        "heavy = ('libcst', 'tclint.interpreter', 'tclint.run.engine', 'tclint.ruleset.rule', 'tclint.rules', 'rich', 'torch')\n"
        "print('IMPORTED', code, sorted(m for m in heavy if m in sys.modules))"
    )

    def imported() -> str:
        child = subprocess.run(
            [sys.executable, "-c", code],
            cwd=project.root,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        return child.stdout.splitlines()[-1]

    assert "tclint.run.engine" in imported()
    assert imported() == "IMPORTED 1 []"


def test_clean(project: Project) -> None:
    project.write(SOURCES)
    run(project)
    child = subprocess.run(
        [sys.executable, "-m", "tclint", "clean", "--isolated"], cwd=project.root, env=environment(), check=False
    )
    assert child.returncode == 0
    assert not (project.root / ".tclint_cache").exists()


# --- watch -----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_watch(project: Project) -> None:
    project.write(SOURCES)
    with open(project.root / "out", "wb") as out, open(project.root / "err", "wb") as err:
        child = subprocess.Popen(
            [sys.executable, "-m", "tclint", "--watch", "--output-format", "concise", "."],
            cwd=project.root,
            env=environment(),
            stdout=out,
            stderr=err,
            # Where the tests run in a background job, SIGINT is ignored, and a child would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        try:
            wait_for(project.root / "err", 1)
            before = (project.root / "out").read_text()
            assert "helpers.py:2:" in before
            assert "other.py:5:" in before
            project.write({"other.py": "# a line\n" + OTHER.lstrip()})
            wait_for(project.root / "err", 2)
            after = (project.root / "out").read_text()[len(before) :]
            assert "other.py:6:" in after
            project.write({"tclint.toml": "selct = []\n"})
            wait_for(project.root / "err", 1, "selct")
            project.write({"tclint.toml": 'select = ["TCL103"]\n'})
            wait_for(project.root / "err", 3)
            assert "TCL106" not in (project.root / "out").read_text()[len(before) + len(after) :]
        finally:
            child.send_signal(signal.SIGINT)
            assert child.wait(timeout=20) == 130


def wait_for(path: Path, times: int, text: str = "watching") -> None:
    deadline = time.monotonic() + 60
    while path.read_text().count(text) < times:
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(0.05)


def test_watch_only_reports(project: Project) -> None:
    project.write(SOURCES)
    code, _, err = command(project, "--watch", "--fix", ".")
    assert code == 2
    assert b"--watch only reports" in err


def test_a_file_system_is_nobodys_project() -> None:
    """A document directly in `/`, which an editor may open: nothing is written beside it."""
    before = sorted(os.listdir("/"))
    assert cachedir.opened(Settings(root="/", cache_dir="/.tclint_cache_of_a_test")) is None
    assert sorted(os.listdir("/")) == before
