"""Rules that are not tclint's own: folders and files of a project, installed packs, `tclint new-rule`, and `tclint.api`."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lintkit import ROOT, Project

from tclint import api, cli
from tclint.model.errors import UserError
from tclint.model.settings import Settings
from tclint.ruleset import packs
from tclint.ruleset.loading import KINDS, load_rules

PACK = ROOT / "fixtures" / "rule_pack"
RULES = str(PACK / "acme_rules")
FIXTURES = sorted((PACK / "fixtures").glob("*/*.py"))

SLEEP = '''
from tclint.api import Effect, Rule, Severity

class NoSleep(Rule):
    """Do not sleep."""

    code, name = "ACME001", "no-sleep"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    calls = ("time.sleep",)

    def on_call(self, event):
        yield self.finding(event, "`time.sleep` in compiled code")
'''
CODE = "import time\nimport torch\n\n@torch.compile\ndef f(x):\n    time.sleep(1)\n    return x\n\nf(torch.ones(1))\n"


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user trusts what these tests write; what happens where he does not is in test_trust.py."""
    monkeypatch.setenv("TCLINT_ALLOW_RULES", "1")


def own(report: api.Report) -> list[tuple[str, int]]:
    return [(f.code, f.line) for f in report.findings if not f.code.startswith("TCL")]


def run(args: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.main(args)
    return code, *capsys.readouterr()


# --- folders and files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["lint", "lint/sleep.py", "./lint/"])
def test_folders_and_files(project: Project, where: str) -> None:
    project.write({"m.py": CODE, "lint/sleep.py": SLEEP, "lint/_helper.py": "1 / 0", "lint/test_it.py": "1 / 0"})
    project.write({"pyproject.toml": f'[tool.tclint]\nrules = ["{where}"]\n'})
    assert own(api.lint(["m.py"], cwd=project.root)) == [("ACME001", 6)]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", True),
        ('select = ["TCL"]', True),
        ('select = ["ALL"]', True),
        ('select = ["ACME"]', True),
        ('select = ["no-sleep"]', True),
        ('select = ["TCL1"]', False),
        ('ignore = ["ACME001"]', False),
        ('ignore = ["ACME"]', False),
        ('select = ["TCL1"]\nextend-select = ["ACME001"]', True),
    ],
)
def test_on_like_any_other(project: Project, more: str, expected: bool) -> None:
    project.write({"m.py": CODE, "lint/sleep.py": SLEEP, "tclint.toml": f'rules = ["lint"]\n{more}\n'})
    assert bool(own(api.lint(["m.py"], cwd=project.root))) is expected


def test_off_by_default_where_the_rule_says_so(project: Project) -> None:
    rule = SLEEP.replace("    calls", "    default = False\n    calls")
    project.write({"m.py": CODE, "lint/sleep.py": rule, "tclint.toml": 'rules = ["lint"]\n'})
    assert own(api.lint(["m.py"], cwd=project.root)) == []
    assert own(api.lint(["m.py"], cwd=project.root, select=["ACME001"])) == [("ACME001", 6)]


def test_suppressed_like_any_other(project: Project) -> None:
    code = CODE.replace("time.sleep(1)", "time.sleep(1)  # tclint: ignore[ACME001, TCL110] rate limit")
    project.write({"m.py": code, "lint/sleep.py": SLEEP})
    assert own(api.lint(["m.py"], cwd=project.root, rules=["lint"])) == []


