"""Objects that were made before compiled code runs: ask an installed torch which operations on them break the graph.

    PYTHON scripts/ask/objects.py ask 2.16.json           # PYTHON is the interpreter of an environment with the release
    PYTHON scripts/ask/objects.py ask 2.16.json array     # only types whose name begins so
    python scripts/ask/objects.py write 2.13.json …       # tclint/torch_facts/objects.json, from the answers of all

`objects.txt` has a line for each type, `type | expression that makes one`, and then one for each operation,
`operation | words | statement`, with `O` for the object. Every operation that Python takes for a type is compiled as a function of
its own; what the answers have already is not asked again.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "objects.txt"
WRITTEN = HERE.parent.parent / "tclint" / "torch_facts" / "objects.json"
SECONDS = 30
RAISES = ", and torch fails"
"""Behind an operation at which torch.compile raises."""


def parts(text: str) -> tuple[str, dict[str, str], dict[str, list[str]], dict[str, str]]:
    """What stands above every program, the expressions by type, the statements by operation, and these in words."""
    before, types, operations = text.split("###\n")
    made = dict(line.split(" | ", 1) for line in types.splitlines() if line)
    asked: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for line in operations.splitlines():
        if line:
            name, words[name], statement = line.split(" | ", 2)
            asked.setdefault(name, []).append(statement.replace("\\n", "\n    "))
    return before, made, asked, words


def programs(text: str, start: str = "") -> Iterator[tuple[str, str, list[str]]]:
    """Type, operation, and the programs that ask for it: the first that Python runs is the one that counts."""
    before, made, asked, _ = parts(text)
    for kind, expression in made.items():
        for operation, statements in asked.items() if kind.startswith(start) else ():
            bodies = [re.sub(r"\bO\b", "HELD", each) for each in statements]
            yield (
                kind,
                operation,
                [
                    f"{before}\nHELD = {expression}\n\n\ndef ask(x):\n    y = x * 2\n    r = 0\n    {body}\n    return y, r\n"
                    for body in bodies
                ],
            )


def happens(sources: list[str], path: Path) -> str:
    """What comes of it, in this process: the graph `breaks`, it is `traced`, torch.compile `raises` as torch itself fails;
    or nothing, where Python itself refuses all of the programs."""
    import torch

    for source in sources:
        runs: list[dict[str, Any]] = []
        for _ in range(2):  # one is used up without torch.compile
            runs.append({"__name__": "asked"})
            path.write_text(source)
            exec(compile(source, str(path), "exec", dont_inherit=True), runs[-1])
        try:
            runs[0]["ask"](torch.ones(3))
        except Exception:
            continue
        torch._dynamo.reset()
        try:
            torch.compile(runs[1]["ask"], backend="eager", fullgraph=True)(torch.ones(3))
        except torch._dynamo.exc.InternalTorchDynamoError:
            return "raises"
        except Exception:
            return "breaks"
        return "traced"
    return ""


def ask(answers: Path, start: str) -> None:
    """What the torch of this interpreter says, a child for each type."""
    import tempfile

    import torch

    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))  # paid once, before any fork
    folder = Path(tempfile.mkdtemp(prefix="ask"))
    waiting: dict[str, list[tuple[str, list[str]]]] = {}
    for kind, operation, sources in programs(PROGRAMS.read_text(encoding="utf-8"), start):
        waiting.setdefault(kind, []).append((operation, sources))
    found: dict[str, dict[str, str]] = json.loads(answers.read_text())["breaks"] if answers.exists() else {}
    for kind, asked in waiting.items():
        known = found.setdefault(kind, {})
        asked = [each for each in asked if each[0] not in known]
        told = _child(asked, folder)
        known.update((operation, code) for (operation, _), code in zip(asked, told, strict=False) if code in "btr")
        answers.write_text(json.dumps({"torch": torch.__version__, "breaks": found}, indent=0))


def _child(asked: list[tuple[str, list[str]]], folder: Path) -> str:
    """A letter for each operation, as far as the child got: it breaks, is traced, raises, or is not to be asked."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        for _, sources in asked:
            signal.alarm(SECONDS)
            try:
                told = happens(sources, folder / "program.py")
            except BaseException:
                told = ""
            os.write(writing, (told[:1] or "-").encode())
        os._exit(0)
    os.close(writing)
    letters = b""
    while piece := os.read(reading, 1024):
        letters += piece
    os.close(reading)
    os.waitpid(child, 0)
    return letters.decode()


def write(answers: list[Path]) -> str:
    """`objects.json`: for each type and operation that breaks somewhere, the releases on which it does."""
    told: dict[int, dict[str, dict[str, str]]] = {}
    for raw in (json.loads(path.read_text()) for path in answers):
        told.setdefault(int(raw["torch"].split(".")[1]), {}).update(raw["breaks"])
    releases = sorted(told)
    lines = []
    _, made, _, words = parts(PROGRAMS.read_text(encoding="utf-8"))
    for kind in made:
        asked = {operation for release in releases for operation in told[release].get(kind, {})}
        row = {}
        for operation in sorted(asked):
            for code, mark in (("b", ""), ("r", RAISES)):
                where = ",".join(str(r) for r in releases if told[r].get(kind, {}).get(operation) == code)
                if where:
                    row[operation + mark] = where
        lines.append(f"{json.dumps(kind)}: {json.dumps(row)}")
    asked_of = json.dumps([f"2.{release}" for release in releases])
    told_as = json.dumps(words, indent=0)
    return f'{{"releases": {asked_of},\n"words": {told_as},\n"types": {{\n' + ",\n".join(lines) + "\n}}\n"


def main(what: str, first: str, *rest: str) -> int:
    if what == "ask":
        ask(Path(first), rest[0] if rest else "")
    else:
        WRITTEN.write_text(write([Path(first), *map(Path, rest)]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
