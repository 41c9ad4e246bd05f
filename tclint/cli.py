"""The command `tclint`: finds the sub-command, turns errors into one line, and decides the exit code.

0: nothing found. 1: findings. 2: our error or the user's. 130: interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from tclint import __version__

if TYPE_CHECKING:
    import click

COMMANDS: Mapping[str, str] = {
    "lint": "tclint.commands.lint:lint",
    "rule": "tclint.commands.lint:rule",
    "config": "tclint.commands.lint:config",
    "clean": "tclint.commands.lint:clean",
    "verify": "tclint.commands.verify:command",
    "server": "tclint.commands.server:command",
    "new-rule": "tclint.commands.new_rule:command",
    "completion": "tclint.commands.completion:command",
    "diagnose": "tclint.commands.diagnose:command",
    "compare": "tclint.commands.diagnose:compare_command",
}
"""Sub-command -> "module:click command", imported only when called."""


ends = False
"""True where the process belongs to tclint and ends with the command."""


def run() -> NoReturn:
    """The process `tclint`: like `main`, and gone at once. Giving back millions of nodes one by one takes seconds."""
    global ends
    ends = True
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 2
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    if args in (["--version"], ["-V"]):
        # Editors and hooks ask this often; no need to build a parser to answer.
        print(f"tclint {__version__}")
        return 0
    try:
        if instruction := os.environ.get("_TCLINT_COMPLETE"):
            from tclint.commands.completion import answer

            return answer(instruction)
        return _run(args)
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


def _run(args: list[str]) -> int:
    name, rest = split_command(args)
    if rest and rest == args:
        _check_command(args[0])
    command = load_command(name)

    import click

    try:
        result = command.main(rest, prog_name="tclint" if name == "lint" else f"tclint {name}", standalone_mode=False)
    except click.exceptions.Abort:
        return 130
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def split_command(args: list[str]) -> tuple[str, list[str]]:
    """The sub-command and its arguments. `tclint models/` is a lint, and so is `tclint rule` beside a folder `rule`."""
    if args and args[0] in COMMANDS and not os.path.exists(args[0]):
        return args[0], args[1:]
    return "lint", args


def _check_command(word: str) -> None:
    """Refuse a misspelt sub-command as that; as a path it would only be called missing."""
    if not word.replace("-", "").isalpha() or word.startswith("-") or os.path.exists(word):
        return
    import difflib

    close = difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0.7)
    if close:
        from tclint.model.config import UserError

        raise UserError(f"{word}: no such file, folder or command; did you mean `tclint {close[0]}`?")


def load_command(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name].partition(":")
    command: click.Command = getattr(import_module(module), attribute)
    return command


def _complain(error: Exception) -> None:
    import click

    from tclint.model.config import UserError

    if isinstance(error, click.ClickException):
        message = error.format_message()
    elif isinstance(error, UserError):
        message = str(error)
    else:
        detail = " ".join(str(error).split())
        message = f"internal error: {type(error).__name__}: {detail} (TCLINT_DEBUG=1 shows where)"
    print(f"tclint: error: {message}", file=sys.stderr)
