"""A run about one file interprets what can lead there, and says of it what a run about all says."""

from __future__ import annotations

import ast
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lintkit import Project

from tclint.model.finding import Finding
from tclint.program import Module, Program, absolute_name
from tclint.run import leading, plan
from tclint.run.parts import PartRunner
from tclint.run.project import Project as Opened
from tclint.run.results import Result
from tclint.sources.import_scan import imports

FILES = [
    "a.py",
    "b.py",
    "pkg/__init__.py",
    "pkg/c.py",
    "pkg/d.py",
    "pkg/sub/__init__.py",
    "pkg/sub/e.py",
    "run.py",
    "go.py",
]


def dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


class Generated:
    """A program that nobody wrote: files that import each other in every way there is, models and compile sites."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.sources = {path: self._file(path) for path in FILES}

    def _file(self, path: str) -> str:
        choose = self.random
        me = dotted(path).rpartition(".")[2]
        lines = ["import torch", "from torch import nn"]
        uses: list[str] = []
        inner: list[str] = []
        for other in choose.sample([f for f in FILES if f != path], choose.randint(0, 3)):
            imported, use = self._import(path, other)
            (inner if choose.random() < 0.2 else lines).append(imported)
            uses.append(use)
        lines += [f"def help_{me}(x):", *(f"    {line}" for line in inner), f"    print('{me}')"]
        lines += [f"    x = {use}.help_{self._word(use)}(x)" for use in uses if choose.random() < 0.5]
        lines += ["    return x + 1", f"class Net_{me}(nn.Module):", "    def __init__(self, inner=None):"]
        lines += ["        super().__init__()", "        self.inner = inner", "        self.scale = 1.0"]
        own = [use for use in uses if choose.random() < 0.6]
        names = [f"part{i}" for i in range(len(own))]
        lines += [f"        self.{n} = {use}.Net_{self._word(use)}()" for n, use in zip(names, own, strict=True)]
        lines += ["    def forward(self, x):", *(f"        x = self.{name}(x)" for name in names)]
        lines += ["        if self.inner is not None:", "            x = self.inner(x)"]
        lines += [
            f"        x = help_{me}(x)",
            "        if x.sum() > 0:",
            "            x = x * self.scale",
            "        return x",
        ]
        if uses and (path in ("run.py", "go.py") or choose.random() < 0.15):
            lines += self._site(uses)
        return "\n".join(lines) + "\n"

    def _word(self, use: str) -> str:
        return use.rpartition(".")[2].removeprefix("the_")

    def _import(self, path: str, other: str) -> tuple[str, str]:
        """A statement, and how the other file is called after it."""
        name = dotted(other)
        package, _, last = name.rpartition(".")
        ways = [(f"import {name} as the_{last}", f"the_{last}"), (f"import {name}", name)]
        if package:
            ways.append((f"from {package} import {last}", last))
            ways.append((f"from {package} import (  # (\n    {last} as the_{last},\n)", f"the_{last}"))
            ways.append((f"import {package}", name))
        here = path.rpartition("/")[0].replace("/", ".")
        if here and package == here:
            ways.append((f"from . import {last}", last))
        return self.random.choice(ways)

    def _site(self, uses: Sequence[str]) -> list[str]:
        choose = self.random
        use, other = choose.choice(uses), choose.choice(uses)
        word, beside = self._word(use), self._word(other)
        ways = [
            [f"net = torch.compile({use}.Net_{word}())", "for n in range(3):", "    net(torch.ones(n + 2))"],
            [f"net = torch.compile({use}.Net_{word}({other}.Net_{beside}()))", "net(torch.ones(2))"],
            [f"net = {use}.Net_{word}()", f"net.inner = torch.compile({other}.help_{beside})", "net(torch.ones(2))"],
            [
                f"fast = torch.compile({use}.help_{word}, mode='reduce-overhead')",
                "y = fast(torch.ones(2))",
                "z = fast(y)",
            ],
            [f"net = {use}.Net_{word}()", "net.compile()", "net.scale = 2.0", "net(torch.ones(2))"],
        ]
        return ["def main():", *(f"    {line}" for line in choose.choice(ways)), "main()"]


def told(finding: Finding) -> tuple[object, ...]:
    chain = tuple((step.path, step.line, step.text) for step in finding.chain)
    return (finding.path, finding.sort_key, finding.confidence, finding.message, finding.assumed, finding.roots, chain)


def opened(root: Path, cache: Path | None = None) -> Opened:
    given = {"no-cache": cache is None, "cache-dir": str(cache), "jobs": 1, "target-torch": "2.13"}
    return Opened.open(["."], cwd=str(root), isolated=True, overrides=given, around=None)


def differences(project: Project, seed: int) -> list[str]:
    """The files of a program of which a run about them alone says something else."""
    program = Generated(seed)
    whole = opened(project.write(dict(program.sources)).root)
    report = whole.lint()
    assert report.findings
    return [
        path
        for path in FILES
        if [told(f) for f in whole.reporting(path).lint().findings]
        != [told(f) for f in report.findings if f.path == path]
    ]


@pytest.mark.parametrize("seed", range(6))
def test_a_file_alone_and_with_all(project: Project, seed: int) -> None:
    assert differences(project, seed) == []


@pytest.mark.parametrize("seed", range(200, 203))
def test_a_file_alone_and_with_all_where_files_share_parts(
    project: Project, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "divided", lambda items: [items[i : i + 3] for i in range(0, len(items), 3)])
    assert differences(project, seed) == []


@pytest.mark.parametrize("seed", range(100, 102))
def test_what_runs_about_other_files_kept(
    project: Project, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One cache for all: each file alone, then all of them, then each alone again; and nobody sees it in the report."""
    fresh = opened(project.write(dict(Generated(seed).sources)).root)
    kept = opened(project.root, tmp_path_factory.mktemp("cache"))
    alone = {path: fresh.reporting(path).lint() for path in FILES}
    assert {path: kept.reporting(path).lint() for path in FILES} == alone
    assert kept.lint() == fresh.lint()
    project.write({"a.py": Generated(seed).sources["a.py"] + "\n# changed\n"})
    assert {path: kept.reporting(path).lint() for path in FILES} == alone


