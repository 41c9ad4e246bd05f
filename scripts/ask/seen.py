"""Graph breaks of the registry: a program for each that makes torch report it, and one like it that is traced.

    python scripts/ask/seen.py            # asks the installed torch about every program, writes the lines it names
    python scripts/ask/seen.py --check    # exit 1 where an answer is another than the stored one

`seen.txt` has the programs: `### GB0006`, then a file with a `Model`; `### GB0006 look-alike` is the one that is traced.
`### GB0004 tried` is one that was written to get there and does not: a torch that reports it after all is told.
`### GB4197 torch 2.15` is one that another release reports: it is asked where that release is the interpreter's.
`seen.json` has for each id the line that torch names, and for ids that no program is written for, the reason.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAMS, ANSWERS = HERE / "seen.txt", HERE / "seen.json"
GROUP = 10
HOME = "2.13"
"""The release that is asked about programs that name none."""


def programs(text: str) -> dict[str, str]:
    """The programs of the file, by their headings."""
    found = {}
    for part in text.split("### ")[1:]:
        head, _, source = part.partition("\n")
        found[head.strip()] = source.strip() + "\n"
    return found


def release(name: str) -> str:
    """The release that a program is for."""
    return name.rpartition(" torch ")[2] if " torch " in name else HOME


def heard(name: str, source: str, folder: Path) -> list[list[Any]]:
    """The graph breaks of a program here, in this process: id and line. An error that carries an id counts."""
    import re

    import torch

    sys.path.insert(0, str(HERE.parent.parent / "tests"))
    import judge

    path = folder / f"{name.replace(' ', '_').replace('-', '_')}.py"
    path.write_text(source, encoding="utf-8")
    verdict = judge.Verdict()
    found: list[list[Any]] = []

    class Further(logging.Handler):
        """What happened while Dynamo handled a break: it stands behind it in the same message."""

        def emit(self, record: logging.LogRecord) -> None:
            if (getattr(record, "metadata", {}).get("artifact") or {}).get("name") == "dynamo_graph_break_reason":
                payload = getattr(record, "payload", "")
                text = str(payload() if callable(payload) else payload)
                at = judge._parse_break(text, folder)
                _, *further = dict.fromkeys(re.findall(r"/gb(\d{4})\.html", text)) or [""]
                found.extend([f"GB{number}", at.line] for number in further if at is not None)

    trace, ear = logging.getLogger("torch.__trace"), Further()
    settings = torch._dynamo.config.get_config_copy()  # a program may switch one, and others come behind it
    with judge._quiet(), judge._alone(folder), judge._listening(folder, verdict):
        torch._dynamo.reset()
        trace.addHandler(ear)
        module = judge._load(path)
        try:
            torch.compile(module.Model(), backend="eager")(torch.ones(4, 8))
        except Exception as error:
            text = str(error)
            id_ = re.search(r"/gb(\d{4})\.html", text)
            where = judge._innermost(text.partition("from user code:")[2] or text, folder)
            found.append([f"GB{id_[1]}" if id_ else type(error).__name__, where[1] if where else 0])
    trace.removeHandler(ear)
    torch._dynamo.config.load_config(settings)
    return [[each.gb, each.line] for each in verdict.breaks] + found


def ask(wanted: dict[str, str]) -> dict[str, list[list[Any]]]:
    """What the torch of this interpreter says of the programs; a child for a few of them."""
    import torch

    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))  # paid once, before any fork
    folder = Path(tempfile.mkdtemp(prefix="seen"))
    waiting, told = list(wanted), {}
    while waiting:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            for name in waiting[:GROUP]:
                answer = json.dumps([name, heard(name, wanted[name], folder)])
                os.write(writing, answer.encode() + b"\n")
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as stream:
            lines = [json.loads(line) for line in stream]
        os.waitpid(child, 0)
        told.update(dict(lines))
        if len(lines) < len(waiting[:GROUP]):
            raise SystemExit(f"the program of {waiting[len(lines)]} ended the process")
        waiting = waiting[GROUP:]
    return told


def line_of(id_: str, answer: list[list[Any]]) -> int | None:
    """The line at which an id was reported."""
    return next((line for each, line in answer if each == id_), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    stored = json.loads(ANSWERS.read_text(encoding="utf-8"))
    import torch

    here = ".".join(torch.__version__.split(".")[:2])
    written_for = programs(PROGRAMS.read_text(encoding="utf-8"))
    told = ask({name: source for name, source in written_for.items() if release(name) == here})
    lines = {}
    for name, answer in told.items():
        id_, _, role = name.partition(" torch ")[0].partition(" ")
        if role.startswith("tried"):
            if line_of(id_, answer) is not None:
                print(f"reported now: {name}: {answer}", file=sys.stderr)
                return 1
        elif role:
            if answer:
                print(f"not traced: {name}: {answer}", file=sys.stderr)
                return 1
        else:
            line = line_of(id_, answer)
            if line is None:
                print(f"not reported: {name}: {answer}", file=sys.stderr)
                return 1
            lines[id_] = line
    kept = {id_: row for id_, row in stored["seen"].items() if (row[2] if len(row) > 2 else HOME) != here}
    if options.check:
        return int(lines != {id_: row[0] for id_, row in stored["seen"].items() if id_ not in kept})
    for id_, line in lines.items():
        kept[id_] = [line, stored["seen"].get(id_, [0, ""])[1], *([here] if here != HOME else [])]
    kept = dict(sorted(kept.items()))
    ANSWERS.write_text(written(kept, stored["reasons"]), encoding="utf-8")
    return 0


def written(seen: dict[str, list[Any]], reasons: dict[str, list[str]]) -> str:
    rows = ",\n".join(f"{json.dumps(id_)}: {json.dumps(row)}" for id_, row in seen.items())
    why = ",\n".join(f"{json.dumps(text)}: {json.dumps(ids)}" for text, ids in reasons.items())
    return f'{{"seen": {{\n{rows}\n}},\n"reasons": {{\n{why}\n}}}}\n'


if __name__ == "__main__":
    sys.exit(main())
