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


LEFT = """
class Meter:
    def __init__(self, like):
        self.total = torch.zeros_like(like)

    def add(self, x):
        {left}

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.meter = Meter(torch.ones(2, 4, device="cuda"))

    def forward(self, x, meter):
        {made}
        x = self.linear(x)
        {meter}.add(x)
        return x

model = torch.compile(Model().cuda(), mode="reduce-overhead")

@torch.no_grad()
def main(batches):
    for x in batches:
        model(x.cuda(), Meter(x.cuda()))
"""


@pytest.mark.parametrize(
    ("left", "made", "meter", "confidence"),
    [
        ("self.total = self.total + x", "pass", "self.meter", ["high"]),
        ("self.total = self.total + x", "pass", "meter", ["low"]),
        ("self.total = self.total + x", "own = Meter(x)", "own", []),
        ("self.total = (self.total + x).cpu()", "pass", "self.meter", []),
    ],
)
def test_what_compiled_code_leaves_on_an_object_that_the_next_call_sees(
    tmp_path: Path, left: str, made: str, meter: str, confidence: list[str]
) -> None:
    source = PRELUDE + LEFT.format(left=left, made=made, meter=meter)
    report = Project(tmp_path).write({"m.py": source}).lint(select=["TCL301"], min_confidence="low")
    assert [found.confidence.value for found in report.findings] == confidence


@pytest.mark.parametrize(
    ("moved", "told"),
    [("w.to(x.device)", True), ("w.to(torch.float64, True)", False), ("w.to(dtype=torch.float64)", False)],
)
def test_a_cast_moves_nothing(tmp_path: Path, moved: str, told: bool) -> None:
    source = f"""
@torch.compile(mode="reduce-overhead")
def scaled(x, w):
    return x * {moved}

def main():
    return scaled(torch.ones(4, device="cuda"), torch.linspace(0, 1, 4))
"""
    project = Project(tmp_path).write({"m.py": PRELUDE + source})
    assert any("moved" in found.message for found in project.lint(select=["TCL304"]).findings) is told


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ("self.linear(x)[:1]", True),
        ("torch.ones(1, 4, device=x.device)", False),
        ("torch.ones(1, 4, device=x.device, requires_grad=True)", True),
        ("torch.cat([torch.ones(1, 4), torch.zeros(1, 4)]).to(x.device) * 2", False),
        ("torch.ones(1, 4, device=x.device) * self.linear.weight[:1]", True),
        ("blank", False),
        ("filled", True),
    ],
)
def test_what_a_factory_makes_has_no_gradient(tmp_path: Path, stored: str, told: bool) -> None:
    source = f"""
class Put(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x, mask):
        rows = x.clone()
        blank, filled = torch.zeros(1, 4), torch.zeros(1, 4)
        filled[:1] = self.linear(x)[:1]
        rows[mask == 1] = {stored}
        return rows

put = torch.compile(Put())
put(torch.ones(2, 4), torch.tensor([1, 0]))
"""
    project = Project(tmp_path).write({"m.py": PRELUDE + source})
    assert bool(project.places(select=["TCL302"])) is told
