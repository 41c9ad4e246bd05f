"""Features of the language: ask an installed torch whether the graph breaks at them.

    PYTHON scripts/ask/language.py ask 2.16.json          # PYTHON is the interpreter of an environment with the release
    PYTHON scripts/ask/language.py ask 2.16.json --new    # only programs that the table does not have yet
    python scripts/ask/language.py write 2.4.json …       # tclint/torch_facts/language.json, from the answers of all

`language.txt` has a program for each: `### name | words`, with ` || what to do` where that is worth saying, then a file with a `Model`. A child compiles a few of them, one
after the other. What no answers speak of stays in the table as it is.
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
GROUP = 8
WRITTEN = HERE.parent.parent / "tclint" / "torch_facts" / "language.json"


class Program(NamedTuple):
    """A feature: its name in the facts, what messages call it and advise, and a program that uses it."""

    name: str
    words: str
    help: str
    source: str


def programs(text: str) -> Iterator[Program]:
    """The programs of the file, in order."""
    for part in text.split("### ")[1:]:
        head, _, source = part.partition("\n")
        name, _, told = head.partition(" | ")
        words, _, help_ = told.partition(" || ")
        yield Program(name, words, help_, source.strip() + "\n")


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
    exec(compile(program.source, str(path), "exec", dont_inherit=True), space)
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


def ask(answers: Path, known: frozenset[str] = frozenset()) -> None:
    """What the torch of this interpreter says of every program, but for those that are known."""
    import tempfile

    import torch

    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))  # paid once, before any fork
    found: dict[str, bool] = {}
    folder = Path(tempfile.mkdtemp(prefix="ask"))
    waiting = [each for each in programs(PROGRAMS.read_text(encoding="utf-8")) if each.name not in known]
    while waiting:
        told = _child(waiting[:GROUP], folder)
        for program, code in zip(waiting, told, strict=False):
            if code in "bt":
                found[program.name] = code == "b"
            else:
                print(f"not asked: {program.name}", file=sys.stderr)
        waiting = waiting[max(1, len(told)) :]  # where a child ended before it said anything, the first is to blame
    answers.write_text(json.dumps({"torch": torch.__version__, "breaks": found}, indent=0))


def _child(group: list[Program], folder: Path) -> str:
    """A letter for each program, as far as the child got: it breaks, is traced, or fails."""
    import torch

    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        settings = torch._dynamo.config.get_config_copy()  # a program may switch one, and others come behind it
        for place, program in enumerate(group):
            try:
                torch._dynamo.reset()
                torch._dynamo.config.load_config(settings)
                code = b"b" if breaks(program, folder / f"program_{place}.py") else b"t"
            except BaseException:
                code = b"f"
            os.write(writing, code)
        os._exit(0)
    os.close(writing)
    told = b""
    while piece := os.read(reading, 1024):
        told += piece
    os.close(reading)
    os.waitpid(child, 0)
    return told.decode()


def write(answers: list[Path], table: dict[str, Any]) -> str:
    """`language.json` from the answers of several releases, and from what it has already."""
    told: dict[int, dict[str, bool]] = {int(release.split(".")[1]): {} for release in table["releases"]}
    for name, (_, where, *_) in table["features"].items():
        for release, before in told.items():
            before[name] = str(release) in where.split(",")
    for raw in (json.loads(path.read_text()) for path in answers):
        told.setdefault(int(raw["torch"].split(".")[1]), {}).update(raw["breaks"])
    releases = sorted(told)
    lines = []
    for program in programs(PROGRAMS.read_text(encoding="utf-8")):
        broken = ",".join(str(r) for r in releases if _breaks(told, program.name, r))
        row = [program.words, broken, program.help] if program.help else [program.words, broken]
        lines.append(f"{json.dumps(program.name, ensure_ascii=False)}: {json.dumps(row, ensure_ascii=False)}")
    asked = json.dumps([f"2.{release}" for release in releases])
    return f'{{"releases": {asked},\n"features": {{\n' + ",\n".join(lines) + "\n}}\n"


def _breaks(told: dict[int, dict[str, bool]], name: str, release: int) -> bool:
    """What a release says of a program, or the nearest one that was asked: a newer one before an older."""
    nearest = sorted((r for r in told if name in told[r]), key=lambda r: (abs(r - release), -r))
    return bool(nearest) and told[nearest[0]][name]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ask", "write"))
    parser.add_argument("answers", type=Path, nargs="+")
    parser.add_argument("--new", action="store_true", help="only programs that the table does not have")
    parser.add_argument("--between", type=int, nargs=2, help="only programs on which these releases differ: 4 6")
    options = parser.parse_args()
    if options.what == "ask":
        features = json.loads(WRITTEN.read_text(encoding="utf-8"))["features"]
        known = set(features) if options.new else set()
        if options.between:
            told = {name: where.split(",") for name, (_, where, *_) in features.items()}
            known = {name for name, where in told.items() if len({str(r) in where for r in options.between}) == 1}
        ask(options.answers[0], frozenset(known))
    else:
        table = json.loads(WRITTEN.read_text(encoding="utf-8"))
        WRITTEN.write_text(write(options.answers, table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
