"""A CUDA graph's output that is copied behind a flag (TCL301): the flag says when a copy is wanted."""

from __future__ import annotations

import pytest
from lintkit import PRELUDE, Project

TILES = """
class Video(nn.Module):
    def __init__(self):
        super().__init__()
        self.compiled = False

    def prepare(self):
        self.stitch = torch.compile(self.stitch, mode="reduce-overhead")
        self.compiled = True

    def stitch(self, tile):
        return tile * 2

    def encode(self, tile):
        stitched = self.stitch(tile)
        {copy}
        return stitched

    def run(self, tiles):
        return torch.cat([self.encode(tile) for tile in tiles])
"""


@pytest.mark.parametrize(
    ("copy", "escapes"),
    [
        ("if self.compiled:\n            stitched = stitched.clone()", False),
        ("if self.compiled:\n            stitched = stitched.detach().clone()", False),
        ("if self.compiled:\n            stitched = stitched.detach()", True),
        ("if tile.dim() == 4:\n            stitched = stitched.clone()", True),
        ("if self.compiled:\n            other = stitched.clone()", True),
        (
            "if self.compiled:\n            stitched = stitched.clone()\n        else:\n            stitched = stitched + 0",
            False,
        ),
    ],
)
def test_a_copy_behind_a_flag(project: Project, copy: str, escapes: bool) -> None:
    project.write({"m.py": PRELUDE + TILES.format(copy=copy)})
    assert [f.code for f in project.lint().findings if f.code == "TCL301"] == ["TCL301"] * escapes
