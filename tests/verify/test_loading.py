"""Files of packages that cannot be imported as they are: what the target does not need does not matter."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tclint.verify.child.load import dotted_name, load

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Writes files of packages under the test's folder; what is imported of them is forgotten afterwards."""
    modules, path, finders = set(sys.modules), list(sys.path), list(sys.meta_path)

    def write(name: str, text: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    yield write
    for name in set(sys.modules) - modules:
        if "tcl_" in name:
            del sys.modules[name]
    sys.path[:] = path
    assert sys.meta_path[: len(finders)] == finders


def test_a_head_that_fails_leaves_the_package(write: Write, tmp_path: Path) -> None:
    """A version that does not fit, a file that was not shipped: the parts and their relative imports are there."""
    write(
        "tcl_pack/__init__.py", "from . import parts\nassert False, 'needs another version'\nfrom .parts import WIDTH\n"
    )
    write("tcl_pack/parts.py", "WIDTH = 8\nTABLE = open('/no/such/table').read()\nDEPTH = 2\n")
    model = write("tcl_pack/model.py", "from . import WIDTH\nfrom .parts import DEPTH\nsize = WIDTH * DEPTH\n")
    module = load(str(model), str(tmp_path))
    assert (module.__name__, module.size) == ("tcl_pack.model", 16)


def test_what_was_imported_is_not_imported_again(write: Write, tmp_path: Path) -> None:
    """A registry elsewhere refuses a name that it knows."""
    write(
        "tcl_held.py",
        "NAMES = []\ndef hold(name):\n    assert name not in NAMES\n    NAMES.append(name)\n    return name\n",
    )
    write("tcl_pack/__init__.py", "from . import kinds, broken\n")
    write("tcl_pack/kinds.py", "import tcl_held\nKIND = tcl_held.hold('kind')\n")
    write("tcl_pack/broken.py", "import no_such_package_of_anybody\nraise ValueError\n")
    model = write("tcl_pack/model.py", "from .kinds import KIND\nimport tcl_pack\nkind = tcl_pack.kinds.KIND\n")
    assert load(str(model), str(tmp_path)).kind == "kind"


def test_a_program_does_not_go_on_without_what_it_reads(write: Write, tmp_path: Path) -> None:
    write("tcl_pack/__init__.py", "")
    text = "data = open('/no/such/data').read()\nran = []\ndef fit():\n    ran.append(1)\nfit()\nfor _ in range(3):\n    fit()\n"
    module = load(str(write("tcl_pack/run.py", text)), str(tmp_path))
    assert callable(module.fit)
    assert module.ran == []


def test_what_a_script_asks_of_its_process_group_is_there(write: Write, tmp_path: Path) -> None:
    import torch.distributed as distributed

    text = "import torch.distributed as dist\nSIZE = dist.get_world_size()\ndef fit():\n    return SIZE\n"
    try:
        assert load(str(write("tcl_grouped.py", text)), str(tmp_path)).fit() == 1
    finally:
        if distributed.is_initialized():
            distributed.destroy_process_group()


def test_a_folder_of_packages_is_no_package(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One wheel left its `__init__.py` beside all packages."""
    write("site/__init__.py", "")
    write("site/tcl_left/__init__.py", "")
    write("site/tcl_left/width.py", "WIDTH = 3\n")
    file = write("site/tcl_left/model.py", "from .width import WIDTH\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    module = load(str(file), str(tmp_path / "site" / "tcl_left"))
    assert (module.__name__, module.WIDTH) == ("tcl_left.model", 3)
    assert dotted_name(write("tcl_kept/__init__.py", "")) == ("tcl_kept", tmp_path)
