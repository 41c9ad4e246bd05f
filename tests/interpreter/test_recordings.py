"""What captures by hand hold, deed by deed."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any, cast

from tclint.interpreter.recorded import Deed
from tclint.interpreter.recordings import Recordings
from tclint.values import UNKNOWN


def test_a_capture_that_is_begun_in_both_arms_of_an_if_is_one() -> None:
    """Lost once, it is gone: what runs after that is in no capture."""
    recordings = Recordings()
    frame = cast(Any, SimpleNamespace(region=None))
    recordings.repeat([Deed(kind, "g", UNKNOWN, frame, ast.Pass()) for kind in ("capture", "capture", "lose", "run")])
    assert recordings.seen == (2, 0, 0, False)
