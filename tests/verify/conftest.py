"""What the tests of verify share: findings, and a project to write files into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tclint.verify.process import stop_servers


@pytest.fixture(scope="session", autouse=True)
def no_server_is_left() -> Iterator[None]:
    """Tests keep the processes that have torch loaded (`keep=True`): loading it is most of their time."""
    yield
    stop_servers()


@pytest.fixture
def project(write: Callable[[str, str], Path]) -> Callable[[str, str], Path]:
    return write
