"""Several projects in one run: each file is held to the configuration nearest to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lintkit import Project

from tclint import cli
from tclint.model.settings import Settings
from tclint.run.project import Project as Opened

MODEL = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x):
            print(x)
            if x.sum() > 0:
                return x
            return -x

    net = torch.compile(Net())
"""


@pytest.fixture
def two(tmp_path: Path) -> Project:
    """A repository of two projects and what belongs to none of them."""
    return Project(tmp_path).write(
        {
            "pyproject.toml": '[tool.tclint]\nselect = ["TCL101", "TCL108"]\n',
            "top.py": MODEL,
            "a/pyproject.toml": '[tool.tclint]\nselect = ["TCL101"]\n',
            "a/net.py": MODEL,
            "b/tclint.toml": 'select = ["TCL108"]\nper-file-ignores = { "quiet.py" = ["TCL108"] }\nexclude = ["left"]\n',
            "b/net.py": MODEL,
            "b/quiet.py": MODEL,
            "b/left/net.py": MODEL,
            "c/pyproject.toml": '[project]\nname = "c"\n',
            "c/net.py": MODEL,
        }
    )


def _places(project: Project, *paths: str, **overrides: object) -> list[str]:
    given = {"no-cache": True, **{key.replace("_", "-"): value for key, value in overrides.items()}}
    report = Opened.open(paths or (".",), cwd=str(project.root), overrides=given).lint()
    return [f"{finding.path} {finding.code}" for finding in sorted(report.findings, key=lambda f: f.sort_key)]


ALL = ["a/net.py TCL101", "b/net.py TCL108", "c/net.py TCL108", "c/net.py TCL101", "top.py TCL108", "top.py TCL101"]


def test_every_file_follows_the_nearest_configuration(two: Project) -> None:
    assert _places(two) == ALL


@pytest.mark.parametrize("paths", [("a", "b"), ("b", "a"), ("a/net.py", "b/net.py", "b/quiet.py")])
def test_the_order_of_paths_does_not_matter(two: Project, paths: tuple[str, ...]) -> None:
    assert _places(two, *paths) == ["a/net.py TCL101", "b/net.py TCL108"]


def test_a_folder_inside_one_that_is_named_later(two: Project) -> None:
    assert _places(two, "a", ".") == ALL


def test_a_folder_without_a_configuration_has_the_defaults(two: Project) -> None:
    (two.root / "pyproject.toml").unlink()
    both = ["c/net.py TCL101", "c/net.py TCL108"]
    assert sorted(p for p in _places(two, "a", "c") if p.startswith("c")) == both
    assert sorted(_places(two, "a", "b", "c"))[:2] == ["a/net.py TCL101", "b/net.py TCL108"]


def test_the_command_line_wins_everywhere(two: Project) -> None:
    assert _places(two, "a", "b", select=["TCL101"]) == ["a/net.py TCL101", "b/net.py TCL101", "b/quiet.py TCL101"]


def test_one_configuration_for_all_when_it_is_named(two: Project) -> None:
    opened = Opened.open(["."], cwd=str(two.root), config="a/pyproject.toml", overrides={"no-cache": True})
    assert {finding.code for finding in opened.lint().findings} == {"TCL101"}
    assert len(opened.reported) == 6  # nobody else's excludes


def test_what_decides_the_reading_differs(two: Project) -> None:
    """A release of torch and a wrapper of one's own hold for the files of their project, and each sees the other's code."""
    two.write(
        {
            "a/pyproject.toml": '[tool.tclint]\nselect = ["TCL101"]\ntarget-torch = "2.6"\ncompile-functions = ["fast"]\n',
            "a/net.py": "from b.net import Net\nfrom own import fast\n\nnet = fast(Net())\n",
            "a/other.py": MODEL,
        }
    )
    found = Opened.open(["a", "b"], cwd=str(two.root), overrides={"no-cache": True}).lint()
    assert [f"{f.path} {f.code}" for f in found.findings] == ["a/other.py TCL101", "b/net.py TCL108"]
    assert found.torch.startswith("2.6 and ")
    assert {site.path for site in found.sites} == {"a/net.py", "a/other.py", "b/net.py", "b/quiet.py"}
    alone = Opened.open(["b"], cwd=str(two.root), overrides={"no-cache": True}).lint()
    assert found.files == 4
    assert found.functions >= alone.functions


def test_a_comment_is_unused_where_its_rule_runs(two: Project) -> None:
    quiet = "import torch\n\n\ndef f(x):\n    return x  # tclint: ignore[TCL101]\n"
    two.write({"a/idle.py": quiet, "b/idle.py": quiet})
    two.write({"a/pyproject.toml": '[tool.tclint]\nselect = ["TCL101", "TCL901"]\n'})
    two.write({"b/tclint.toml": 'select = ["TCL108", "TCL901"]\n'})
    assert [p for p in _places(two, "a", "b") if "TCL901" in p] == ["a/idle.py TCL901"]


def test_levels_are_those_of_the_file(two: Project) -> None:
    two.write({"a/pyproject.toml": '[tool.tclint]\nseverity = "high"\n', "b/tclint.toml": 'severity = "low"\n'})
    severities = Opened.open(["a", "b"], cwd=str(two.root), overrides={"no-cache": True, "select": ["TCL1"]}).lint()
    assert {f.severity.value for f in severities.findings if f.path.startswith("a/")} == {"high"}
    assert {f.code for f in severities.findings if f.path == "b/net.py"} == {"TCL101", "TCL108"}


def test_a_broken_configuration_below_is_told(
    two: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    two.write({"b/tclint.toml": 'selct = ["TCL108"]\n'})
    monkeypatch.chdir(two.root)
    assert cli.main([".", "--no-cache"]) == 2
    assert "b/tclint.toml:1: unknown key 'selct'; did you mean 'select'?" in capsys.readouterr().err


def test_the_cache_knows_all_configurations(two: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def run() -> list[str]:
        found = Opened.open(["."], cwd=str(two.root)).lint()
        return [f"{f.path} {f.code}" for f in sorted(found.findings, key=lambda f: f.sort_key)]

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert run() == ALL == run()
    two.write({"b/tclint.toml": 'select = ["TCL101"]\nexclude = ["left"]\n'})
    assert [place for place in run() if place.startswith("b/")] == ["b/net.py TCL101", "b/quiet.py TCL101"]


def test_the_settings_of_a_path(two: Project) -> None:
    opened = Opened.open(["."], cwd=str(two.root))
    assert opened.settings.at(str(two.root / "a" / "net.py")).select == ("TCL101",)
    assert opened.settings.at(str(two.root / "c" / "net.py")).select == ("TCL101", "TCL108")
    assert isinstance(opened.settings.at("/elsewhere.py"), Settings)


def test_one_configuration_costs_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path).write({"pyproject.toml": "[tool.tclint]\n", "net.py": MODEL, "sub/net.py": MODEL})
    assert Opened.open(["."], cwd=str(project.root)).settings.nearer == ()


def test_json_of_several(two: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(two.root)
    assert cli.main(["a", "b", "--no-cache", "--output-format", "json"]) == 1
    assert {f["code"] for f in json.loads(capsys.readouterr().out)["findings"]} == {"TCL101", "TCL108"}
