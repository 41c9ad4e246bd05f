"""Which sub-commands there are, and which one some words mean. Each is imported only when it is called."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

COMMANDS: Mapping[str, str] = {
    "lint": "tclint.commands.lint:command",
    "rule": "tclint.commands.rule:command",
    "config": "tclint.commands.config:command",
    "clean": "tclint.commands.clean:command",
    "verify": "tclint.commands.verify:command",
    "server": "tclint.commands.server:command",
    "new-rule": "tclint.commands.new_rule:command",
    "completion": "tclint.commands.completion:command",
    "diagnose": "tclint.commands.diagnose:command",
    "compare": "tclint.commands.diagnose:compare_command",
}
"""Sub-command -> "module:click command"."""


ALIASES: Mapping[str, str] = {"check": "lint", "explain": "rule"}
"""What other linters call them."""


def split_command(args: list[str]) -> tuple[str, list[str]]:
    """The sub-command and its arguments. `tclint models/` is a lint, and so is `tclint rule` beside a folder `rule`."""
    if args and (args[0] in COMMANDS or args[0] in ALIASES) and not os.path.exists(args[0]):
        return ALIASES.get(args[0], args[0]), args[1:]
    return "lint", args


def load_command(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name].partition(":")
    command: click.Command = getattr(import_module(module), attribute)
    return command
