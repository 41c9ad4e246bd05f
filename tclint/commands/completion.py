"""`tclint completion bash|zsh|fish`, and the answers the shell then asks for.

click completes one command or a group of commands; `tclint` is neither: its first word may be a sub-command or a path. So
the words before the cursor choose the command here, as `cli.split_command` does for a run, and click does the rest.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from tclint import cli

VARIABLE = "_TCLINT_COMPLETE"
_WHERE = {
    "bash": 'eval "$(tclint completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(tclint completion zsh)"  # in ~/.zshrc',
    "fish": "tclint completion fish > ~/.config/fish/completions/tclint.fish",
}


@click.command(
    "completion",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="\b\n" + "\n".join(_WHERE.values()),
)
@click.argument("shell", type=click.Choice(sorted(_WHERE)))
def command(shell: str) -> int:
    """Print the script that makes SHELL complete tclint's commands, options and rules."""
    click.echo(_completer(shell).source())
    return 0


def answer(instruction: str) -> int:
    """What a shell asks while somebody types: `bash_complete`, with the words in COMP_WORDS."""
    shell, _, what = instruction.partition("_")
    if shell not in _WHERE or what not in ("complete", "source"):
        return 2
    completer = _completer(shell)
    click.echo(completer.source() if what == "source" else completer.complete())
    return 0


def _completer(shell: str) -> ShellComplete:
    base = get_completion_class(shell)
    assert base is not None

    class Completer(base):  # type: ignore[misc, valid-type]
        def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
            return completions(args, incomplete)

    return Completer(click.Command("tclint"), {}, "tclint", VARIABLE)


def completions(args: list[str], incomplete: str) -> list[CompletionItem]:
    """What may stand at the cursor, after some words."""
    name, rest = cli.split_command(args)
    command = cli.load_command(name)
    found = ShellComplete(command, {}, "tclint", VARIABLE).get_completions(rest, incomplete)
    if not args and not incomplete.startswith("-"):
        words = [(each, _summary(each)) for each in cli.COMMANDS if each.startswith(incomplete)]
        # Files first: bash forgets what came before it is told to complete files, and completes them if all else fails.
        found = [*found, *(CompletionItem(word, help=summary) for word, summary in words)]
    return found


def _summary(name: str) -> str:
    return cli.load_command(name).get_short_help_str(80)


def rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes and names of rules; in a list with commas, for its last item."""
    from tclint.model import config
    from tclint.ruleset.loading import load_rules

    before, comma, word = incomplete.rpartition(",")
    try:
        settings = config.load(cwd=os.getcwd())
        known = load_rules(settings.rules, settings.packs)
    except config.UserError:
        # A mistake in the configuration is told by the run, not while somebody types.
        known = load_rules()
    start = before + comma
    items = [(rule.code, rule.name) for rule in known] + [(rule.name, rule.code) for rule in known]
    return [
        CompletionItem(start + word_, help=about) for word_, about in items if word_.lower().startswith(word.lower())
    ]


def paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]
