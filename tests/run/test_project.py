"""The front door: which files are opened, under which settings, and that everybody who lints comes through it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from lintkit import ROOT, Project

from tclint.model.errors import ConfigError, UserError
from tclint.run.project import Project as Opened
from tclint.sources.files import InputError

MODEL = """
    class Gate:
        def step(self, x):
            print(x)
            return x
"""
TRAIN = """
    import torch
    from model import Gate

    step = torch.compile(Gate().step)
    step(torch.ones(2))
"""


@pytest.fixture
def trained(project: Project) -> Project:
    return project.write({"tclint.toml": "no-cache = true\n", "model.py": MODEL, "train.py": TRAIN, "sub/other.py": ""})


def opened(project: Project, *paths: str, **how: object) -> Opened:
    return Opened.open(paths, cwd=str(project.root), **how)  # type: ignore[arg-type]


def places(project: Opened) -> list[str]:
    return [f"{finding.path}:{finding.line} {finding.code}" for finding in project.lint().findings]


def test_single_files_bring_the_project_around_them(trained: Project) -> None:
    alone = opened(trained, "model.py")
    assert [(file.path, file.report, file.explicit) for file in alone.files] == [
        ("model.py", True, True),
        ("sub/other.py", False, False),
        ("train.py", False, False),
    ]
    assert alone.reported == ["model.py"]
    assert places(alone) == ["model.py:3 TCL108"]


def test_a_site_is_near_where_it_stands_in_what_was_asked_about_or_leads_to_it(trained: Project) -> None:
    trained.write({"alien.py": "import torch\n\n@torch.compile\ndef f(x):\n    return x + 1\n"})
    for asked, near in {"model.py": ["train.py"], "train.py": ["train.py"], "alien.py": ["alien.py"]}.items():
        report = opened(trained, asked).lint()
        assert [site.path for site in report.sites] == ["alien.py", "train.py"]
        assert [site.path for site in report.sites if not site.beside] == near
    assert not any(site.beside for site in opened(trained, ".").lint().sites)


def test_folders_bring_nothing_where_no_site_leads_there_and_none_is_asked_for(trained: Project) -> None:
    assert [file.path for file in opened(trained, "sub").files] == ["sub/other.py"]
    lonely = opened(trained, "model.py", around=None)
    assert [file.path for file in lonely.files] == ["model.py"]
    assert places(lonely) == []


def test_the_folder_around_can_be_named(trained: Project) -> None:
    named = opened(trained, "model.py", around="sub")
    assert [(file.path, file.report) for file in named.files] == [("model.py", True), ("sub/other.py", False)]
    with pytest.raises(InputError, match="--project-root nowhere: no such folder"):
        opened(trained, "model.py", around="nowhere")


def test_a_text_stands_in_for_the_file_it_is_named_after(trained: Project) -> None:
    text = opened(trained, "model.py", text=b"class Gate:\n    def step(self, x):\n        return x\n")
    assert [file.path for file in text.files] == ["model.py", "sub/other.py", "train.py"]
    assert places(text) == []
    nameless = opened(trained, text=b"x = 1\n")
    assert [(file.path, file.text) for file in nameless.files] == [("-", b"x = 1\n")]


def test_what_an_editor_holds_is_reported_and_nothing_else(trained: Project) -> None:
    root = str(trained.root)
    on_disk = Opened.of((), opened(trained).settings, root, around=root)
    assert on_disk.reported == []
    held = on_disk.holding({f"{root}/model.py": (trained.root / "model.py").read_bytes(), f"{root}/build/x.py": b""})
    assert [(file.path, file.report) for file in held.files if file.text is not None] == [
        ("build/x.py", False),  # excluded
        ("model.py", True),
    ]
    assert places(held) == ["model.py:3 TCL108"]
    assert held.reporting("train.py").reported == ["train.py"]


def test_settings_are_those_of_the_first_path(trained: Project) -> None:
    project = opened(trained, "sub", overrides={"select": ["TCL1"]})
    assert project.settings.config_file == f"{trained.root}/tclint.toml"
    assert project.settings.select == ("TCL1",)
    assert opened(trained, "sub", isolated=True).settings.config_file == ""


def test_a_selector_that_names_no_rule_is_refused_by_whoever_lints(trained: Project) -> None:
    project = opened(trained, "model.py", overrides={"select": ["TCL1O1"]})
    with pytest.raises(ConfigError, match="did you mean 'TCL101'"):
        project.lint()
    with pytest.raises(ConfigError, match="did you mean 'TCL101'"):
        project.fix(write=False)


def test_rules_are_explained_by_code_prefix_name_and_graph_break(trained: Project) -> None:
    project = opened(trained)
    (branch,) = project.explain(["data-dependent-branch"])
    assert branch.code == "TCL101"
    assert project.explain([branch.graph_breaks[0], "tcl101"])[0] is branch
    assert all(rule.code.startswith("TCL3") for rule in project.explain(["TCL3"]))
    with pytest.raises(UserError, match="no rule stands for 'GB9999'"):
        project.explain(["GB9999"])
    with pytest.raises(UserError, match="did you mean 'print-in-region'"):
        project.explain(["print-in-regoin"])


def test_texts_are_those_that_were_linted(trained: Project) -> None:
    project = opened(trained, "model.py").held()
    (trained.root / "model.py").write_text("changed = 1\n")
    assert project.text_of("model.py").startswith("class Gate:")
    assert project.text_of("train.py").startswith("import torch")


def test_what_is_known_is_not_interpreted_again(trained: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from tclint.run import engine

    (trained.root / "tclint.toml").write_text("")
    first = opened(trained, "model.py").lint()
    monkeypatch.setattr(engine, "lint", lambda *args, **how: pytest.fail("interpreted again"))
    assert opened(trained, "model.py").lint() == first


def test_nobody_else_puts_a_run_together() -> None:
    """Discovering, linking and linting are called in one place, so that no step can be forgotten in another."""
    users: dict[str, set[str]] = {"discover": set(), "link": set(), "engine.lint": set()}
    for path in sorted((ROOT / "tclint").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                name = called if called == "engine.lint" else called.rpartition(".")[2]
                if name in users:
                    users[name].add(Path(path).relative_to(ROOT / "tclint").as_posix())
    assert users == {
        "discover": {"run/project.py", "sources/files.py"},
        "link": {"run/project.py"},
        "engine.lint": {"run/project.py"},
    }


def test_a_site_in_a_script_reaches_the_package_under_src(project: Project) -> None:
    """The package is installed; no folder above the script holds it."""
    project.write(
        {
            "tclint.toml": "no-cache = true\n",
            "src/pkg/__init__.py": "",
            "src/pkg/model.py": MODEL,
            "scripts/train.py": TRAIN.replace("from model", "from pkg.model"),
        }
    )
    assert places(opened(project, ".")) == ["src/pkg/model.py:3 TCL108"]
    assert places(opened(project, "src/pkg/model.py")) == ["src/pkg/model.py:3 TCL108"]
    folder = opened(project, "src/pkg")
    assert places(folder) == ["src/pkg/model.py:3 TCL108"]
    assert folder.reported == ["src/pkg/__init__.py", "src/pkg/model.py"]
    assert places(opened(project, "src/pkg", around=None)) == []


def test_the_configuration_names_a_root(project: Project) -> None:
    project.write(
        {
            "tclint.toml": "no-cache = true\n",
            "vendor/model.py": MODEL,
            "tools/train.py": TRAIN,
        }
    )
    assert places(opened(project, ".")) == []
    project.write({"tclint.toml": 'no-cache = true\nsrc = ["vendor"]\n'})
    assert places(opened(project, ".")) == ["vendor/model.py:3 TCL108"]
