"""Features of the language: ask an installed torch whether the graph breaks at them.

    PYTHON scripts/ask/language.py ask 2.16.json          # PYTHON is the interpreter of an environment with the release
    python scripts/ask/language.py write 2.4.json …       # tclint/torch_facts/language.json, from the answers of all

`language.txt` has a program for each: `### name | words`, then a file with a `Model`. Each is compiled in a child of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "language.txt"
WRITTEN = HERE.parent.parent / "tclint" / "torch_facts" / "language.json"


class Program(NamedTuple):
    """A feature: its name in the facts, what messages call it, and a program that uses it."""

    name: str
    words: str
    source: str


def programs(text: str) -> Iterator[Program]:
    """The programs of the file, in order."""
    for part in text.split("### ")[1:]:
        head, _, source = part.partition("\n")
        name, _, words = head.partition(" | ")
        yield Program(name, words, source.strip() + "\n")


def breaks(program: Program, path: Path) -> bool:
    """Whether the graph of the program breaks here, in this process."""
    import logging

    import torch
    import torch._logging

    heard: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record.getMessage())

    torch._logging.set_logs(graph_breaks=True)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.startswith("torch"):
            logger.handlers, logger.propagate = [Ear() if "graph_breaks" in name else logging.NullHandler()], False
    path.write_text(program.source)
    space: dict[str, Any] = {"__name__": "asked"}
    exec(compile(program.source, str(path), "exec"), space)
    model, x = space["Model"](), torch.ones(4, 8)
    model(x)
    try:
        torch.compile(model, backend="eager")(x)
    except Exception:
        return True  # raises under Dynamo and not without it
    if heard:
        return True
    torch._dynamo.reset()
    try:
        torch.compile(model, backend="eager", fullgraph=True)(x)
    except Exception:
        return True  # a frame that is left out without a word
    return False


def ask(answers: Path) -> None:
    """What the torch of this interpreter says of every program."""
    import tempfile

    import torch

    found: dict[str, bool] = {}
    folder = Path(tempfile.mkdtemp(prefix="ask"))
    for place, program in enumerate(programs(PROGRAMS.read_text(encoding="utf-8"))):
        child = os.fork()
        if not child:
            try:
                code = 3 if breaks(program, folder / f"program_{place}.py") else 4
            except BaseException:
                code = 5
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code in (3, 4):
            found[program.name] = code == 3
        else:
            print(f"not asked: {program.name}", file=sys.stderr)
    answers.write_text(json.dumps({"torch": torch.__version__, "breaks": found}, indent=0))


def write(answers: list[Path]) -> str:
    """`language.json` from the answers of several releases."""
    told = {int(raw["torch"].split(".")[1]): raw["breaks"] for raw in (json.loads(p.read_text()) for p in answers)}
    releases = sorted(told)
    lines = []
    for program in programs(PROGRAMS.read_text(encoding="utf-8")):
        broken = ",".join(str(r) for r in releases if told[r].get(program.name))
        lines.append(
            f"{json.dumps(program.name, ensure_ascii=False)}: {json.dumps([program.words, broken], ensure_ascii=False)}"
        )
    asked = json.dumps([f"2.{release}" for release in releases])
    return f'{{"releases": {asked},\n"features": {{\n' + ",\n".join(lines) + "\n}}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ask", "write"))
    parser.add_argument("answers", type=Path, nargs="+")
    options = parser.parse_args()
    if options.what == "ask":
        ask(options.answers[0])
    else:
        WRITTEN.write_text(write(options.answers), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