def test_helpers_of_two_folders_do_not_meet(project: Project) -> None:
    for folder, number in (("a", 1), ("b", 2)):
        rule = f"from _shared import NUMBER\nassert NUMBER == {number}\n" + SLEEP.replace("ACME001", f"ACME00{number}")
        rule = rule.replace("no-sleep", f"no-sleep-{folder}")
        project.write({f"{folder}/rule.py": rule, f"{folder}/_shared.py": f"NUMBER = {number}\n"})
    project.write({"m.py": CODE})
    assert own(api.lint(["m.py"], cwd=project.root, rules=["a", "b"])) == [("ACME001", 6), ("ACME002", 6)]
    assert "_shared" not in sys.modules


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import nothing_of_this_name\n", "rule.py:1: cannot be loaded as a rule: ModuleNotFoundError"),
        ("x = 1\n\n1 / 0\n", "rule.py:3: cannot be loaded as a rule: ZeroDivisionError"),
        ("def f(:\n", "rule.py:1: cannot be loaded as a rule: syntax error"),
        (
            SLEEP.replace("class NoSleep(Rule)", "class NoSleep"),
            "class NoSleep looks like a rule; derive it from tclint.api.Rule",
        ),
        (SLEEP.replace("ACME001", "TCL101"), "code TCL101 is already taken by"),
        (SLEEP.replace("no-sleep", "data-dependent-branch"), "name 'data-dependent-branch' is already taken by TCL101"),
        (SLEEP.replace("ACME001", "acme 1"), "'acme 1' is no code"),
        (SLEEP.replace('"no-sleep"', '"No sleep"'), "'No sleep' is no name"),
        (SLEEP.replace('    """Do not sleep."""\n', ""), "has no docstring"),
        (SLEEP.replace("on_call", "on_cal"), "did you mean `on_call`"),
        (SLEEP.replace("on_call", "visit"), "listens to nothing"),
        (SLEEP.replace('("time.sleep",)', "()"), "no `calls`"),
        (SLEEP + "    scope = 'all'\n", "scope must be one of region"),
        (SLEEP + "    def __init__(self):\n        raise OSError('no')\n", "cannot be made: OSError: no"),
        ("x = 1\n", "defines no rule"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(
    project: Project, source: str, says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"m.py": CODE, "rule.py": source, "tclint.toml": 'rules = ["rule.py"]\n'})
    monkeypatch.chdir(project.root)
    code, _, err = run(["m.py"], capsys)
    assert code == 2
    assert err.startswith("tclint: error: ")
    assert says in err
    assert "rule.py" in err
    assert "internal error" not in err


def test_a_rules_folder_that_is_not_there(project: Project) -> None:
    project.write({"m.py": CODE})
    with pytest.raises(UserError, match="check `rules` in the configuration"):
        api.lint(["m.py"], cwd=project.root, rules=["nowhere"])


# --- the example pack -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_fixtures_of_the_pack(path: Path) -> None:
    assert api.check_fixture(path, path.parent.name.partition("_")[0], rules=[RULES]) == []


def test_a_fixture_that_does_not_hold_is_told(project: Project) -> None:
    bad = (PACK / "fixtures" / "ACME101_checkpoint_in_region" / "bad.py").read_text()
    project.write(
        {"a.py": bad.replace("  # expect: ACME101 save_file", ""), "b.py": bad + "x = 1  # expect: ACME101\n"}
    )
    project.write({"c.py": bad.replace("ACME101 save_file", "ACME101 nonsense")})
    wrong = [api.check_fixture(project.root / name, "ACME101", rules=[RULES]) for name in ("a.py", "b.py", "c.py")]
    assert [len(each) for each in wrong] == [1, 1, 1]
    assert "not expected" in wrong[0][0]
    assert "not found" in wrong[1][0]
    assert "does not say 'nonsense'" in wrong[2][0]


