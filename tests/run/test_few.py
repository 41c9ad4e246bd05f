"""A run about a few files of a large project goes through what can lead to them, and says of them what a run about all says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from lintkit import Project
from test_leading import FILES, KEPT, REGISTRY, USER, Generated, differences, opened

from tclint.program import Program
from tclint.run import few, handing, plan
from tclint.run.parts import Part, PartRunner
from tclint.run.results import Entered, Result

MODEL = "import torch\nclass {0}(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n        return x\n"


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every project counts as a large one."""
    monkeypatch.setattr(few, "_LARGE", 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_file_alone_and_with_all(project: Project, seed: int) -> None:
    assert differences(project, seed) == []


def test_the_programs_can_tell(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing, "leading", lambda program, wanted, *_: frozenset(wanted))
    monkeypatch.setattr(few, "_linked", lambda plan, start: frozenset(start))
    assert any(differences(project, seed) for seed in range(3))


@pytest.mark.parametrize("seed", range(300, 302))
def test_edits_cached_and_fresh(project: Project, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What runs about single files kept holds for later ones as far as nothing they were made from has changed."""
    project.write(dict(Generated(seed).sources))
    cache = tmp_path_factory.mktemp("cache")
    for number, path in enumerate(FILES[::2]):
        for each in (path, FILES[number]):
            kept, fresh = opened(project.root, cache), opened(project.root)
            assert kept.reporting(each).lint() == fresh.reporting(each).lint()
        project.write({path: Generated(seed + 1 + number).sources[path]})


def walked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose eager code is gone through for compile sites from now on."""
    seen: list[str] = []
    find = PartRunner.find_sites

    def noted(self: PartRunner, eager: Sequence[plan.Module]) -> None:
        seen.extend(module.path for module in eager)
        find(self, eager)

    monkeypatch.setattr(PartRunner, "find_sites", noted)
    return seen


def test_sites_that_do_not_lead_there_are_not_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that imports all its models joins them by imports, and hands none of them to the others' sites."""
    project.write({"kit/__init__.py": "from .one import One\nfrom .two import Two\n"})
    project.write({"kit/one.py": MODEL.format("One"), "kit/two.py": MODEL.format("Two")})
    project.write({"first.py": "import torch\nfrom kit import One\nnet = torch.compile(One())\n"})
    project.write({"second.py": "import torch\nfrom kit import Two\nnet = torch.compile(Two())\n"})
    monkeypatch.setattr(few, "_linked", lambda plan, start: None)
    monkeypatch.setattr(few, "_left_open", lambda plan, leading: True)
    seen = walked(monkeypatch)
    found = opened(project.root).reporting("kit/one.py").lint().findings
    assert [(f.path, f.code, f.assumed) for f in found] == [("kit/one.py", "TCL108", False)]
    assert set(seen) == {"first.py"}


def test_a_site_that_leaves_open_what_it_compiles_is_found(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether models without a site count as compiled is for sites to say that do not lead there."""
    project.write({"shared.py": "import torch\nclass Base(torch.nn.Module):\n    pass\n"})
    project.write(
        {"one.py": "import shared\n" + MODEL.format("One"), "two.py": "import shared\n" + MODEL.format("Two")}
    )
    project.write({"known.py": "import torch\nfrom two import Two\nnet = torch.compile(Two())\n"})
    script = "import torch\nimport shared\nfrom there import make\nnet = make()\nfast = torch.compile(net)\n"
    monkeypatch.setattr(few, "_LINKED", 0)
    for held in (script, script.replace("fast = torch.compile(net)\n", "")):
        project.write({"script.py": held})
        whole = opened(project.root)
        found = whole.lint().findings
        assert whole.reporting("one.py").lint().findings == tuple(f for f in found if f.path == "one.py")


def test_scripts_are_asked_that_may_leave_open_what_they_compile(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a function gives back compiled comes first; what a decorator stands above is in sight."""
    project.write({"shared.py": "import torch\nclass Base(torch.nn.Module):\n    pass\n"})
    project.write({"one.py": "import shared\n" + MODEL.format("One")})
    begun = "import torch\nimport shared\n"
    project.write({"above.py": begun + "@torch.compile(dynamic=True)\ndef f(x):\n    return x\n"})
    project.write({"short.py": begun + "fast = torch.compile(len)\n"})
    project.write({"helper.py": begun + "def made(net: shared.Base):\n    return torch.compile(net)\n"})
    monkeypatch.setattr(few, "_LINKED", 0)
    asked: list[str] = []

    def leaves_open(plan: plan.Plan, script: plan.Module) -> bool:
        asked.append(script.path)
        return False

    monkeypatch.setattr(few, "_leaves_open", leaves_open)
    opened(project.root).reporting("one.py").lint()
    assert asked == ["helper.py", "short.py"]


def test_neighbours_are_not_interpreted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are interpreted some together where all are; where one is wanted, the others of its part are not."""
    project.write({"one.py": MODEL.format("One"), "two.py": MODEL.format("Two")})
    monkeypatch.setattr(plan, "divided", lambda items: [items])
    monkeypatch.setattr(few, "_linked", lambda plan, start: None)
    monkeypatch.setattr(few, "_left_open", lambda plan, leading: True)
    seen: list[tuple[str, ...]] = []
    run = PartRunner.run

    def noted(self: PartRunner, part: Part) -> Entered | Result:
        seen.append(part.paths)
        return run(self, part)

    monkeypatch.setattr(PartRunner, "run", noted)
    found = opened(project.root).reporting("one.py").lint().findings
    assert [(f.path, f.code) for f in found] == [("one.py", "TCL108")]
    assert set(seen) == {("one.py",)}


def test_what_a_file_that_is_read_compiles_by_itself_is_known(project: Project) -> None:
    """It does not lead to the model that calls it, and yet says what that call runs."""
    project.write({"fast.py": "import torch\ndef add(x):\n    return x + 1\n\nadd = torch.compile(add)\n"})
    project.write({"net.py": "from fast import add\n" + MODEL.format("Net").replace("print(x)", "x = add(x)")})
    whole = opened(project.root)
    found = whole.lint().findings
    assert whole.reporting("net.py").lint().findings == tuple(f for f in found if f.path == "net.py")


@pytest.mark.parametrize(
    ("user", "kept"),
    [
        (("from kit.tables import TABLE", "TABLE['loud']"), ("from kit import register", "register")),
        (("from kit import tables", "tables.TABLE['loud']"), ("import kit.tables as t", "t.register")),
        (("from kit.objects import ACTS", "ACTS.get('loud')"), ("from kit.objects import ACTS", "ACTS.put")),
    ],
)
def test_who_reads_a_table_leads_to_what_is_kept_there(
    project: Project, user: tuple[str, str], kept: tuple[str, str]
) -> None:
    project.write({"kit/__init__.py": "from .tables import *\n", "kit/tables.py": REGISTRY, "other.py": "x = 1\n"})
    project.write({"kit/objects.py": "from .tables import Registry\nACTS = Registry()\n"})
    project.write({"net.py": USER.format(*user), "acts.py": KEPT.format(*kept)})
    whole = opened(project.root)
    found = whole.lint().findings
    assert [(f.path, f.line) for f in found] == [("acts.py", 5)]
    assert whole.reporting("acts.py").lint().findings == found


def leads(files: dict[str, str], wanted: str) -> set[str] | None:
    program = Program.build([(path, f"/p/{path}", text.encode(), True) for path, text in files.items()])
    found = handing.leading(program, [wanted], lambda module: ())
    return None if found is None else set(found)


@pytest.mark.parametrize(
    ("user", "leading"),
    [
        ("from net import Net\nmodel = Net()\n", True),
        ("from net import *\nmodel = Net()\n", True),
        ("import net\nmodel = net.Net()\n", True),
        ("import net as n\ndef make(name):\n    return getattr(n, name)()\n", True),
        ("def make():\n    from net import Net as N\n    return N()\n", True),
        ("from net import Net\ndef run(model: 'Net'):\n    return model(1)\n", True),
        ("# from other import Net\nfrom other import Net\nmodel = Net()\n", False),
        ("model = Net()\n", False),
    ],
)
def test_a_name_is_followed_to_who_takes_it(user: str, leading: bool) -> None:
    files = {"net.py": "class Net:\n    pass\n", "other.py": "class Net:\n    pass\n", "user.py": user}
    assert leads(files, "net.py") == ({"net.py", "user.py"} if leading else {"net.py"})


def test_a_name_is_handed_on() -> None:
    files = {
        "pkg/__init__.py": "from .net import Net\n",
        "pkg/net.py": "class Net:\n    pass\n",
        "pkg/build.py": "from pkg import Net\ndef build():\n    return Net()\n\ndef other():\n    return 1\n",
        "run.py": "from pkg.build import build\nmodel = build()\n",
        "aside.py": "from pkg.build import other\nnumber = other()\n",
    }
    assert leads(files, "pkg/net.py") == {"pkg/__init__.py", "pkg/net.py", "pkg/build.py", "run.py"}


def test_more_than_a_few_files_are_no_few() -> None:
    files = {f"m{n}.py": f"from m{n - 1} import f{n - 1}\ndef f{n}():\n    return f{n - 1}()\n" for n in range(1, 99)}
    assert leads({"m0.py": "def f0():\n    return 1\n", **files}, "m0.py") is None


def _program(files: Mapping[str, bytes]) -> Program:
    return Program.build([(path, f"/p/{path}", data, True) for path, data in files.items()])


def _parsed(program: Program) -> list[str]:
    return [module.path for module in program.modules if module._tree is not None]


def test_who_takes_other_names_of_a_file_is_not_parsed() -> None:
    """Of what two files lead to, as many import one of them for what has nothing to do with the other."""
    users = {f"u{i}.py": b"from b import help\n\nhelp()\n" for i in range(100)}
    files = {"a.py": b"class Net: ...\n", "b.py": b"from a import Net\n\nBest = Net\n\ndef help(): ...\n", **users}
    program = _program({**files, "c.py": b"import b\n\nmodel = b.Best()\n"})
    assert handing.leading(program, ["a.py"], lambda module: ()) == {"a.py", "b.py", "c.py"}
    assert _parsed(program) == ["a.py", "b.py", "c.py"]


def test_too_many_users_are_counted_and_not_parsed() -> None:
    users = {f"u{i}.py": b"from a import Net\n\nmodel = Net()\n" for i in range(100)}
    program = _program({"a.py": b"class Net: ...\n", **users})
    assert handing.leading(program, ["a.py"], lambda module: ()) is None
    assert _parsed(program) == ["a.py"]
