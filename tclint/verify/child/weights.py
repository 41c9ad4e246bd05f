"""Pretrained weights that are not on this machine: a module keeps those it was made with.

What Dynamo does with a module does not depend on its weights, and a child is promised no network. So a download that would
have to be waited for is not begun: what it would give is an empty state that says so, and loading it changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import _IncompatibleKeys

_handed_out = False


class Unfetched(dict[str, Any]):
    """A state whose values nobody has: whatever part of it is asked for is one as well."""

    def __missing__(self, key: str) -> Unfetched:
        return self

    def get(self, key: str, default: Any = None) -> Any:
        return self

    def pop(self, key: str, *default: Any) -> Any:
        return self

    def __contains__(self, key: object) -> bool:
        return False

    def __iter__(self) -> Iterator[str]:
        return iter(())


def do_without() -> None:
    """From now on weights that are not on this machine are done without."""
    # Whoever imported the function that loads from an address by its name still finds these two behind it.
    torch.hub.download_url_to_file = _download
    torch.load = _load
    nn.Module.load_state_dict = _load_state_dict


_real_load = torch.load
_real_load_state_dict = nn.Module.load_state_dict


def _download(url: str, dst: str, *_: Any, **__: Any) -> None:
    """Nothing comes: the file stays away, and reading it gives the empty state."""


def _load(f: Any, *args: Any, **kwargs: Any) -> Any:
    global _handed_out
    if isinstance(f, (str, os.PathLike)) and not os.path.exists(f):
        _handed_out = True
        return Unfetched()
    return _real_load(f, *args, **kwargs)


def _load_state_dict(self: nn.Module, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
    # Programs rename keys on the way, and what they make of nothing is an empty dict of their own.
    if isinstance(state_dict, Unfetched) or (_handed_out and not state_dict):
        return _IncompatibleKeys([], [])
    return _real_load_state_dict(self, state_dict, *args, **kwargs)
