"""A fix that leaves an import without use takes it away; nothing else is tidied."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import Project

from tclint.fixes.unused import imports_from, without_unused
from tclint.run.project import Project as Opened

USE = "def f(x):\n    return copy.deepcopy(x)\n"
PLAIN = "def f(x):\n    return x.clone()\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("import copy\n", PLAIN, ""),
        ("import copy, math\n", PLAIN + "y = math.pi\n", "import math\n"),
        ("import copy as c\n", PLAIN, ""),
        ("from copy import copy, deepcopy\n", PLAIN + "deepcopy\n", "from copy import deepcopy\n"),
        (
            "from copy import (\n    copy,\n    deepcopy,\n    replace,\n)\n",
            PLAIN + "deepcopy, replace\n",
            "from copy import (\n    deepcopy,\n    replace,\n)\n",
        ),
        # What stays: named in a string, a comment says why, another's package, idle before, used.
        ("import copy\n", PLAIN + '__all__ = ["copy"]\n', "import copy\n"),
        ("import copy  # noqa: F401\n", PLAIN, "import copy  # noqa: F401\n"),
        ("import numpy as copy\n", PLAIN, "import numpy as copy\n"),
        ("from . import copy\n", PLAIN, "from . import copy\n"),
        ("import copy; import os\n", PLAIN, "import copy; import os\n"),
        ("import os\n", PLAIN, "import os\n"),
        ("import copy\n", USE, "import copy\n"),
        ("try:\n    import copy\nexcept ImportError:\n    copy = None\n", PLAIN, None),
    ],
)
def test_what_goes_and_what_stays(before: str, after: str, expected: str | None) -> None:
    used = before + USE.replace("copy.deepcopy", "c.deepcopy" if " as c" in before else "copy.deepcopy")
    now = (before + after).encode()
    tidied = without_unused("m.py", used.encode(), now, others=False, taken=lambda name: False)
    assert tidied.decode() == ((before if expected is None else expected) + after)


def test_a_package_of_others_only_with_unsafe_fixes() -> None:
    before, after = b"import numpy as np\nnp.ones(2)\n", b"import numpy as np\n1\n"
    assert without_unused("m.py", before, after, others=False, taken=lambda name: False) == after
    assert without_unused("m.py", before, after, others=True, taken=lambda name: False) == b"1\n"
    assert without_unused("p/__init__.py", before, after, others=True, taken=lambda name: False) == after
    assert without_unused("m.py", before, after, others=True, taken=lambda name: name == "np") == after


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from net import copy\n", True),
        ("from pkg.net import (\n    Net,\n    copy,\n)\n", True),
        ("import net\nnet.copy.deepcopy(x)\n", True),
        ("import copy\nfrom net import Net\n", False),
        ("from network import copy\n", False),
    ],
)
def test_names_that_others_take(text: str, expected: bool) -> None:
    assert imports_from(text, "net", "copy") is expected


def test_what_is_left_is_told_at_its_new_line(tmp_path: Path) -> None:
    """The report after a fix is of the file as it was written."""
    source = """
        import copy
        import torch

        @torch.compile
        def step(x: torch.Tensor):
            with torch.no_grad():
                y = copy.deepcopy(x.detach())
            print(y)
            return y + 1
    """
    project = Project(tmp_path).write({"net.py": source})
    opened = Opened.open(["net.py"], cwd=str(project.root), isolated=True, overrides={"no-cache": True}, around=None)
    done = opened.fix(unsafe=True)
    text = (project.root / "net.py").read_text()
    assert "copy" not in text
    for finding in done.report.findings:
        assert finding.code != "TCL108" or "print" in text.splitlines()[finding.line - 1]
    assert (project.root / "net.py").read_text().startswith("import torch\n")


def test_a_name_that_another_file_takes_stays(tmp_path: Path) -> None:
    source = "import copy\nimport torch\n\n@torch.compile\ndef step(x: torch.Tensor):\n    return copy.deepcopy(x)\n"
    project = Project(tmp_path).write({"net.py": source, "other.py": "from net import copy\n"})
    opened = Opened.open(["net.py"], cwd=str(project.root), overrides={"no-cache": True}, around=str(project.root))
    opened.fix(unsafe=True)
    text = (project.root / "net.py").read_text()
    assert text.startswith("import copy\n")
    assert "deepcopy" not in text
