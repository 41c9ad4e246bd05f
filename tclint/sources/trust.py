"""Whose word counts: which folders are the user's own, and whose code he allows to be run.

Linting reads code that somebody else wrote. Rules that a repository's configuration names, and packs that lie in the
repository, are code of that somebody: they run only where the user has said so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from tclint.model.errors import ConfigError

ALLOW_VARIABLE: Final = "TCLINT_ALLOW_RULES"
"""The environment variable that says what `--allow-rules` says."""


def allowed(folders: Sequence[str], said: bool | None) -> bool:
    """Whether code of these folders may run.

    `said`: what was said to this run (True is enough); False means that the environment does not count, as it does not
    for a server that an editor started.
    """
    if said or (said is None and os.environ.get(ALLOW_VARIABLE, "") not in ("", "0")):
        return True
    trusted = trusted_folders()
    return bool(trusted) and all(any(_inside(folder, known) for known in trusted) for folder in folders)


def trusted_folders() -> tuple[str, ...]:
    """The folders that the user's own file lists: code in them, and below them, may run."""
    path = user_file()
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid toml: {error}") from error
    folders = table.pop("folders", [])
    if table or not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
        raise ConfigError(f'{path}: may hold `folders = ["/a/folder"]` and nothing else')
    expanded = [os.path.expanduser(folder) for folder in folders]
    if relative := [folder for folder in expanded if not os.path.isabs(folder)]:
        raise ConfigError(f"{path}: {relative[0]!r} is no absolute path; a trusted folder is named in full")
    return tuple(map(os.path.realpath, expanded))


def user_file() -> str:
    """The user's own file of trusted folders."""
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or os.path.expanduser("~")
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "tclint", "trusted.toml")


def brought_along(entry: str, folders: Sequence[str]) -> bool:
    """Whether a folder of Python's path lies in one of these folders, and not in the environment Python runs in."""
    place = os.path.realpath(entry or ".")
    if os.path.basename(place) in ("site-packages", "dist-packages"):
        prefixes = {os.path.realpath(prefix) for prefix in (sys.prefix, sys.base_prefix)}
        if any(_inside(place, prefix) for prefix in prefixes):
            return False
    return any(_inside(place, os.path.realpath(folder)) for folder in folders)


def upwards(folder: str) -> Iterator[str]:
    """A folder, and those above it, up to the user's home and to the first that belongs to somebody else.

    Who may write into a folder above could otherwise say how the user's files are read: /tmp is everybody's.
    """
    folder = os.path.abspath(folder)
    home = os.path.expanduser("~")
    mine = {_owner(folder), _user()}
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder or folder == home or not _belongs(parent, mine):
            return
        folder = parent


def readable_by(path: str, folder: str) -> bool:
    """Whether a file above a folder is by the user, by the owner of the folder or by the system."""
    return _belongs(path, {_owner(folder), _user()})


def _belongs(path: str, mine: set[int | None]) -> bool:
    owner = _owner(path)
    return owner is None or owner == 0 or owner in mine


def _owner(path: str) -> int | None:
    """Who a file or folder belongs to; None where nobody can tell."""
    if not hasattr(os, "geteuid"):
        return None
    try:
        return os.stat(path).st_uid
    except (OSError, ValueError):
        return None


def _user() -> int | None:
    return os.geteuid() if hasattr(os, "geteuid") else None


def _inside(path: str, folder: str) -> bool:
    return os.path.join(os.path.realpath(path), "").startswith(os.path.join(folder, ""))
