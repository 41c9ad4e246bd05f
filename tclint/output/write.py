"""Getting the rendered text out: to stdout in the encoding it has, or to a file in one piece."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from typing import Final

from tclint.model.errors import UserError
from tclint.output.lines import inert, shown


def to_stdout(text: str, *, utf8: bool) -> None:
    """Write to stdout. A format for programs is UTF-8 always; people get what their terminal can show."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # replaced by something that takes text only, as a test or a notebook does
        sys.stdout.write(text)
        return
    encoding = "utf-8" if utf8 else sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.flush()
        buffer.write(text.encode(encoding, "replace"))
        buffer.flush()
    except BrokenPipeError:
        # The reader (`| head`) has what it wanted; the exit code still tells what was found.
        silence_stdout()


def tell(text: str) -> None:
    """A word on stderr, each line of it safe to print. Where nobody can hear it, it is not said."""
    lines = text.split("\n")
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"tclint: {shown(lines[0])}", *(inert(shown(line)) for line in lines[1:]), sep="\n", file=sys.stderr)
        sys.stderr.flush()


def silence_stdout() -> None:
    """Send what is left in stdout's buffer nowhere, or Python complains of the broken pipe once more at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


SOURCES: Final = (".py", ".pyi", ".ipynb", ".toml", ".cfg")
"""Files that people write: a report does not go over one."""


def to_file(text: str, path: str, option: str = "--output-file") -> None:
    """Write a file so that a reader sees the old content or the new, never half."""
    target = os.path.realpath(path)
    if target.endswith(SOURCES) and os.path.exists(target):
        raise UserError(f"{option} {path}: not written: a file of source or settings is there; name another file")
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            # /dev/stdout, a pipe: nothing to replace.
            with open(target, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            return
        descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".tclint-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(temporary, _mode(target))
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written: {error.strerror}") from error


def _mode(target: str) -> int:
    """The permissions the file has, or those a plain open() would give it."""
    if os.path.exists(target):
        return stat.S_IMODE(os.stat(target).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
