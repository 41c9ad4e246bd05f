"""Which lines a call runs, and whose files count."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from tclint.verify.cover import Coverage, covering, is_project

CODE = "def f(flag):\n    if flag:\n        return 1\n    return 2\n"


@pytest.mark.parametrize(
    ("path", "root", "own"),
    [
        ("/p/a.py", "/p", True),
        ("/p/sub/a.py", "/p", True),
        ("/pp/a.py", "/p", False),
        ("<string>", "/p", False),
        ("/p/.venv/lib/site-packages/x.py", "/p", False),
        ("/p/torch/nn/x.py", "/p", False),
        ("/env/site-packages/timm/a.py", "/env/site-packages/timm", True),
    ],
)
def test_whose_file_it_is(path: str, root: str, own: bool) -> None:
    assert is_project(path, root) is own


def test_the_standard_library_is_nobodys() -> None:
    library = sysconfig.get_path("stdlib")
    assert not is_project(f"{library}/json/decoder.py", library)


def test_lines_that_ran(tmp_path: Path) -> None:
    path = str(tmp_path / "m.py")
    names: dict[str, object] = {}
    exec(compile(CODE, path, "exec"), names)
    f = names["f"]
    assert callable(f)
    seen = []
    # A line that an earlier run has seen counts again.
    for flag in (True, False, True):
        with covering(lambda name: name == path) as coverage:
            f(flag)
        seen.append(coverage.lines)
    assert seen == [{path: (2, 3)}, {path: (2, 4)}, {path: (2, 3)}]


def test_nothing_is_kept_of_other_files(tmp_path: Path) -> None:
    with covering(lambda name: False) as coverage:
        is_project("/p/a.py", "/p")
    assert coverage.lines == {}


def test_runs_add_up() -> None:
    one, other = Coverage(), Coverage()
    one.hits, other.hits = {"a": {1}, "b": {2}}, {"a": {3}}
    one.update(other)
    assert one.lines == {"a": (1, 3), "b": (2,)}
