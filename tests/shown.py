"""What the documentation shows is run: every fenced block of a page is executed, read, or says why not.

Above a fence, comments say how it is meant:

    <!-- file: lint/no_foo.py -->   the block is a file that the commands below find in the project
    <!-- needs: torch -->           run only where this can be imported
    <!-- needs: tclint server -->   run only where tclint has this sub-command
    <!-- exit: 2 -->                the exit code of the commands, where it is neither 0 nor 1
    <!-- run by: test_packaging -->  another test runs it
    <!-- not run: why -->           what keeps it from being run here

`sh` blocks are commands. `console` blocks are commands after `$ ` and what they print; a line `...` stands for any
lines, `...` inside a line for any text. `toml` is read as the configuration, `json` and `yaml` are parsed.

All blocks of a page run, in order, in one copy of fixtures/demo that is a git repository.

    python tests/shown.py docs/guides/first-run.md            # fill in the output of console blocks that show none
    python tests/shown.py --renew docs/guides/first-run.md    # and replace what is no longer so
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from lintkit import tclint_command  # noqa: E402

from tclint.commands import index  # noqa: E402
from tclint.model.settings import check_selectors  # noqa: E402
from tclint.ruleset.loading import load_rules  # noqa: E402
from tclint.sources import configuration  # noqa: E402

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)[^\n]*\n(?P<text>.*?)^(?P=indent)```[ \t]*$", re.S | re.M)
_MARK = re.compile(r"<!-- (?P<key>file|needs|exit|not run|run by|command): (?P<value>[^\n]+?) -->")
TIMEOUT = 1800
"""Seconds, for what hangs: a training script takes a minute of a processor, and ten where ten others want it."""


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str
    marks: Mapping[str, str]
    span: tuple[int, int] = (0, 0)
    """Where its text lies in the page."""

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    def possible(self) -> bool:
        """Whether what it needs is there."""
        for need in filter(None, self.marks.get("needs", "").split(", ")):
            if need.startswith("tclint "):
                if need.removeprefix("tclint ") not in index.COMMANDS:
                    return False
            elif importlib.util.find_spec(need) is None:
                return False
        return True


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    text = path.read_text(encoding="utf-8")
    page = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    for match in _FENCE.finditer(text):
        marks: dict[str, str] = {}
        above = text[: match.start()].rstrip("\n").split("\n")
        while above and (mark := _MARK.fullmatch(above[-1].strip())):
            marks[mark["key"]] = mark["value"]
            above.pop()
        line = text.count("\n", 0, match.start()) + 1
        yield Block(page, line, match["language"], textwrap.dedent(match["text"]), marks, match.span("text"))


class Session:
    """A project that the blocks of one page are run in."""

    def __init__(self, folder: Path) -> None:
        self.cwd = folder / "project"
        ignore = shutil.ignore_patterns("__pycache__", ".tclint_cache")
        shutil.copytree(ROOT / "fixtures" / "demo", self.cwd, ignore=ignore)
        shutil.copytree(ROOT / "fixtures" / "vendor", folder / "vendor", ignore=ignore)
        _trained_quickly(self.cwd / "models" / "config.py")
        commands = folder / "bin"
        commands.mkdir()
        python = [sys.executable]
        modules = {
            "tclint": tclint_command(),
            "pre-commit": [*python, "-m", "pre_commit"],
            "python": python,
            "python3": python,
        }
        for name, command in modules.items():
            script = commands / name
            script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
            script.chmod(0o755)
        left_out = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "VIRTUAL_ENV", "GITHUB_ACTIONS", "TCLINT_DEBUG")
        self.environment = {
            **{key: value for key, value in os.environ.items() if key not in left_out and not key.startswith("GIT_")},
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{folder / 'vendor'}",
            "PYTHONIOENCODING": "utf-8",
            "NO_COLOR": "1",
            "HOME": str(folder),
            **{
                f"GIT_{who}_{what}": "demo@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
            },
        }
        self("git init -q -b main && git add -A && git commit -qm demo")

    def __call__(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
            timeout=TIMEOUT,
        )
        return done.returncode, done.stdout

    def show(self, block: Block) -> None:
        """Run a block, or read it; raises AssertionError where it does not hold."""
        if "not run" in block.marks or "run by" in block.marks or "command" in block.marks or not block.possible():
            return
        if "file" in block.marks:
            path = self.cwd / block.marks["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        if block.language == "sh":
            for command in commands(block.text):
                self._run(block, command)
        elif block.language == "console":
            for command, expected in transcript(block.text):
                printed = self._run(block, command)
                assert matches(expected, printed), f"{block.where}: `{command}` prints\n{printed}\nand not\n{expected}"
        elif block.language == "toml":
            self._configuration(block)
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "yaml":
            if importlib.util.find_spec("yaml") is not None:
                import yaml

                yaml.safe_load(block.text)
        elif block.language == "python":
            compile(block.text, block.where, "exec")
            assert "file" in block.marks, f"{block.where}: Python that nothing runs: give it a file, or say why not"
        else:
            raise AssertionError(f"{block.where}: nobody runs {block.language or 'a block without language'}: say why")

    def _run(self, block: Block, command: str) -> str:
        code, printed = self(command)
        allowed = {int(block.marks["exit"])} if "exit" in block.marks else {0, 1}
        assert code in allowed, f"{block.where}: `{command}` exits with {code}:\n{printed}"
        assert "internal error" not in printed, f"{block.where}: `{command}`:\n{printed}"
        return printed

    def _configuration(self, block: Block) -> None:
        if block.marks.get("file", "tclint.toml") not in ("tclint.toml", "pyproject.toml"):
            return
        with tempfile.TemporaryDirectory() as folder:
            name = "pyproject.toml" if "[tool.tclint" in block.text else "tclint.toml"
            Path(folder, name).write_text(block.text, encoding="utf-8")
            settings = configuration.load(cwd=folder)
            assert settings.source, f"{block.where}: sets nothing"
            if not settings.rules:  # the selectors may name the user's own
                check_selectors(settings, load_rules())


def _trained_quickly(configuration: Path) -> None:
    """What pages show of a training run is what Dynamo did: its 33 kernels would take most of their time, and so would a
    second layer, which is compiled as the first one is, and steps after the one whose batch is smaller."""
    text = configuration.read_text(encoding="utf-8")
    for said, instead in (
        ('"inductor"', '"aot_eager"'),
        ("depth: int = 2", "depth: int = 1"),
        ("steps: int = 4", "steps: int = 2"),
    ):
        assert text.count(said) == 1
        text = text.replace(said, instead)
    configuration.write_text(text, encoding="utf-8")


def commands(text: str) -> Iterator[str]:
    """The commands of a `sh` block: lines, joined where one ends in a backslash."""
    held = ""
    for line in text.splitlines():
        held += line
        if held.endswith("\\"):
            held = held[:-1]
        else:
            if held.strip() and not held.lstrip().startswith("#"):
                yield held
            held = ""
    assert not held, f"a command that does not end: {held}"


def transcript(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a `console` block, each with what is shown below it."""
    assert text.startswith("$ "), "a console block begins with a command: $ ..."
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more.removeprefix("> ")
        yield command, expected


def matches(expected: str, printed: str) -> bool:
    if not expected.strip():
        return not printed.strip()
    pattern = ""
    for line in expected.strip("\n").split("\n"):
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += re.escape(line.rstrip()).replace(r"\.\.\.", "[^\n]*") + "\n"
    clean = "\n".join(line.rstrip() for line in printed.strip("\n").split("\n")) + "\n"
    return re.fullmatch(pattern, clean) is not None


def fill(path: Path, renew: bool = False) -> None:
    """Write the output of console blocks that show none, or that show another."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder))
        found: list[tuple[tuple[int, int], str]] = []
        for block in blocks(path):
            if block.language != "console" or not block.possible():
                session.show(block)
                continue
            new = ""
            for command, expected in transcript(block.text):
                printed = session._run(block, command)
                keep = expected.strip() and not (renew and not matches(expected, printed))
                new += f"$ {command}\n" + (expected if keep else printed.strip("\n") + "\n")
            if new != block.text:
                found.append((block.span, new))
    for (start, end), new in reversed(found):
        text = text[:start] + new + text[end:]
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        if name != "--renew":
            fill(Path(name).resolve(), "--renew" in sys.argv)
