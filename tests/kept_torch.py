"""The interpreter that tests give verify and diagnose: the process that has torch loaded is a fork of one that all share.

Loading torch and compiling for the first time takes five seconds of a processor, and the tests start some thirty such
servers, many only to end them. Here the first one that is asked for loads torch, waits, and becomes each server by
forking. Anything but `start.py --serve` on a CPU is run by the real interpreter.

    kept_torch.py FOLDER PYTHON ARGUMENT...      as PYTHON would be called
    kept_torch.py --hold FOLDER START PID        the process that forks, for as long as the process PID lives
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HERE = os.path.dirname(os.path.realpath(__file__))
if __name__ == "__main__":
    sys.path.insert(0, _HERE)

import kept_process  # noqa: E402

_START = ("verify", "child", "start.py")
_SAME = ("TORCHINDUCTOR_COMPILE_THREADS", "CXX", "LD_PRELOAD")
"""What is settled when torch is loaded: who has another environment in these starts a process of their own."""


def made(folder: Path) -> str:
    """An interpreter whose servers are forks of one that lies in this folder."""
    return kept_process.made(folder, __file__, _SAME)


def main(folder: Path, python: str, arguments: list[str]) -> int:
    serves = arguments[1:] == ["--serve"] and Path(arguments[0]).parts[-3:] == _START
    if serves and os.environ.get("TCLINT_VERIFY_DEVICE") == "cpu":
        start = arguments[0]
        mine = [start, *(os.environ.get(name) for name in _SAME)]
        code = kept_process.forked(folder, [python, __file__, "--hold", str(folder), start], mine, arguments)
        if code is not None:
            return code
    return os.execv(python, [python, *arguments])


def hold(folder: Path, start: str, owner: int) -> None:
    """Load torch once, with `tclint` as the server itself would find it."""
    import runpy

    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry) != _HERE]
    runpy.run_path(start, run_name="tests")["adopt_tclint"]()
    from tclint.verify.child import serve
    from tclint.verify.child.start import run_one

    version = serve._warm()
    serve._warm = lambda: version

    def become(arguments: list[str]) -> None:
        sys.argv = arguments
        serve.serve(run_one, start)

    kept_process.hold(folder, owner, become)


if __name__ == "__main__":
    if sys.argv[1] == "--hold":
        hold(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
        sys.exit(0)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