def test_the_fix_of_the_pack(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"m.py": "import torch\n\n\ndef f(x):\n    return x\n\n\ng = torch.compile(f)\ng(torch.ones(2))\n"})
    project.write({"tclint.toml": f'rules = ["{RULES}"]\n'})
    monkeypatch.chdir(project.root)
    run(["m.py", "--fix", "--unsafe-fixes", "--select", "ACME"], capsys)
    assert "torch.compile(f, fullgraph=True)" in (project.root / "m.py").read_text()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pack installed by pip, as it would be in site-packages."""
    folder = tmp_path_factory.mktemp("site")
    pytest.importorskip("setuptools")
    built = tmp_path_factory.mktemp("build") / "pack"
    import shutil

    shutil.copytree(PACK, built)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "--target", str(folder), str(built)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def tclint(site: Path | None, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), *([str(site)] if site else [])])
    command = [sys.executable, "-m", "tclint", *args]
    return subprocess.run(command, cwd=cwd, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)


def test_an_installed_pack_is_found_and_runs(project: Project, site: Path) -> None:
    project.write({"m.py": FIXTURES[0].read_bytes()})
    args = ("m.py", "--output-format", "concise", "--no-cache")
    plain = tclint(None, project.root, *args)
    assert "ACME" not in plain.stdout
    done = tclint(site, project.root, *args)
    assert done.returncode == 1, done.stderr
    assert "m.py:8:5: ACME101[checkpoint-in-region]" in done.stdout
    page = tclint(site, project.root, "rule", "ACME101")
    assert "save and load in the training loop" in page.stdout
    shown = tclint(site, project.root, "config")
    assert "# pack acme (acme-tclint-rules 1.2.0): loaded" in shown.stdout


@pytest.mark.parametrize(
    ("chosen", "loaded"), [("[]", False), ('["acme"]', True), ('["acme-*"]', True), ('["other"]', False)]
)
def test_packs_can_be_left_out(project: Project, site: Path, chosen: str, loaded: bool) -> None:
    project.write({"m.py": FIXTURES[0].read_bytes(), "tclint.toml": f"packs = {chosen}\n"})
    done = tclint(site, project.root, "m.py", "--output-format", "concise", "--no-cache")
    assert ("ACME101" in done.stdout) is loaded
    shown = tclint(site, project.root, "config")
    assert f"# pack acme (acme-tclint-rules 1.2.0): {'loaded' if loaded else 'not loaded'}" in shown.stdout


def metadata(site: Path, target: str, name: str = "acme-1.0") -> None:
    folder = site / f"{name}.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text(f"[console_scripts]\nx = y:z\n\n[tclint.rules]\nacme = {target}\n")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("acme_mod", ""),
        ("acme_mod:NoSleep", ""),
        ("acme_mod:RULES", ""),
        ("acme_mod:Nothing", "acme_mod has no 'Nothing'; correct the entry point"),
        ("acme_mod:len", "is no rule"),
        ("acme_gone", "cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, says: str) -> None:
    metadata(tmp_path, target)
    (tmp_path / "acme_mod.py").write_text(SLEEP + "\nRULES = [NoSleep]\nlen = len\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_mod", raising=False)
    (pack,) = packs.installed([str(tmp_path)])
    assert (pack.name, pack.target, pack.distribution, pack.version) == ("acme", target, "acme", "1.0")
    if says:
        with pytest.raises(UserError, match=says):
            load_rules((), ["acme"])
    else:
        assert "ACME001" in {rule.code for rule in load_rules((), ["*"])}
        assert "ACME001" not in {rule.code for rule in load_rules()}


def test_the_first_of_a_distribution_counts(tmp_path: Path) -> None:
    for folder, version in (("a", "1.0"), ("b", "2.0")):
        (tmp_path / folder).mkdir()
        metadata(tmp_path / folder, "acme_mod", f"Acme_Rules-{version}")
    (pack,) = packs.installed([str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "nowhere")])
    assert (pack.distribution, pack.version) == ("acme-rules", "1.0")


def test_the_files_of_a_pack_are_known_without_importing_it(site: Path) -> None:
    code = "import sys; from tclint.ruleset import packs; p, = packs.installed([sys.argv[1]]); print(*packs.files(p)); print('acme_rules' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])}
    done = subprocess.run([sys.executable, "-c", code, str(site)], env=env, capture_output=True, text=True, check=True)
    files, imported = done.stdout.splitlines()
    assert [Path(file).name for file in files.split()] == sorted(p.name for p in (PACK / "acme_rules").glob("*.py"))
    assert imported == "False"


def test_looking_for_packs_costs_little() -> None:
    packs.installed()
    started = time.perf_counter()
    packs.installed()
    # Measured: about 1 ms for 60 packages; `importlib.metadata` takes 100 ms to import itself.
    assert time.perf_counter() - started < 0.1
    code = "import sys; from tclint.ruleset import packs; packs.installed(); print('importlib.metadata' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- new-rule ---------------------------------------------------------------------------------------------------------


def test_new_rule_works_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.root)
    project.write({"pyproject.toml": '[project]\nname = "x"\n'})
    code, out, err = run(["new-rule", "ACME007", "no-nap"], capsys)
    assert (code, err) == (0, "")
    assert "wrote lint/acme007_no_nap.py" in out
    switch = out.partition("write into pyproject.toml:\n\n")[2].partition("\n\n")[0]
    # What it says to write is what switches it on.
    with (project.root / "pyproject.toml").open("a") as file:
        file.write("\n" + "\n".join(line.strip() for line in switch.splitlines()) + "\n")
    bad = "lint/fixtures/ACME007_no_nap/bad.py"
    (project.root / "m.py").write_bytes((project.root / bad).read_bytes())
    assert own(api.lint(["."], cwd=project.root)) == [("ACME007", 10)]  # and not in the fixtures
    assert run(["rule", "ACME007"], capsys)[1].startswith("ACME007 no-nap")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "lint"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert "3 passed" in done.stdout, done.stdout
    code, out, _ = run(["new-rule", "ACME008", "no-dream"], capsys)
    assert "it is on: pyproject.toml has this folder" in out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["acme1", "x"], "'acme1' is no code"),
        (["TCL999", "x"], "TCL belongs to tclint"),
        (["ACME001", "No Sleep"], "'No Sleep' is no name"),
        (["ACME001", "print-in-region"], "there is a rule of that name already, TCL108"),
        (["ACME002", "taken"], "lint/acme002_taken.py: exists already; nothing was written"),
    ],
)
def test_new_rule_refuses(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], args: list[str], says: str
) -> None:
    monkeypatch.chdir(project.root)
    project.write({"lint/acme002_taken.py": "x = 1\n"})
    code, _, err = run(["new-rule", *args], capsys)
    assert code == 2
    assert says in err
    assert [p.name for p in (project.root / "lint").iterdir()] == ["acme002_taken.py"]


# --- the interface ----------------------------------------------------------------------------------------------------


def test_the_interface_is_what_it_says() -> None:
    public = {
        name
        for name, value in vars(api).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name not in ("annotations", "Any", "Sequence")
    }
    assert sorted(api.__all__) == sorted(public)
    assert len(set(api.__all__)) == len(api.__all__)
    for name in api.__all__:
        assert hasattr(api, name)


def test_everything_the_rules_use_of_finding_and_events_is_in_it() -> None:
    for path in (ROOT / "rules").glob("tcl*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in (
                "tclint.model.finding",
                "tclint.events",
                "tclint.ruleset.rule",
            ):
                missing = {alias.name for alias in node.names} - {*api.__all__, "events", "load_rules", "variation"}
                assert not missing, path


def test_every_event_is_in_it_and_in_its_page() -> None:
    page = api.__doc__ or ""
    for kind in KINDS:
        assert f"`on_{kind}`" in page
    for event in api.Event.__subclasses__():
        if event.__module__ == "tclint.events.kinds":
            assert event.__name__ in api.__all__


def test_the_example_of_the_page_works(project: Project) -> None:
    page = inspect.cleandoc(api.__doc__ or "")
    source = page.partition("writes one)::\n\n")[2].partition("\nThe docstring is")[0]
    project.write({"m.py": CODE, "lint/rule.py": "\n".join(line[4:] for line in source.splitlines())})
    assert own(api.lint(["m.py"], cwd=project.root, rules=["lint"])) == [("ACME001", 6)]


def test_lint_for_programs(project: Project) -> None:
    model = (
        "from torch import nn\n\n\nclass M(nn.Module):\n    def forward(self, x):\n        print(x)\n        return x\n"
    )
    project.write(
        {
            "model.py": model,
            "train.py": "import torch\nfrom model import M\n\nm = torch.compile(M())\nm(torch.ones(2))\n",
        }
    )
    project.write({"tclint.toml": 'select = ["TCL1"]\n'})
    (finding,) = api.lint(["model.py"], cwd=project.root).findings
    assert finding.chain[0].path == "train.py"
    (alone,) = api.lint(["model.py"], cwd=project.root, project=False).findings
    assert alone.chain[0].path == "model.py"
    assert api.lint(cwd=project.root, isolated=True, select=["TCL101"]).findings == ()
    with pytest.raises(UserError, match="no such file"):
        api.lint(["nothing.py"], cwd=project.root)
    with pytest.raises(UserError, match="unknown key 'selct'"):
        api.lint(cwd=project.root, selct=[])
    assert isinstance(Settings(), api.Settings)
