"""The house itself: small modules, tests that mirror the rooms, and pages that name only what is there."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from lintkit import ROOT
from test_imports import modules

# Written by a script from an installed torch.
GENERATED = {"tclint.torch_facts.generated"}
MODULES = dict(modules())
ROOMS = sorted({name.split(".")[1] for name, path in MODULES.items() if path.parent != ROOT / "tclint"})

# Two rooms may have a module of the same name where both mean the same thing.
SHARED_NAMES = {
    "breaks": "diagnose measures them in a child and reports them in the parent",
    "calls": "calls of functions: as expressions, and what torch does with each",
    "cost": "diagnose measures it in a child and reports it in the parent",
    "cudagraph": "`tclint.cudagraph` is the public name of the runtime's; verify's child has the experiment",
    "diagnose": "the command and the room behind it",
    "functions": "functions of the program in the interpreter, of torch in its models",
    "index": "of the program's names, and of the command line's commands",
    "kinds": "kinds of events, and kinds of values in the words of the facts",
    "modes": "of torch: the facts, the interpreter that follows them, and diagnose's sweep over them",
    "names": "names: looked up by the interpreter, evaluated as expressions",
    "objects": "objects: of the program's classes, and of libraries' classes",
    "operators": "the same operators: on values, and as expressions",
    "options": "what was chosen: of the interpreter, of a verification, on the command line",
    "plan": "what is done in which order: by a run, by a diagnosis, by verify's child",
    "program": "the room's own noun",
    "results": "what comes out: of a part of a run, of a call in a model",
    "rule": "what a rule is, and the command that shows one",
    "server": "the command and the room behind it",
    "session": "of an editor, and of a diagnosis",
    "target": "what is diagnosed, as the parent names it and as the child builds it",
    "verdict": "of the compiler on a finding, of a diagnosis on compiling",
    "verify": "the command and the room behind it",
}


@cache
def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


LONGEST = 500


def test_no_module_is_long() -> None:
    long = {
        name: lines_of(path) for name, path in MODULES.items() if lines_of(path) > LONGEST and name not in GENERATED
    }
    assert long == {}


def test_modules_of_two_rooms_share_a_name_only_for_a_reason() -> None:
    places = defaultdict(list)
    for name, path in MODULES.items():
        if path.name != "__init__.py":
            places[path.stem].append(name)
    shared = {stem: found for stem, found in places.items() if len(found) > 1}
    unexplained = {stem: found for stem, found in shared.items() if stem not in SHARED_NAMES}
    assert unexplained == {}


# Rules are loaded, not imported: tests/rules runs each on its fixtures.
@pytest.mark.parametrize("room", [room for room in ROOMS if room != "rules"])
def test_every_room_has_tests_that_import_it(room: str) -> None:
    importing = []
    for path in sorted((ROOT / "tests" / room).glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            named += [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            if isinstance(node, ast.ImportFrom) and node.module == "tclint":
                named = [f"tclint.{alias.name}" for alias in node.names]
            if any(f"{name}.".startswith(f"tclint.{room}.") for name in named):
                importing.append(path.name)
    assert importing, f"tests/{room}/ has no test that imports tclint.{room}"


def test_tests_stand_in_the_folder_of_a_room() -> None:
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and any(path.glob("test_*.py"))}
    assert folders <= {*ROOMS, "end_to_end", "project"}
    # Who may import whom, and torch's judgement of the fixtures: they hold every room.
    assert {path.name for path in (ROOT / "tests").glob("test_*.py")} == {"test_imports.py", "test_fixtures_dynamo.py"}


# --- what pages and comments name -------------------------------------------------------------------------------------

TOP = "tclint|rules|tests|scripts|benchmarks|fixtures"
NAMED = re.compile(rf"(?<![\w./<\"'-])(?:{TOP})/[\w./-]*[\w/](?![\w*/-])")
# Stand for something that the reader fills in, or for a folder of the reader's own.
EXAMPLES = re.compile(r"NAME|NNN|nnn|^tests/$|^tests/test_(it|model)\.py$|^tclint/trusted\.toml$|^rules/TCL\d+\.md$")


@cache
def tracked() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return {path for path in listed.stdout.splitlines() if (ROOT / path).exists()}


def readable() -> list[str]:
    """Pages, and the sources of tclint with their comments."""
    generated = ("docs/rules/", "docs/graph-breaks.md", "tclint/torch_facts/generated.py")
    places = ("docs/", "tclint/", "rules/", "scripts/", "README.md", "CHANGELOG.md", "fixtures/README.md", ".ci/")
    return sorted(
        path
        for path in tracked()
        if path.startswith(places) and not path.startswith(generated) and path.endswith((".md", ".py", ".sh", "/run"))
    )


def test_no_page_or_comment_names_a_file_that_is_not_there() -> None:
    lost = []
    for page in readable():
        for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
            for found in NAMED.findall(line):
                near = ((ROOT / found), (ROOT / page).parent / found)  # a page links to its neighbours
                if not EXAMPLES.search(found) and not any(place.exists() for place in near):
                    lost.append(f"{page}:{number} {found}")
    assert not lost, "\n".join(lost)


@pytest.mark.parametrize("heading", ["A rule", "A fact about a new torch", "An output format", "A kind of value"])
def test_contributing_names_the_files_to_touch(heading: str) -> None:
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## {heading}\n(.*?)^## ", text, re.S | re.M)
    named = {name for name in NAMED.findall(section) if not EXAMPLES.search(name)}
    assert {name for name in named if not (ROOT / name).exists()} == set()
    assert any(name.startswith(("tclint/", "rules/", "fixtures/")) for name in named)
    assert any(name.startswith("tests/") for name in named)


def test_every_room_is_in_the_picture_of_the_rooms() -> None:
    text = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    assert {room for room in ROOMS if f"`tclint/{room}/`" not in text and f"`{room}/`" not in text} == set()
