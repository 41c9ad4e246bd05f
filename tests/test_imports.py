"""Data flows one way through tclint: a module imports nothing to its right. Torch stays in verify's child processes."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lintkit import ROOT

PACKAGE = ROOT / "tclint"

# From left to right; what stands in one row may import each other.
ORDER: tuple[tuple[str, ...], ...] = (
    # People's own programs import these; they stand on torch alone.
    ("tclint.runtime", "tclint.cudagraph"),
    ("tclint", "tclint.torch_facts"),
    ("tclint.model.errors", "tclint.model.globs", "tclint.model.finding", "tclint.model.codec"),
    ("tclint.model.settings", "tclint.model.report"),
    ("tclint.model",),
    ("tclint.sources.newer", "tclint.sources.roles"),
    ("tclint.sources.regular", "tclint.sources.helpers", "tclint.sources.wheels", "tclint.sources.site_packages"),
    ("tclint.sources.glance", "tclint.sources.text", "tclint.sources.ipython"),
    ("tclint.sources.trust", "tclint.sources.ignoring"),
    ("tclint.sources.files", "tclint.sources.keys", "tclint.sources.notebook_json"),
    ("tclint.sources.configuration", "tclint.sources.notebook"),
    ("tclint.sources.cells", "tclint.sources"),
    ("tclint.ruleset.packs", "tclint.run.cachekey"),
    ("tclint.run.cachedir",),
    ("tclint.run.store",),
    ("tclint.timeline",),
    ("tclint.program.symbols",),
    ("tclint.program.portions",),
    ("tclint.program.index",),
    ("tclint.program.kept_index",),
    ("tclint.program.kept_facts",),
    ("tclint.program.module",),
    ("tclint.program.asking",),
    ("tclint.program.libraries",),
    ("tclint.program.program",),
    ("tclint.program",),
    ("tclint.values",),
    ("tclint.events",),
    ("tclint.interpreter",),
    ("tclint.ruleset", "tclint.fixes"),
    ("tclint.rules",),
    ("tclint.run.suppress",),
    ("tclint.run.knowledge", "tclint.run.taught"),
    ("tclint.run.leading", "tclint.run.handing"),
    ("tclint.run.compiles",),
    ("tclint.run.results",),
    ("tclint.run.lasting",),
    ("tclint.run.reading", "tclint.run.links", "tclint.run.memo"),
    ("tclint.run.parts",),
    ("tclint.run.workers",),
    ("tclint.run.plan", "tclint.run.assemble", "tclint.run.domains"),
    ("tclint.run.few",),
    ("tclint.run.engine",),
    ("tclint.run.fixing",),
    ("tclint.run.project",),
    ("tclint.api",),
    ("tclint.output",),
    ("tclint.adopt",),
    ("tclint.verify",),
    ("tclint.diagnose", "tclint.server"),
    ("tclint.commands",),
    ("tclint.cli", "tclint.__main__"),
)
# `@tclint.example` in people's own code: imported by the package's `__getattr__`, when asked for.
FACADE = ("tclint", "tclint.verify.registered.example")
# One child process for both: verify's hands orders of diagnose on, and only there.
HANDS_ON = ("tclint.verify.child.start", "tclint.diagnose.child.diagnostic.measure")
# The only modules that may import torch.
WITH_TORCH = ("tclint.verify.child", "tclint.diagnose.child", "tclint.runtime")
RANK = {name: rank for rank, row in enumerate(ORDER) for name in row}


def modules() -> Iterator[tuple[str, Path]]:
    # rules/ is a link in the repository, and a link is not followed by `**`.
    for path in sorted({*PACKAGE.rglob("*.py"), *(PACKAGE / "rules").glob("*.py")}):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


@cache
def imports(name: str, path: Path) -> tuple[tuple[int, str, bool], ...]:
    """Every import of a file: line, dotted name, and whether it happens at run time."""
    return tuple(_imports(name, path))


def _imports(name: str, path: Path) -> Iterator[tuple[int, str, bool]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for statement in node.body
        for inner in ast.walk(statement)
    }
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        running = id(node) not in typing_only
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, running
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}", running


def rank(dotted: str) -> int | None:
    """The place in ORDER of the longest known prefix."""
    parts = dotted.split(".")
    for length in range(len(parts), 1, -1):
        known = RANK.get(".".join(parts[:length]))
        if known is not None:
            return known
    return RANK["tclint"] if parts[0] == "tclint" else None


def test_every_module_has_a_place() -> None:
    homeless = [
        name
        for name, _ in modules()
        if name != "tclint"
        and rank(name) in (None, RANK["tclint"])
        and name not in RANK
        and not name.startswith("tclint.torch_facts")
    ]
    assert homeless in ([], ["tclint.run"])


def test_imports_point_left() -> None:
    wrong = []
    for name, path in modules():
        own = rank(name)
        assert own is not None, name
        for line, imported, running in imports(name, path):
            there = rank(imported)
            if (name, imported) in (FACADE, HANDS_ON):
                continue
            # What only the type checker reads creates no dependency at run time.
            if running and there is not None and there > own:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {imported}")
    assert not wrong, "\n".join(wrong)


# --- circles ----------------------------------------------------------------------------------------------------------


def graph() -> dict[str, set[str]]:
    """Which modules import which: inside functions too, for type checkers only not."""
    known = {name for name, _ in modules()}
    found: dict[str, set[str]] = {}
    for name, path in modules():
        targets = set()
        for _, imported, running in imports(name, path):
            # `from tclint.run import engine` names a module, `from tclint.run.engine import lint` something in one.
            target = imported if imported in known else imported.rpartition(".")[0]
            if running and target in known:
                targets.add(target)
        found[name] = targets - {name}
    return found


def circle(links: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a ring, the first one again at the end; empty where there is none."""
    done: set[str] = set()

    def visit(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for target in sorted(links.get(name, ())):
            if found := visit(target, [*way, name]):
                return found
        done.add(name)
        return []

    return next((found for name in sorted(links) if (found := visit(name, []))), [])


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set(), "d": {"a"}}) == []
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]


