"""Where an environment keeps its libraries: its `site-packages` folder, found without running anything of it."""

from __future__ import annotations

import glob
import os
import sys
from typing import Final

_SITE: Final = "site-packages"
_LIBRARIES: Final = ("lib", "Lib", "lib64")


def site_packages(path: str) -> str | None:
    """The folder with the libraries of a virtual environment, of an interpreter, or the folder itself; None where there is none."""
    path = os.path.abspath(path)
    if os.path.isfile(path):
        # `.venv/bin/python` is a link to the interpreter that made the environment: where it lies counts first.
        places = (os.path.dirname(os.path.dirname(each)) for each in (path, os.path.realpath(path)))
        return next((found for place in places if (found := _below(place)) is not None), None)
    if not os.path.isdir(path):
        return None
    return path if _is_site(path) else _below(path)


def _is_site(folder: str) -> bool:
    return os.path.basename(folder) in (_SITE, "dist-packages") or bool(
        glob.glob(os.path.join(glob.escape(folder), "*.dist-info"))
    )


def _below(prefix: str) -> str | None:
    """Of several Pythons in one prefix that of the release which runs this, or else the newest."""
    start = glob.escape(prefix)
    found = [
        each
        for library in _LIBRARIES
        for each in (
            *glob.glob(os.path.join(start, library, "python3*", _SITE)),
            *glob.glob(os.path.join(start, library, _SITE)),
        )
    ]
    mine = "python" + ".".join(map(str, sys.version_info[:2]))
    return max(found, key=lambda each: (f"{os.sep}{mine}{os.sep}" in each, _release(each), each), default=None)


def _release(site: str) -> tuple[int, ...]:
    name = os.path.basename(os.path.dirname(site)).removeprefix("python")
    return tuple(int(part) for part in name.split(".") if part.isdigit())
