"""The C++ compiler that the tests give Inductor: it builds a library once, and includes compiled headers when they pay."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from kept_compiler import made, main

PREFIX = "#include <torch/csrc/inductor/cpp_prefix.h>\n"


@pytest.fixture
def real(tmp_path: Path) -> str:
    """A compiler that writes down what it is told; its output is its last input's text."""
    script = tmp_path / "real"
    script.write_text(
        f"""#!/bin/sh
echo "$@" >> {tmp_path}/told
case "$*" in *broken.cpp*) exit 3;; esac
while [ $# -gt 0 ]; do
    case "$1" in *.cpp|*.h) text=$(cat "$1");; -o) shift; out=$1;; esac
    shift
done
echo "built of $text" > "$out"
"""
    )
    script.chmod(0o755)
    return str(script)


def built(tmp_path: Path, real: str, text: str, *options: str, name: str = "a") -> tuple[int, str]:
    source, output = tmp_path / f"{name}.cpp", tmp_path / f"{name}.so"
    source.write_text(text)
    output.unlink(missing_ok=True)
    kept = tmp_path / "kept"
    kept.mkdir(exist_ok=True)
    code = main(kept, real, [str(source), *options, "-shared", "-o", str(output), "-ltorch"])
    return code, output.read_text() if output.exists() else ""


def told(tmp_path: Path) -> list[str]:
    return (tmp_path / "told").read_text().splitlines()


def test_a_library_is_built_once(tmp_path: Path, real: str) -> None:
    assert built(tmp_path, real, "one") == built(tmp_path, real, "one", name="b") == (0, "built of one\n")
    assert len(told(tmp_path)) == 1
    assert built(tmp_path, real, "two")[1] == "built of two\n"
    assert built(tmp_path, real, "one", "-O3")[1] == "built of one\n"
    assert len(told(tmp_path)) == 3


def test_headers_are_compiled_when_a_third_kernel_wants_them(tmp_path: Path, real: str) -> None:
    for number in range(4):
        assert built(tmp_path, real, f"{PREFIX}int f{number};")[0] == 0
    lines = told(tmp_path)
    assert [("c++-header" in line, "-include" in line) for line in lines] == [
        (False, False),
        (False, False),
        (True, False),
        (False, True),
        (False, True),
    ]
    assert "-shared" not in lines[2]
    assert "-ltorch" not in lines[2]


def test_what_cannot_be_built_is_not_kept(tmp_path: Path, real: str) -> None:
    assert built(tmp_path, real, "x", name="broken") == (3, "")
    assert list((tmp_path / "kept").iterdir()) == []


def test_other_commands_go_to_the_compiler(tmp_path: Path, real: str) -> None:
    assert main(tmp_path, real, ["--version", "-o", str(tmp_path / "said")]) == 0
    assert told(tmp_path) == [f"--version -o {tmp_path}/said"]


def test_the_run_has_one() -> None:
    compiler = os.environ.get("CXX", "")
    if not compiler.endswith(f"{os.sep}g++") or not Path(compiler).parent.name.startswith("tclint-tests-"):
        pytest.skip("no g++, or another compiler was named")
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    assert "g++" in done.stdout.lower() or "gcc" in done.stdout.lower()


def test_without_a_compiler_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert made(tmp_path) == ""