def test_no_modules_import_each_other_in_a_circle() -> None:
    links = graph()
    assert links.keys() == {name for name, _ in modules()}
    found = circle(links)
    assert not found, " -> ".join(found)


def test_torch_is_imported_only_in_the_child() -> None:
    offenders = [
        f"{path.relative_to(ROOT)}:{line}"
        for name, path in modules()
        for line, imported, running in imports(name, path)
        if running and imported.split(".")[0] in ("torch", "triton", "numpy")
        if not name.startswith(WITH_TORCH)
    ]
    assert offenders == []


def test_verify_is_imported_only_by_the_commands() -> None:
    users = {
        name
        for name, path in modules()
        for _, imported, running in imports(name, path)
        if running and imported.startswith("tclint.verify") and not name.startswith("tclint.verify")
        if (name, imported) != FACADE
    }
    assert all(user.startswith(("tclint.cli", "tclint.commands", "tclint.diagnose")) for user in users), users


# --- what a run loads -------------------------------------------------------------------------------------------------

CLEAN = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x).relu()
"""


def loaded_by(folder: Path, *args: str) -> set[str]:
    code = (
        "import sys; from tclint.cli import main; status = main(sys.argv[1:]); "
        "print('\\n'.join(sorted(sys.modules)), file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return set(done.stderr.split())


def test_a_clean_run_loads_no_heavy_library(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(CLEAN)
    loaded = loaded_by(tmp_path, "net.py", "--no-cache")
    assert "tclint.run.engine" in loaded
    heavy = {name.split(".")[0] for name in loaded} & {"libcst", "rich", "torch", "numpy", "pygments", "asyncio"}
    assert heavy == set()


def test_linting_does_not_import_the_linted_code(tmp_path: Path) -> None:
    (tmp_path / "boom.py").write_text(CLEAN + "\nraise SystemExit('imported')\n")
    assert "boom" not in loaded_by(tmp_path, "boom.py", "--no-cache")


def test_the_version_needs_nothing(tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, "--version")
    assert not loaded & {"click", "ast", "tclint.run.engine", "tclint.model.settings", "libcst"}
