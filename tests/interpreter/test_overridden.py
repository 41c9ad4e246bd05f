"""What a method of an object gives of which only an annotation tells the class."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

PLATFORM = """
class Platform:
    @classmethod
    def capability(cls):
        return None

    @classmethod
    def has(cls, wanted):
        found = cls.capability()
        if found is None:
            return False
        return found >= wanted

platform: Platform
"""
CUDA = """
from lib import Platform

class CudaBase(Platform):
    pass

class Cuda(CudaBase):
    @classmethod
    def capability(cls):
        return torch.cuda.get_device_capability()
"""
MAIN = """
from lib import platform

def f(x):
    print("inside")
    return x + 1

def main(x):
    if platform.has(100):
        fast = torch.compile(f)
        fast(x)
"""


@pytest.mark.parametrize(("cuda", "count"), [("", 0), (CUDA, 1)])
def test_what_a_class_below_defines_anew(tmp_path: Path, cuda: str, count: int) -> None:
    Project(tmp_path).write({"lib.py": PRELUDE + PLATFORM, "cuda.py": PRELUDE + cuda, "a.py": PRELUDE + MAIN})
    report = lint(cwd=tmp_path)
    assert [(site.path, site.reaches) for site in report.sites] == [("a.py", 1)] * count
