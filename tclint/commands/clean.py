"""`tclint clean`: the cache removed."""

from __future__ import annotations

import os

import click

from tclint.commands.options import CONTEXT, config_options
from tclint.model import config as configuration
from tclint.model.config import UserError


@click.command("clean", context_settings=CONTEXT)
@click.option("--cache-dir", metavar="DIR", help="The cache to remove.")
@config_options
def command(cache_dir: str | None, config_file: str | None, isolated: bool) -> int:
    """Remove the cache."""
    import shutil

    overrides = {"cache-dir": cache_dir} if cache_dir is not None else None
    settings = configuration.load(cwd=os.getcwd(), config=config_file, isolated=isolated, overrides=overrides)
    folder = settings.cache_dir
    if not os.path.isdir(folder):
        print(f"no cache at {folder}")
        return 0
    if not _is_cache(folder):
        # A cache-dir of "." must not cost anybody a project.
        raise UserError(f"{folder} does not look like a cache of tclint (no CACHEDIR.TAG): remove it by hand")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise UserError(f"{folder}: cannot be removed: {error.strerror}") from error
    print(f"removed {folder}")
    return 0


def _is_cache(folder: str) -> bool:
    from tclint.sources.files import CACHE_TAG

    try:
        with open(os.path.join(folder, "CACHEDIR.TAG"), encoding="utf-8", errors="replace") as file:
            return file.read() == CACHE_TAG
    except FileNotFoundError:
        return False
