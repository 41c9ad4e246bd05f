"""tclint: finds torch.compile hazards in source, without torch, and proves them under Dynamo."""

from __future__ import annotations

# Nothing is imported here: `python -m tclint` reads this file before it can leave the current folder out of its path,
# and a `typing.py` in that folder is somebody else's.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A literal, not importlib.metadata: reading the metadata costs more than the rest of `tclint --version`.
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # `@tclint.example(Model)` is for people's own code; the linter itself never pays for it.
    if name == "example":
        from tclint.verify.registered import example

        return example
    # For people's own programs, which have torch: neither is ever imported by the linter.
    if name == "safe_compile":
        from tclint.runtime.safe import safe_compile

        return safe_compile
    if name == "cudagraph":
        from importlib import import_module

        return import_module("tclint.cudagraph")
    raise AttributeError(f"module 'tclint' has no attribute {name!r}")
