"""Settings: where they come from, which win, and what is said about wrong ones."""

from __future__ import annotations

import importlib.metadata
import pickle
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from lintkit import ROOT

import tclint
from tclint.model.errors import ConfigError
from tclint.model.settings import NEWEST_TORCH, Cudagraph, Settings, check_selectors
from tclint.sources.configuration import load
from tclint.sources.keys import KEYS


@dataclass(frozen=True)
class Known:
    code: str
    name: str


RULES = (Known("TCL101", "data-dependent-branch"), Known("TCL102", "tokenizer-in-forward"))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_version_is_the_package_version() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert '\ndynamic = ["version"]\n' in text
    assert "tclint.__version__" in text
    assert importlib.metadata.version("torch-compile-lint") == tclint.__version__


def test_defaults(tmp_path: Path) -> None:
    settings = load(cwd=str(tmp_path), isolated=True)
    assert settings.select == ("TCL",)
    assert settings.min_confidence == "medium"
    assert settings.severity == "low"
    assert settings.compile_functions == ("safe_compile", "maybe_compile")
    assert settings.respect_gitignore
    assert "node_modules" in settings.exclude


def test_closest_wins_and_a_foreign_pyproject_does_not_stop_the_walk(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[tool.tclint]\nseverity = "high"\n')
    write(tmp_path / "a/pyproject.toml", '[project]\nname = "x"\n[tool.ruff]\n# not [tool.tclint]\n')
    write(tmp_path / "a/b/m.py", "")
    assert load(["a/b/m.py"], cwd=str(tmp_path)).severity == "high"
    write(tmp_path / "a/b/tclint.toml", 'severity = "medium"\n')
    settings = load(["a/b/m.py"], cwd=str(tmp_path))
    assert settings.severity == "medium"
    assert settings.root == str(tmp_path / "a/b")
    assert load(["a/b/m.py"], cwd=str(tmp_path), isolated=True).severity == "low"
    assert load(["a"], cwd=str(tmp_path), config="a/b/tclint.toml").severity == "medium"


def test_tclint_toml_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.tclint]\njobs = 3\n")
    write(tmp_path / "tclint.toml", "jobs = 4\n")
    settings = load(cwd=str(tmp_path))
    assert settings.jobs == 4
    assert settings.source["jobs"] == "tclint.toml:1"


def test_the_table_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_text('\n[tool.tclint]\nselect = ["TCL1"]\n')
    with pytest.raises(ConfigError, match=r"tclint.toml:2: \[tool.tclint\] is for pyproject.toml"):
        load(cwd=str(tmp_path))


def test_every_key_is_read(tmp_path: Path) -> None:
    write(
        tmp_path / "pyproject.toml",
        """
[tool.tclint]
select = ["tcl1"]
ignore = ["data-dependent-branch"]
extend-select = ["TCL301"]
exclude = ["x"]
extend-exclude = ["y/z"]
target-torch = "2.11.0+cu128"
target-python = "3.12"
min-confidence = "high"
severity = "medium"
rules = ["lint"]
packs = ["acme"]
assume-compiled = "never"
compile-functions = ["my.compile"]
tokenizers = ["tok"]
require-compile-wrapper = "safe_compile"
jobs = 2
cache-dir = "c"
no-cache = true
respect-gitignore = false
src = ["python"]
python = ".venv"

[tool.tclint.per-file-ignores]
"tests/*" = ["TCL1"]

[tool.tclint.cudagraph]
callables = ["*.lensnet"]
clone-helpers = ["own"]
step-markers = ["mark"]
only-through = { "*.net" = ["call"] }

[tool.tclint.verify]
device = "cuda"
factories = { "m:C" = "m:make" }
""",
    )
    settings = load(cwd=str(tmp_path), allow_rules=True)
    assert set(settings.source) == set(KEYS)
    assert settings.select == ("TCL1",)
    assert settings.target_torch == "2.11"
    assert settings.rules == (str(tmp_path / "lint"),)
    assert settings.cache_dir == str(tmp_path / "c")
    assert settings.per_file_ignores == {"tests/*": ("TCL1",)}
    assert settings.cudagraph == Cudagraph(("*.lensnet",), ("own",), ("mark",), {"*.net": ("call",)})
    assert settings.verify == {"device": "cuda", "factories": {"m:C": "m:make"}}
    assert settings.no_cache
    assert not settings.respect_gitignore
    assert settings.src == (str(tmp_path / "python"),)
    assert settings.python == str(tmp_path / ".venv")
    assert pickle.loads(pickle.dumps(settings)) == settings


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[tool.tclint]\n\nselct = []\n", "pyproject.toml:3: unknown key 'selct'; did you mean 'select'?"),
        ("[tool.tclint]\nselect = 'TCL'\n", "pyproject.toml:2: select must be a list of strings, not 'TCL'"),
        ("[tool.tclint]\nselect = [1]\n", "select must be a list of strings"),
        ("[tool.tclint]\njobs = -1\n", "jobs must be a whole number"),
        ("[tool.tclint]\njobs = true\n", "jobs must be a whole number, 0 or more, not true"),
        ("[tool.tclint]\nno-cache = 1\n", "no-cache must be true or false, not 1"),
        ("[tool.tclint]\nseverity = 'hgh'\n", 'severity must be one of "low", "medium", "high"'),
        ("[tool.tclint]\ntarget-torch = 2.13\n", 'target-torch must be a torch version as a string, like "2.13"'),
        ("[tool.tclint]\ntarget-python = 3.12\n", 'target-python must be a Python version as a string, like "3.12"'),
        ("[tool.tclint]\n[tool.tclint.cudagraph]\ncallable = []\n", ":3: unknown key 'cudagraph.callable'; did"),
        ("[tool.tclint.cudagraph]\ncallables = 1\n", ":2: cudagraph.callables must be a list of strings"),
        ("[tool.tclint]\ncudagraph = 1\n", "cudagraph must be a table"),
        ("[tool.tclint.verify]\ndevise = 'cpu'\n", ":2: unknown key 'verify.devise'; did you mean 'device'?"),
        ("[tool.tclint.per-file-ignores]\n'a' = 'TCL1'\n", "per-file-ignores must be a table of glob"),
        ("[tool]\ntclint = 3\n", "tool.tclint must be a table"),
        ("[tool.tclint\n", "not valid toml"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, text: str, says: str) -> None:
    write(tmp_path / "pyproject.toml", text)
    with pytest.raises(ConfigError) as caught:
        load(cwd=str(tmp_path))
    assert says in str(caught.value)
    assert "pyproject.toml" in str(caught.value)


