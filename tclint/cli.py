"""The command `tclint`: finds the sub-command, turns errors into one line, and decides the exit code.

0: nothing found. 1: findings. 2: our error or the user's. 130: interrupted. 143: told to end.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

try:
    from tclint import __version__
except ImportError:
    # Another package on the index, a linter of Tcl, is called tclint too: its __init__.py lies in the place of ours.
    __version__ = ""


def run() -> NoReturn:
    """The process `tclint`: like `main`, and gone at once. Giving back millions of nodes one by one takes seconds."""
    _open_closed()
    if not __version__:
        print(_MIXED, file=sys.stderr)
        sys.exit(2)
    signal.signal(signal.SIGTERM, _terminate)
    gc.set_threshold(_COLLECT_AFTER, 10, 10)
    code = main(ends=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it is over in a moment
    if code == 130 and _told_to_end:
        code = 143
    try:
        sys.stdout.flush()
    except OSError:
        code = max(code, 2)  # what was found did not get out
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


_MIXED = (
    f"tclint: error: {os.path.dirname(__file__)} holds files of two packages, of torch-compile-lint and of the linter of Tcl "
    "that is called tclint: pip uninstall tclint torch-compile-lint, then pip install torch-compile-lint"
)
_told_to_end = False
_COLLECT_AFTER = 50_000
"""New objects after which cycles are looked for: loading the rules makes that many, and no garbage."""


def _terminate(*_: object) -> NoReturn:
    """Somebody ends the process: what is half done is put away, as on Ctrl-C."""
    global _told_to_end
    _told_to_end = True
    raise KeyboardInterrupt


def _open_closed() -> None:
    """Put something under the three descriptors that every program has.

    Where the caller closed one, the next file that is opened would take its place: what is printed would go into it.
    Output that nobody can get is an error when it is written, input when it is read; stderr may be missing.
    """
    for number, (name, wrong) in enumerate((("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):
                os.fstat(number)
                continue  # open, and not as Python wants it
            os.open(os.devnull, wrong)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8", errors="replace"))


def main(argv: Sequence[str] | None = None, *, ends: bool = False) -> int:
    """Run one command and give its exit code. `ends`: the process ends with it, so memory need not be given back."""
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        if args in (["--version"], ["-V"]):
            # Editors and hooks ask this often; no need to build a parser to answer.
            print(f"tclint {__version__}", flush=True)
            return 0
        if instruction := os.environ.get("_TCLINT_COMPLETE"):
            from tclint.commands.completion import answer

            return answer(instruction)
        return _run(args, ends)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        from tclint.output.write import silence_stdout

        silence_stdout()
        return 0
    except Exception as error:
        if os.environ.get("TCLINT_DEBUG"):
            raise
        _complain(error)
        return 2


def _run(args: list[str], ends: bool) -> int:
    from tclint.commands.index import load_command, split_command

    if any(arg.startswith("@") for arg in args):
        from tclint.commands.argfile import expanded

        args = expanded(args)
    name, rest = split_command(args)
    if rest and rest == args:
        _check_command(args[0])
    command = load_command(name)

    import click

    try:
        shown = "tclint" if name == "lint" else f"tclint {name}"
        result = command.main(rest, prog_name=shown, standalone_mode=False, obj=ends)
    except click.exceptions.Abort:
        return 130
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def _check_command(word: str) -> None:
    """Refuse a misspelt sub-command as that; as a path it would only be called missing."""
    if not word.replace("-", "").isalpha() or word.startswith("-") or os.path.exists(word):
        return
    import difflib

    from tclint.commands.index import COMMANDS

    close = difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0.7)
    if close:
        from tclint.model.errors import UserError

        raise UserError(f"{word}: no such file, folder or command; did you mean `tclint {close[0]}`?")


def _complain(error: Exception) -> None:
    import click

    from tclint.model.errors import UserError
    from tclint.output import write

    if isinstance(error, click.ClickException):
        message = error.format_message()
    elif isinstance(error, UserError):
        message = str(error)
    elif isinstance(error, OSError) and error.filename is None:
        # A full disk, a terminal that is gone, a closed descriptor.
        message = f"cannot read or write: {error.strerror or error}"
    else:
        detail = " ".join(str(error).split())
        message = f"internal error: {type(error).__name__}: {detail} (TCLINT_DEBUG=1 shows where)"
    write.tell(f"error: {message}")
