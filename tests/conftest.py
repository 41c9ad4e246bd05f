"""Shared fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty folder to write a small program into."""
    return Project(tmp_path)
