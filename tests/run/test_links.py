"""Which files belong together, going by their imports."""

from __future__ import annotations

from tclint.program import Program
from tclint.run.links import Components, Runs, alone, links_of
from tclint.sources.glance import glance

SOURCES = {
    "train.py": b"from model import Net\nimport helpers as h\nimport torch\nnet = torch.compile(Net())\n",
    "model.py": b"import torch\nfrom layers import *\n\nclass Net(torch.nn.Module):\n    def forward(self, x): return x\n",
    "layers.py": b"x = 1\n",
    "helpers.py": b"import os\n",
    "other.py": b"import nothing_here\n",
}
PROGRAM = Program.build([(path, f"/p/{path}", data, True) for path, data in SOURCES.items()])
MODULES = {module.path: module for module in PROGRAM.modules}


def test_what_a_file_names() -> None:
    assert links_of(MODULES["train.py"]) == ("model.py", "helpers.py")
    assert links_of(MODULES["model.py"]) == ("layers.py",)
    assert links_of(MODULES["layers.py"]) == ()


def test_a_broken_file_names_the_same_once_somebody_has_tried_to_parse_it() -> None:
    files = {"broken.py": b"import helpers\n\ndef f():\n    return 1\n        return 2\n", "helpers.py": b""}
    program = Program.build([(path, f"/p/{path}", data, True) for path, data in files.items()])
    broken = program.modules[0]
    before = links_of(broken)
    assert not broken.names
    assert broken.problem is not None
    assert links_of(broken) == before == ("helpers.py",)


def test_files_that_are_linked_belong_together() -> None:
    together = Components({path: links_of(module) for path, module in MODULES.items()})
    groups: dict[str, set[str]] = {}
    for path in SOURCES:
        groups.setdefault(together.of(path), set()).add(path)
    assert sorted(map(sorted, groups.values())) == [["helpers.py", "layers.py", "model.py", "train.py"], ["other.py"]]


def test_a_file_stands_alone_that_no_root_and_no_site_mentions() -> None:
    glances = {path: glance(data, (), ()) for path, data in SOURCES.items()}
    parts = [[module] for module in PROGRAM.modules]
    assert alone(parts, PROGRAM.modules, glances) == {"train.py", "other.py"}


def test_files_that_every_run_gets_to_by_way_of_another_one() -> None:
    runs = Runs(
        {
            "a.py": ["setup.py", "lib.py", "mine.py"],
            "b.py": ["lib.py"],
            "lib.py": ["deep.py"],
            "deep.py": [],
            "mine.py": [],
            "setup.py": [],
            "test_mine.py": ["mine.py"],
            "left.py": ["right.py"],
            "right.py": ["left.py"],
        }
    )
    assert runs.always(["setup.py"]) == {"a.py", "mine.py", "setup.py", "test_mine.py"}
    assert runs.always(["a.py"]) == {"a.py", "mine.py", "setup.py", "test_mine.py"}
    assert runs.always(["lib.py"]) >= {"a.py", "b.py", "lib.py", "deep.py"}
    assert not runs.always(["lib.py"]) & {"left.py", "right.py"}
    assert runs.always(["left.py"]) >= {"left.py", "right.py"}
