"""The sub-command `tclint server`."""

from __future__ import annotations

from importlib.util import find_spec

import click

from tclint.model.errors import UserError


@click.command("server", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--stdio", is_flag=True, help="Speak over stdin and stdout (the default; editors like to say so).")
@click.option("--tcp", type=click.IntRange(0, 65535), metavar="PORT", help="Listen on this port instead.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --tcp: the address to listen on.")
@click.option(
    "--delay",
    type=click.FloatRange(0),
    default=0.25,
    show_default=True,
    metavar="SECONDS",
    help="How long typing must pause before the text is linted.",
)
def command(stdio: bool, tcp: int | None, host: str, delay: float) -> int:
    """Serve an editor: diagnostics as you type, quick fixes, pages on hover (Language Server Protocol)."""
    if stdio and tcp is not None:
        raise click.UsageError("--stdio and --tcp exclude each other")
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        raise UserError("the editor server needs pygls: pip install 'torch-compile-lint[lsp]'")
    try:
        from pygls.lsp.server import LanguageServer  # noqa: F401
    except ImportError:
        raise UserError("the editor server needs pygls 2: pip install -U 'torch-compile-lint[lsp]'") from None

    from tclint.server.stdio import serve

    return serve(tcp, host, delay)
