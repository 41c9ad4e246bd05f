"""Factories of the configuration: one that is not there or does not work is an error that names its file and key."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tclint import cli
from tclint.verify.makers import key_of, mistakes, unfound

MODEL = """
    import torch
    from torch import nn

    class Model(nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                return x
            return -x

    model = torch.compile(Model())
"""
Write = Callable[[str, str], Path]


@pytest.mark.parametrize(
    ("path", "name", "keys", "expected"),
    [
        ("/r/pkg/m.py", "Net", ["pkg.m:Net"], "pkg.m:Net"),
        ("/r/pkg/m.py", "Net", ["m:Net"], "m:Net"),
        ("/r/pkg/m.py", "Net", ["m.py:Net"], "m.py:Net"),
        ("/r/pkg/m.py", "Net", ["Net"], "Net"),
        ("/r/pkg/__init__.py", "Net", ["pkg:Net"], "pkg:Net"),
        ("/r/pkg/m.py", "Net.decode", ["m:Net", "m:Net.decode"], "m:Net.decode"),
        ("/r/pkg/m.py", "Net", ["Net", "m:Net", "pkg.m:Net"], "pkg.m:Net"),
        ("/r/pkg/other_m.py", "Net", ["m:Net"], None),
        ("/r/pkg/m.py", "Network", ["m:Net"], None),
    ],
)
def test_the_key_of_a_target(path: str, name: str, keys: list[str], expected: str | None) -> None:
    assert key_of(path, name, keys) == expected


def test_what_is_seen_without_running(tmp_path: Path, write: Write) -> None:
    write("m.py", MODEL)
    write("makers.py", "from other import taken\n\nlater = lambda: None\n\ndef make(): ...\n")
    write("stars.py", "from other import *\n")
    assert mistakes({"m:Model": "makers:make"}, [str(tmp_path)]) == []
    assert mistakes({"m:Model": "makers:taken", "Model": "makers:later"}, [str(tmp_path)]) == []
    assert mistakes({"m:Model": "stars:anything", "m": "installed.package:make"}, [str(tmp_path)]) == []
    [wrong] = mistakes({"m:Model": "makers:mak"}, [str(tmp_path)])
    assert wrong.startswith("m:Model: makers:mak: ")
    assert wrong.endswith("makers.py defines no 'mak'; did you mean 'make'?")
    [wrong] = mistakes({"m:Modle": "makers:make"}, [str(tmp_path)])
    assert wrong.endswith("m.py defines no 'Modle'; did you mean 'Model'?")


@pytest.mark.parametrize("command", [["--verify"], ["--fix", "--verify"], ["verify"]])
def test_one_that_is_not_there_is_an_error(
    command: list[str],
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is run for it, so it needs no torch."""
    write("m.py", MODEL)
    write("makers.py", "def make(): ...\n")
    write("pyproject.toml", '[tool.tclint.verify.factories]\n"m:Model" = "makers:no_such"\n')
    monkeypatch.chdir(tmp_path)
    assert cli.main([*command, ".", "--no-cache"]) == 2
    err = capsys.readouterr().err
    assert "pyproject.toml:1: verify.factories: m:Model: makers:no_such: " in err
    assert "defines no 'no_such'" in err


def test_a_module_that_nobody_has_is_told_before_anything_runs(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write("m.py", "class Model: ...\n\n\nclass Other: ...\n")
    write("parts/made.py", "def make(): ...\n")
    write("pyproject.toml", '[tool.tclint.verify.factories]\n"m:Model" = "parts.mode:make"\n"m:Other" = "json:loads"\n')
    monkeypatch.chdir(tmp_path)
    assert cli.main(["--verify", ".", "--no-cache"]) == 2
    err = capsys.readouterr().err
    assert "pyproject.toml:1: verify.factories: m:Model: parts.mode:make: there is no module 'parts.mode'" in err
    assert "json" not in err
    assert unfound({"m:Model": "no.such:make"}, [str(tmp_path)], "/no/such/python") == []
    assert unfound({"m:Model": "parts.made:make", "m:B": "sys:exit"}, [str(tmp_path)], sys.executable) == []


@pytest.mark.dynamo
@pytest.mark.parametrize(
    ("makers", "says"),
    [
        ("import no_such_package\ndef make(): ...\n", "cannot be imported: ModuleNotFoundError"),
        ("def make():\n    raise ValueError('no weights')\n", "factory makers:make raised ValueError: no weights"),
        ("def make():\n    return 3\n", "factory makers:make returned int: return (callable, [call, ...])"),
    ],
)
def test_one_that_does_not_work_is_an_error(
    makers: str,
    says: str,
    write: Write,
    tmp_path: Path,
    torch_python: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("m.py", MODEL)
    write("makers.py", makers)
    write("tclint.toml", '[verify]\nfactories = { "m:Model" = "makers:make" }\n')
    monkeypatch.chdir(tmp_path)
    assert cli.main([".", "--verify", "--verify-python", torch_python, "--no-cache", "-q"]) == 2
    err = capsys.readouterr().err
    assert "tclint.toml:1: verify.factories: m:Model: " in err
    assert says in err
