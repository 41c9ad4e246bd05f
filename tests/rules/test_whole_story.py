"""A fault of CUDA graphs is told for sure where its whole story is in sight: what is read, what is bound, and on which way."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project

CAPTURE = """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale = torch.ones(4, device="cuda")

    def forward(self, x):
        return self.linear(x) * self.scale

    def renew(self, scale):
        {renew}

def main(layer_scale, wanted):
    layer = Layer().cuda()
    x = torch.zeros(2, 4, device="cuda")
    layer(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = layer(x)
    for scale in layer_scale:
        {call}
        graph.replay()
"""


@pytest.mark.parametrize(
    ("renew", "call", "confidence"),
    [
        ("self.scale = torch.full((4,), scale, device='cuda')", "layer.renew(scale)", "high"),
        # The one who replays says himself when it is done.
        ("self.scale = torch.full((4,), scale, device='cuda')", "if wanted: layer.renew(scale)", "high"),
        ("if fits(scale): self.scale = torch.full((4,), scale, device='cuda')", "layer.renew(scale)", "low"),
    ],
)
def test_a_binding_behind_a_branch_that_nobody_sees(tmp_path: Path, renew: str, call: str, confidence: str) -> None:
    source = PRELUDE + CAPTURE.format(renew=renew, call=call)
    report = Project(tmp_path).write({"m.py": source}).lint(select=["TCL306"], min_confidence="low")
    assert [found.confidence.value for found in report.findings] == [confidence]


GENERATED = """
class Runner:
    def __init__(self, model, x):
        self.x = x
        model(x)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.y = model(x)

    def __call__(self, x):
        self.x.copy_(x)
        self.graph.replay()
        return self.y

def each(runner, batches):
    for x in batches:
        yield runner(x)

def parts(y):
    yield y
    yield y

def main(model, batches):
    runner = Runner(model, torch.zeros(2, 4, device="cuda"))
    {kept}
    return sum(kept)
"""


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ("kept = tuple(runner(x) for x in batches)", True),
        ("kept = list(each(runner, batches))", True),
        ("kept = list(map(runner, batches))", True),
        ("y = runner(batches[0]); kept = tuple(o for o in (y, y))", False),
        ("kept = list(parts(runner(batches[0])))", False),
    ],
)
def test_a_generator_that_runs_nothing_collects_one_run(tmp_path: Path, kept: str, told: bool) -> None:
    project = Project(tmp_path).write({"m.py": PRELUDE + GENERATED.format(kept=kept)})
    assert bool(project.places(select=["TCL307"])) is told