def test_a_table_of_pyproject_in_a_file_of_ours_says_how_to_write_it(tmp_path: Path) -> None:
    write(tmp_path / "tclint.toml", '# ours\n[tool.tclint]\nseverity = "high"\n')
    with pytest.raises(ConfigError) as caught:
        load(cwd=str(tmp_path))
    assert "tclint.toml:2: [tool.tclint] is for pyproject.toml; in tclint.toml the keys stand at the top" in str(
        caught.value
    )


def test_config_option_needs_a_readable_file_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(cwd=str(tmp_path), config="none.toml")
    write(tmp_path / "pyproject.toml", "[project]\n")
    with pytest.raises(ConfigError, match=r"no \[tool.tclint\]"):
        load(cwd=str(tmp_path), config="pyproject.toml")


def test_command_line_wins(tmp_path: Path) -> None:
    write(tmp_path / "tclint.toml", 'severity = "high"\nignore = ["TCL101"]\nextend-exclude = ["gen"]\n')
    settings = load(cwd=str(tmp_path), overrides={"severity": "low", "extend-exclude": ["more"]})
    assert settings.severity == "low"
    assert settings.source["severity"] == "command line"
    assert settings.source["ignore"] == "tclint.toml:2"
    assert settings.extend_exclude == ("gen", "more")
    both = load(cwd=str(tmp_path), overrides={"ignore": ["TCL2"]})
    assert both.ignore == ("TCL101", "TCL2")


def test_rules_named_on_the_command_line_run(tmp_path: Path) -> None:
    write(tmp_path / "tclint.toml", 'ignore = ["TCL101"]\n')
    assert load(cwd=str(tmp_path), overrides={"select": ["TCL101"]}).selects("TCL101", "n", True)
    assert load(cwd=str(tmp_path), overrides={"extend-select": ["TCL101"]}).selects("TCL101", "n", True)
    assert not load(cwd=str(tmp_path), overrides={"extend-select": ["TCL102"]}).selects("TCL101", "n", True)


@pytest.mark.parametrize(
    ("select", "ignore", "default", "expected"),
    [
        (["TCL"], [], True, True),
        (["TCL"], [], False, False),
        (["ALL"], [], False, True),
        (["TCL4"], [], False, True),
        (["TCL401"], [], False, True),
        (["the-name"], [], False, True),
        (["TCL4"], ["TCL401"], True, False),
        (["TCL401"], ["TCL4"], True, True),
        (["TCL"], ["the-name"], True, False),
        (["the-name"], ["TCL401"], True, False),
        (["TCL1"], [], True, False),
        (["ALL"], ["TCL"], True, False),
        (["TCL"], ["ALL"], True, True),
        ([], [], True, False),
    ],
)
def test_selects(select: list[str], ignore: list[str], default: bool, expected: bool) -> None:
    settings = Settings(select=tuple(select), ignore=tuple(ignore))
    assert settings.selects("TCL401", "the-name", default) is expected


