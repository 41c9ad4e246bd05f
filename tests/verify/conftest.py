"""What the tests of verify share: findings, and a project to write files into."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def project(write: Callable[[str, str], Path]) -> Callable[[str, str], Path]:
    return write
