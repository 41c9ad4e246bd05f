"""The interpreter that tests call `-m tclint` with: each such process is a fork of one that has tclint loaded.

Reading its four hundred modules, the tables of facts and the library of the language server takes a second of a
processor, and the tests start some three hundred such processes. What a test says about the process itself (its start,
its memory, its signals, its hashes) it says about the real interpreter, `sys.executable`.

    kept_tclint.py FOLDER PYTHON ARGUMENT...     as PYTHON would be called
    kept_tclint.py --hold FOLDER PID             the process that forks, for as long as the process PID lives
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HERE = os.path.dirname(os.path.realpath(__file__))
if __name__ == "__main__":
    sys.path.insert(0, _HERE)

import kept_process  # noqa: E402

_SAME = ("PYTHONHASHSEED", "PYTHONWARNINGS", "PYTHONUTF8", "PYTHONDEVMODE", "LD_PRELOAD")
"""What is settled when an interpreter starts: who has another environment in these starts one of their own."""


def made(folder: Path) -> str:
    """An interpreter whose runs of tclint are forks of one that lies in this folder."""
    return kept_process.made(folder, __file__, _SAME)


def main(folder: Path, python: str, arguments: list[str]) -> int:
    if arguments[:2] == ["-m", "tclint"]:
        mine = [os.environ.get(name) for name in _SAME]
        code = kept_process.forked(folder, [python, __file__, "--hold", str(folder)], mine, arguments[2:])
        if code is not None:
            return code
    return os.execv(python, [python, *arguments])


def hold(folder: Path, owner: int) -> None:
    """Load what a run that finds, fixes and serves loads."""
    import contextlib
    import importlib

    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry) != _HERE]
    sys.path.insert(0, os.path.dirname(_HERE))
    from tclint import cli
    from tclint.commands import index

    for command in index.COMMANDS:
        index.load_command(command)
    with contextlib.suppress(ImportError):  # the extra that it needs is not installed
        importlib.import_module("tclint.server.stdio")
    _lint_once(folder)

    def become(arguments: list[str]) -> None:
        sys.argv = [os.path.join(os.path.dirname(cli.__file__), "__main__.py"), *arguments]
        for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
            errors = "backslashreplace" if name == "stderr" else None
            stream = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        # Who asks torch gets the one that is kept.
        sys.executable = os.environ.get("TCLINT_TESTS_PYTHON", sys.executable)
        cli.run()

    kept_process.hold(folder, owner, become)


def _lint_once(folder: Path) -> None:
    """The rules, the facts about torch and libcst are read when a first finding needs them."""
    from tclint.run.project import Project

    source = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    if x.sum() > 0:\n        x = x + 1\n    return x\n"
    (folder / "loaded").mkdir()
    (folder / "loaded" / "m.py").write_text(source, encoding="utf-8")
    overrides = {"no-cache": True, "target-torch": "2.13"}
    report = Project.open(["."], cwd=str(folder / "loaded"), isolated=True, overrides=overrides, around=None).lint()
    assert report.findings


if __name__ == "__main__":
    if sys.argv[1] == "--hold":
        hold(Path(sys.argv[2]), int(sys.argv[3]))
        sys.exit(0)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
