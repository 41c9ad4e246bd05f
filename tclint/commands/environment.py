"""What code of other people sees of the environment: all of it, or with `--clean-env` what a program needs to run."""

from __future__ import annotations

import os
from collections.abc import Callable, MutableMapping
from typing import Any, Final

import click

KEPT: Final = frozenset(
    "PATH HOME USER LOGNAME SHELL TERM LANG TZ TMPDIR TEMP TMP SYSTEMROOT WINDIR COMSPEC VIRTUAL_ENV CONDA_PREFIX "
    "PYTHONPATH PYTHONHOME LD_LIBRARY_PATH DYLD_LIBRARY_PATH CUDA_VISIBLE_DEVICES CUDA_HOME CUDA_PATH HF_HOME TORCH_HOME "
    "XDG_CACHE_HOME OMP_NUM_THREADS MKL_NUM_THREADS NO_COLOR".split()
)
"""Where programs, libraries and devices are found, and how text is written. No token, key or address is among them."""
KEPT_PREFIXES: Final = ("LC_", "NVIDIA_", "TCLINT_VERIFY_")


def cut(environ: MutableMapping[str, str]) -> None:
    """Take everything away that is not known to be harmless."""
    for name in list(environ):
        if name not in KEPT and not name.startswith(KEPT_PREFIXES):
            del environ[name]


def _cut(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        # Of this process, and so of every child it will start; it ends with the command.
        cut(os.environ)


def clean_env_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--clean-env",
        is_flag=True,
        expose_value=False,
        callback=_cut,
        help="Code that is run sees PATH, HOME and the like of the environment, no tokens or keys.",
    )(command)
