"""The C++ compiler that tests give Inductor: what it has built once in a run of the tests, it does not build again.

Every child of verify and diagnose has a cache of its own, as it should have, so that the same kernel is built in many
of them; and of the three seconds that a kernel takes all but half a second is spent on reading torch's headers. Here a
library is kept by its source and its options, and the headers are compiled once for a set of options, when a third
kernel wants them. What is kept lies in the folder beside the compiler, and goes with the run.
Inductor knows by its name, g++, what options it takes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

_PREFIX = "#include <torch/csrc/inductor/cpp_prefix.h>"
_ENOUGH = 3
"""Kernels from which on compiling the headers first takes less time than reading them again."""


def made(folder: Path) -> str:
    """A compiler whose libraries are kept in this folder; empty where there is none to call."""
    real = shutil.which("g++")
    if real is None:
        return ""
    script = folder / "g++"
    # A script that is its own program: no `site`, no packages, a start of some milliseconds.
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{__file__}" "{folder}" "{real}" "$@"\n')
    script.chmod(0o755)
    return str(script)


def main(kept: Path, real: str, arguments: list[str]) -> int:
    sources = [argument for argument in arguments if argument.endswith(".cpp")]
    if len(sources) != 1 or "-o" not in arguments or "-shared" not in arguments:
        return subprocess.call([real, *arguments])
    out = arguments.index("-o") + 1
    output = arguments[out]
    options = [part for at, part in enumerate(arguments) if part != sources[0] and at not in (out - 1, out)]
    text = Path(sources[0]).read_bytes()
    library = kept / (_name(options, text) + ".so")
    if not library.exists():
        headers = _headers(kept, real, options) if _PREFIX.encode() in text else []
        part = f"{library}.{os.getpid()}"
        code = subprocess.call([real, sources[0], *headers, *options, "-o", part])
        if code:
            return code
        os.replace(part, library)  # whoever is killed before this leaves nothing that another would take
    shutil.copy(library, output)
    return 0


def _headers(kept: Path, real: str, options: list[str]) -> list[str]:
    """The option that includes the compiled headers; none before they are worth it."""
    import fcntl  # only where there is a g++ to call

    header = kept / (_name(options, b"") + ".h")
    compiled = Path(f"{header}.gch")
    with open(f"{header}.lock", "a+", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(".")
        lock.flush()
        if lock.tell() < _ENOUGH:
            return []
        if not compiled.exists():
            header.write_text(f"{_PREFIX}\n", encoding="utf-8")
            of_compiling = [option for option in options if option != "-shared" and not option.startswith(("-l", "-L"))]
            part = f"{compiled}.{os.getpid()}"
            if subprocess.call([real, "-w", "-x", "c++-header", str(header), *of_compiling, "-o", part]):
                return []
            os.replace(part, compiled)
    return ["-include", str(header)]


def _name(options: list[str], text: bytes) -> str:
    return hashlib.sha256("\0".join(options).encode() + b"\0" + text).hexdigest()[:32]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
