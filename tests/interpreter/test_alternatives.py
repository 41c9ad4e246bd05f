"""Names of a file that each arm of an `if` or a `try` binds to something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

MAIN = """
from flags import FAST

def f(x):
    print("inside")
    return x + 1

def main(x):
    if FAST:
        fast = torch.compile(f)
        fast(x)
"""


@pytest.mark.parametrize(
    ("flags", "count"),
    [
        ("if os.environ.get('A'):\n    FAST = True\nelse:\n    FAST = False\n", 1),
        (
            "if os.environ.get('A'):\n    FAST = True\nelif os.environ.get('B'):\n    FAST = None\nelse:\n    FAST = False\n",
            1,
        ),
        ("if torch.__version__ >= '2.4':\n    FAST = True\nelse:\n    FAST = False\n", 1),
        ("if torch.__version__ < '2.4':\n    FAST = True\nelse:\n    FAST = False\n", 0),
        ("if torch.__version__ < '2.4':\n    FAST = True\nelif x():\n    FAST = False\nelse:\n    FAST = None\n", 0),
        ("try:\n    import triton\n    FAST = True\nexcept ImportError:\n    FAST = False\n", 1),
        ("try:\n    import triton\nexcept ImportError:\n    FAST = False\nelse:\n    FAST = True\n", 1),
        ("FAST = False\ntry:\n    FAST = 'dev' in torch.__version__\nexcept ImportError:\n    FAST = False\n", 1),
        ("FAST = '2.' in torch.__version__\n", 1),
        ("FAST = False\n", 0),
    ],
)
def test_a_flag_is_what_some_arm_makes_it(tmp_path: Path, flags: str, count: int) -> None:
    Project(tmp_path).write({"flags.py": PRELUDE + "import os\n" + flags, "a.py": PRELUDE + MAIN})
    for _ in range(2):  # the second time from what was kept of the files
        report = lint(cwd=tmp_path)
        assert [(site.path, site.reaches) for site in report.sites] == [("a.py", 1)] * count
