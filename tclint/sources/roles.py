"""What a file is for, as far as its path tells: part of the program, or written to try it."""

from __future__ import annotations

import re
from typing import Final

_TEST: Final = r"(^|/)tests?/|(^|/)(test_[^/]*|conftest|[^/]*_test)\.py$"
_IS_TEST: Final = re.compile(_TEST)
_TRIES: Final = re.compile(rf"(^|/)(testing|benchmarks?|examples?)/|{_TEST}")


def is_test(path: str) -> bool:
    """Whether a file holds tests: the models it defines stand in for others."""
    return _IS_TEST.search(path) is not None


def tries(path: str) -> bool:
    """Whether a file tries the program: what it compiles says nothing about what the program compiles."""
    return _TRIES.search(path) is not None