def test_unknown_selector_is_refused() -> None:
    for good in ("TCL101", "TCL1", "ALL", "TCL", "tokenizer-in-forward", "TCL901"):
        check_selectors(Settings(select=(good,)), RULES)
    with pytest.raises(ConfigError, match="did you mean 'tokenizer-in-forward'"):
        check_selectors(Settings(ignore=("tokeniser-in-forward",)), RULES)
    with pytest.raises(ConfigError, match="per-file-ignores: no rule is called 'E501'"):
        check_selectors(Settings(per_file_ignores={"*": ("E501",)}), RULES)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("tests/*", "/p/tests/a/b.py", True),
        ("tests/*", "/p/src/tests/b.py", False),
        ("tests", "/p/src/tests/b.py", True),
        ("**/conftest.py", "/p/conftest.py", True),
        ("conftest.py", "/p/a/conftest.py", True),
        ("test_*.py", "/p/a/test_x.py", True),
        ("test_*.py", "/p/a/x.py", False),
        ("!src/*", "/p/src/x.py", False),
        ("!src/*", "/p/lib/x.py", True),
        ("p", "/p/lib/x.py", False),
    ],
)
def test_per_file_ignores(glob: str, path: str, expected: bool) -> None:
    settings = Settings(root="/p", per_file_ignores={glob: ("TCL1",)})
    assert settings.ignored_in(path, "TCL101", "n") is expected
    assert not settings.ignored_in(path, "TCL201", "n")


def test_fingerprint_follows_what_changes_findings() -> None:
    base = Settings()
    assert base.fingerprint() == Settings().fingerprint()
    assert base.fingerprint() == replace(base, jobs=7, no_cache=True, root="/x", source={"a": "b"}).fingerprint()
    cudagraph = Cudagraph(only_through={"a": ("b",)})
    for other in (
        replace(base, select=("TCL1",)),
        replace(base, target_torch="2.4"),
        replace(base, cudagraph=cudagraph),
        replace(base, tokenizers=()),
        replace(base, assume_compiled="all"),
    ):
        assert other.fingerprint() != base.fingerprint()


def test_target_torch_from_the_installed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import util

    others = [entry for entry in sys.path if not list(Path(entry).glob("torch-*.dist-info"))]
    monkeypatch.setattr(sys, "path", [*others, str(tmp_path)])
    monkeypatch.setattr(util, "find_spec", lambda name: object())
    # A folder called torch, but no distribution: a checkout of PyTorch, say.
    assert load(cwd=str(tmp_path), isolated=True).target_torch == NEWEST_TORCH
    # As `setup.py develop` leaves it: the version stands in a file.
    write(tmp_path / "torch.egg-info" / "PKG-INFO", "Metadata-Version: 2.1\nName: torch\nVersion: 2.8.0\n")
    assert load(cwd=str(tmp_path), isolated=True).target_torch == "2.8"
    shutil.rmtree(tmp_path / "torch.egg-info")
    (tmp_path / "torch-2.9.1+cpu.dist-info").mkdir()
    settings = load(cwd=str(tmp_path), isolated=True)
    assert (settings.target_torch, settings.source["target-torch"]) == ("2.9", "installed torch")
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    assert load(cwd=str(tmp_path), isolated=True).target_torch == NEWEST_TORCH


# --- where the cache is ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["", ".", "./", "..", "sub/..", "../..", "/"])
def test_the_cache_is_a_folder_of_its_own(tmp_path: Path, value: str) -> None:
    write(tmp_path / "pyproject.toml", f"[tool.tclint]\njobs = 1\ncache-dir = {value!r}\n")
    with pytest.raises(ConfigError, match=r"^pyproject.toml:3: cache-dir must be a folder of its own, not .*no-cache"):
        load(cwd=str(tmp_path))


@pytest.mark.parametrize("value", ["../x", "/x", "sub/../../x"])
def test_a_repository_keeps_its_cache_in_itself(tmp_path: Path, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "pyproject.toml", f"[tool.tclint]\ncache-dir = {value!r}\n")
    with pytest.raises(
        ConfigError, match=r"^pyproject.toml:2: cache-dir must be a folder inside the project, .*--cache-"
    ):
        load(cwd=str(tmp_path))
    assert load(cwd=str(tmp_path), overrides={"cache-dir": "../x"}).cache_dir == str(tmp_path.parent / "x")
    monkeypatch.setenv("TCLINT_CACHE_DIR", "../y")
    settings = load(cwd=str(tmp_path))
    assert settings.cache_dir == str(tmp_path.parent / "y")
    assert settings.source["cache-dir"] == "TCLINT_CACHE_DIR"
    assert load(cwd=str(tmp_path), overrides={"cache-dir": "z"}).cache_dir == str(tmp_path / "z")


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_the_command_line_cannot_make_the_project_a_cache(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigError, match="command line: cache-dir must be a folder of its own"):
        load(cwd=str(tmp_path), isolated=True, overrides={"cache-dir": value})