def test_the_programs_can_tell(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leading, "leading", lambda program, wanted, *_: wanted)
    assert any(differences(project, seed) for seed in range(3))


def test_what_does_not_lead_there_is_not_interpreted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "import torch\nclass {0}(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n        return x\n"
    project.write({f"{name}.py": model.format(name.upper()) for name in ("one", "two", "three")})
    project.write({"user.py": "import one\n" + model.format("User").replace("print(x)", "x = one.ONE()(x)")})
    entered: list[str] = []
    run = plan.run_parts

    def noted(runner: object, parts: Sequence[plan.Part], *rest: object) -> object:
        entered.extend(path for part in parts for path in part.paths)
        return run(runner, parts, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(plan, "run_parts", noted)
    report = opened(project.root).reporting("one.py").lint()
    assert [(f.path, f.code) for f in report.findings] == [("one.py", "TCL108")]
    assert set(entered) == {"one.py", "user.py"}


@pytest.mark.parametrize(("path", "walked"), [("net.py", ["other.py", "run.py"]), ("leaf.py", [])])
def test_eager_code_is_walked_as_a_whole_or_not_at_all(
    project: Project, path: str, walked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is concluded of one script follows from those before it: how often a helper was seen, and with what."""
    model = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n        return x\n"
    script = "import torch\nfrom {0} import Net\nnet = torch.compile(Net())\nnet(torch.ones(2))\n"
    project.write({"net.py": model, "leaf.py": model, "own.py": model})
    project.write({"run.py": script.format("net"), "other.py": script.format("own")})
    seen: list[str] = []
    around = PartRunner.around

    def noted(self: PartRunner, eager: Sequence[Module], *rest: Any) -> Result:
        seen.extend(module.path for module in eager)
        return around(self, eager, *rest)

    monkeypatch.setattr(PartRunner, "around", noted)
    assert opened(project.root).reporting(path).lint().findings
    assert seen == walked


def test_what_is_left_of_a_neighbour_is_not_asked_for(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outermost roots of a part are entered together, what is left file by file: who leads to a neighbour says nothing."""
    model = "import torch\nclass {0}(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n        return x\n"
    user = model.replace("print(x)", "x = a_two.Two()(x)").replace("import torch", "import torch, a_two")
    project.write(
        {f"{name}.py": model.format(name[2:].title()) for name in ("a_one", "a_two", "b_more", "c_away", "c_far")}
    )
    project.write({"b_user.py": user.format("User")})
    monkeypatch.setattr(plan, "divided", lambda items: [items[i : i + 2] for i in range(0, len(items), 2)])
    entered: list[str] = []
    run = plan.run_parts

    def noted(runner: Any, parts: Sequence[plan.Part], *rest: Any) -> Any:
        entered.extend(f"{part.kind} {' '.join(part.paths)}" for part in parts)
        return run(runner, parts, *rest)

    monkeypatch.setattr(plan, "run_parts", noted)
    report = opened(project.root).reporting("a_one.py").lint()
    assert [(f.path, f.code) for f in report.findings] == [("a_one.py", "TCL108")]
    assert entered == ["outermost a_one.py a_two.py"]


def test_what_was_told_in_another_file_is_told_there(project: Project) -> None:
    """A rule tells a hazard once, where it first sees it: also where nobody asked about that file."""
    project.write(
        {
            "gen.py": """
                def collect(net, batches):
                    kept = []
                    for x in batches:
                        kept.append(net(x))
                    return kept
            """,
            "main.py": """
                import torch
                import torch.nn as nn
                from gen import collect


                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.fc = nn.Linear(4, 4)

                    def forward(self, x):
                        return self.fc(x).relu()


                @torch.no_grad()
                def main(device):
                    net = torch.compile(Net().to(device), mode="reduce-overhead")
                    batches = [torch.ones(2, 4, device=device) for _ in range(3)]
                    found = collect(net, batches)
                    for each in found:
                        print(each.sum())
            """,
        }
    )
    whole = opened(project.root)
    assert [(f.path, f.code) for f in whole.lint().findings] == [("gen.py", "TCL301")]
    assert whole.reporting("main.py").lint().findings == ()
    assert [(f.path, f.code) for f in whole.reporting("gen.py").lint().findings] == [("gen.py", "TCL301")]


REGISTRY = """
class Registry:
    def __init__(self):
        self.table = {}

    def put(self, name):
        def inner(what):
            self.table[name] = what
            return what

        return inner

    def get(self, name):
        return self.table[name]


TABLE = {}


def register(name):
    def inner(what):
        TABLE[name] = what
        return what

    return inner
"""
USER = "import torch\n{0}\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return {1}(x) + 1\n"
KEPT = "{0}\n\n@{1}('loud')\ndef loud(x):\n    print('loud')\n    return x\n"


@pytest.mark.parametrize(
    ("user", "kept"),
    [
        (("from kit.tables import TABLE", "TABLE['loud']"), ("from kit.tables import register", "register")),
        (("from kit.tables import TABLE", "TABLE['loud']"), ("from kit import register", "register")),
        (("from kit import tables", "tables.TABLE['loud']"), ("import kit.tables as t", "t.register")),
        (("from kit.objects import ACTS", "ACTS.get('loud')"), ("from kit.objects import ACTS", "ACTS.put")),
    ],
)
def test_who_reads_a_table_leads_to_what_is_kept_there(
    project: Project, user: tuple[str, str], kept: tuple[str, str]
) -> None:
    """A model takes from a table what another file put there, and imports nothing of that file."""
    project.write({"kit/__init__.py": "from .tables import *\n", "kit/tables.py": REGISTRY, "other.py": "x = 1\n"})
    project.write({"kit/objects.py": "from .tables import Registry\nACTS = Registry()\n"})
    project.write({"net.py": USER.format(*user), "acts.py": KEPT.format(*kept)})
    whole = opened(project.root)
    found = whole.lint().findings
    assert [(f.path, f.line) for f in found] == [("acts.py", 5)]
    assert whole.reporting("acts.py").lint().findings == found


def nothing(module: Module) -> tuple[str, ...]:
    return ()


def test_more_than_a_few_files_are_not_asked_for() -> None:
    files = {f"m{i}.py": f"import m{i - 1}\n".encode() for i in range(1, 200)} | {"m0.py": b""}
    program = Program.build([(path, f"/p/{path}", data, True) for path, data in files.items()])
    asked: list[str] = []

    def naming(word: str) -> dict[str, tuple[str, ...]]:
        asked.append(word)
        return dict(program.answers(leading.named, word))

    assert len(set(leading.leading(program, {"m0.py"}, naming, nothing, []))) == len(files)  # type: ignore[call-overload]
    assert len(asked) < 70
    assert leading.leading(program, {"m190.py"}, naming, nothing, []) == {f"m{i}.py" for i in range(190, 200)}


def test_what_sites_put_into_a_file_leads_on() -> None:
    files = dict.fromkeys(("a.py", "b.py", "c.py"), b"")
    program = Program.build([(path, f"/p/{path}", data, True) for path, data in files.items()])
    assert leading.leading(program, {"a.py"}, lambda word: {}, nothing, [("b.py", "a.py"), ("c.py", "b.py")]) == set(
        files
    )
    assert leading.leading(program, {"b.py"}, lambda word: {}, nothing, [("b.py", "a.py")]) == {"b.py"}


STATEMENTS = [
    "import a.b.c",
    "import a, b.c as d, e",
    "import a, \\\n    b",
    "from a.b import c",
    "from a import b as c, d",
    "from a import (b, c)",
    "from a import (\n    b,  # ) not the end\n    c as e,  # from x import y\n)",
    "from . import a",
    "from .a import b",
    "from ...a.b import c, d",
    "from.a import(b)",
    "from . a . b import c",
    "from \\\n  a \\\n import \\\n b, \\\n c",
    "from a import *",
    "if x: import a; import b",
    "def f():\n    from a import b; from c import d",
    "class A:\n\timport a as b\n",
    "x = 1; from a import (b\n)",
    "from é import ü",
    "# as they come from\nfrom a import b",
    "# what they import\nimport a",
    "'from '; from a import b; 'import '; import c",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_no_import_is_overlooked(text: str) -> None:
    tree = ast.parse(text)
    found = list(imports(text.encode()))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= {each.target for each in found if not each.level}
        elif isinstance(node, ast.ImportFrom):
            names = {n for i in found if (i.level, i.target) == (node.level, node.module or "") for n in i.names}
            assert {alias.name for alias in node.names} <= names


def test_nor_in_our_own_files() -> None:
    root = Path(__file__).resolve().parents[2]
    paths = sorted(root.glob("tclint/**/*.py"))
    program = Program.build([(str(path), str(path), path.read_bytes(), True) for path in paths])
    assert len(program.modules) > 100
    for module in program.modules:
        found = {
            (absolute_name(module, i.target, i.level), name) for i in imports(module.data) for name in ("", *i.names)
        }
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom):
                target = absolute_name(module, node.module, node.level)
                assert {(target, alias.name) for alias in node.names} <= found
            elif isinstance(node, ast.Import):
                assert {(alias.name, "") for alias in node.names} <= found
