"""`tclint clean`: the cache removed."""

from __future__ import annotations

import os

import click

from tclint.commands.options import CONTEXT, config_options, here
from tclint.model.errors import UserError
from tclint.run import cachedir
from tclint.sources import configuration


@click.command("clean", context_settings=CONTEXT)
@click.option("--cache-dir", metavar="DIR", help="The cache to remove.")
@config_options
def command(cache_dir: str | None, config_file: str | None, isolated: bool, allow_rules: bool | None) -> int:
    """Remove the cache: what tclint wrote, and the folder if nothing else is in it."""
    overrides = {"cache-dir": cache_dir} if cache_dir is not None else None
    settings = configuration.load(cwd=here(), config=config_file, isolated=isolated, overrides=overrides)
    folder = settings.cache_dir
    if not os.path.lexists(folder):
        print(f"no cache at {folder}")
        return 0
    try:
        left = cachedir.clear(settings)
    except cachedir.NotOurs as refused:
        raise UserError(f"{refused}: remove it by hand") from refused
    except OSError as error:
        raise UserError(f"{folder}: cannot be removed: {error.strerror}") from error
    if left:
        print(f"removed what tclint wrote in {folder}; left, as it is not ours: {', '.join(left)}")
    else:
        print(f"removed {folder}")
    return 0
