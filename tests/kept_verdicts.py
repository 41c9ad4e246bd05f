"""What Dynamo said about a fixture, kept by what it was said of: the fixture, the judge, torch and Python.

Nothing of tclint is in such an answer: a text that has not changed gets the same one, and asking for all of them costs
five minutes of the processor. So a fixture that is new or has changed is asked, and of the others one in sixteen, which
must answer as it did; what was kept for another torch or another judge is not used.

    python tests/kept_verdicts.py          ask what is new or has changed, write kept_verdicts.json, print what differs
    python tests/kept_verdicts.py --all    ask all of them
    python tests/kept_verdicts.py --row FILE BACKEND    what is said of one, in a process of its own
    TCLINT_ASK_AGAIN=1 python -m pytest -m dynamo tests/test_fixtures_dynamo.py tests/fixes/test_fix.py
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import judge
from judge import FIXTURES, VENDOR, Break, Verdict

KEPT = Path(__file__).with_name("kept_verdicts.json")
RULES = FIXTURES / "rules"
_ONE_IN = 16


def judged(path: Path, *, backend: str = "eager") -> Verdict:
    """What `judge.judge` says of a fixture of one file."""
    of = fingerprint(path, backend)
    kept = _kept().get(_name(path, backend))
    if kept is None or kept["of"] != of:
        return judge.judge(path, backend=backend)
    if os.environ.get("TCLINT_ASK_AGAIN") or int(of, 16) % _ONE_IN == 0:
        verdict = judge.judge(path, backend=backend)
        said = _row(verdict, of)
        if said == kept:
            return verdict
        # Hundreds of programs may have run in this process. Another one, that has run none, says whose answer it is.
        alone = _asked_alone(path, backend)
        assert alone == kept, f"{_name(path, backend)}: Dynamo says {alone}, and what is kept is {kept}"
        warnings.warn(f"{_name(path, backend)}: behind other programs Dynamo says {said}, alone {alone}", stacklevel=2)
    return _verdict(kept)


def _asked_alone(path: Path, backend: str) -> dict[str, Any]:
    """What a process says that has run nothing else."""
    command = [sys.executable, __file__, "--row", str(path), backend]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def fingerprint(path: Path, backend: str) -> str:
    return hashlib.sha256(b"\0".join([_circumstances(), backend.encode(), path.read_bytes()])).hexdigest()[:16]


@cache
def _circumstances() -> bytes:
    import torch

    release = torch.__version__.partition("+")[0]
    python = ".".join(map(str, sys.version_info[:2]))
    beside = [path.read_bytes() for path in (Path(judge.__file__), *sorted(VENDOR.rglob("*.py")))]
    return b"\0".join([release.encode(), python.encode(), *beside])


@cache
def _kept() -> dict[str, dict[str, Any]]:
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def _name(path: Path, backend: str) -> str:
    return f"{path.relative_to(RULES).as_posix()} {backend}"


def _row(verdict: Verdict, of: str) -> dict[str, Any]:
    """Reasons are words for whoever reads a failure: they hold numbers of the process, and are left out."""
    row: dict[str, Any] = {"of": of}
    for kind, told in (("breaks", verdict.breaks), ("errors", verdict.errors)):
        if told:
            row[kind] = [[b.file, b.line, b.gb, re.sub(r"0x[0-9a-f]+", "0x", b.kind)] for b in told]
    if verdict.compiles:
        row["compiles"] = dict(sorted(verdict.compiles.items()))
    return row


def _verdict(row: dict[str, Any]) -> Verdict:
    breaks, errors = ([Break(*told) for told in row.get(kind, [])] for kind in ("breaks", "errors"))
    return Verdict(breaks, errors, compiles=Counter(row.get("compiles", {})))


def asked() -> list[tuple[Path, str]]:
    """The fixtures that tests judge, each with its backend."""
    families = (("TCL1", "eager"), ("TCL2", "aot_eager"))
    return [
        (path, backend)
        for family, backend in families
        for path in sorted([*RULES.glob(f"{family}*/*.py"), *RULES.glob(f"{family}*/fix/*.py")])
    ]


def write(again: bool) -> None:
    before, rows = _kept(), {}
    for path, backend in asked():
        name, of = _name(path, backend), fingerprint(path, backend)
        if name in before and before[name]["of"] == of and not again:
            rows[name] = before[name]
            continue
        rows[name] = _row(judge.judge(path, backend=backend), of)
        if name in before and {**before[name], "of": ""} != {**rows[name], "of": ""}:
            print(f"{name}\n  was {before[name]}\n  is  {rows[name]}")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(rows.items()))
    KEPT.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--row"]:
        target, using = Path(sys.argv[2]), sys.argv[3]
        print(json.dumps(_row(judge.judge(target, backend=using), fingerprint(target, using))))
    else:
        write("--all" in sys.argv)
