"""What sub-commands share: how they are set up, the options for the configuration, words on stderr."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from tclint.model.errors import UserError
from tclint.output.write import tell

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--config`, `--isolated` and `--allow-rules`."""
    for option in (
        click.option(
            "--allow-rules",
            is_flag=True,
            default=None,
            help="Run the rules that the configuration file names: they are code.",
        ),
        click.option("--isolated", is_flag=True, help="Read no configuration file."),
        click.option("--config", "config_file", metavar="FILE", help="Read this configuration file."),
    ):
        command = option(command)
    return command


def listed(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> list[str] | None:
    """A repeatable, comma-separated option; None where it was not given."""
    items = [item.strip() for value in values for item in value.split(",") if item.strip()]
    if values and not items:
        raise click.BadParameter("names nothing")
    return items or None


def complete_rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from tclint.commands import completion

    return completion.rules(context, parameter, incomplete)


def complete_paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from tclint.commands import completion

    return completion.paths(context, parameter, incomplete)


def here() -> str:
    """The folder that the command runs in."""
    try:
        return os.getcwd()
    except OSError as error:
        raise UserError("the current folder is gone; go to one that exists") from error


def say(text: str) -> None:
    """A word to the person, beside the output."""
    tell(text)
