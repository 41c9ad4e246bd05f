"""Lines behind conditions: what decides whether they run is read from the source, and given otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.verify import Outcome, VerifyOptions, verify
from tclint.verify.job import Candidate, Goal
from tclint.verify.preconditions import asked_before
from tclint.verify.spans import outline_of

Project = Callable[[str, str], Path]

LAYER = """
    import torch
    from torch import nn

    def pick(x, mask):
        if mask is not None:
            return x[mask]   # picked
        return x

    class Layer(nn.Module):
        def __init__(self, dim, drop=0.0, kind="plain", keep=True):
            super().__init__()
            self.fc = nn.Linear(dim, dim)
            self.drop = drop
            self.has_drop = drop > 0.0
            self.kind = kind
            self.keep = keep

        def forward(self, x, mask=None):
            x = self.fc(x)
            if self.training and self.has_drop:
                if x.sum() > 0:   # dropped
                    x = -x
            if self.keep:
                return pick(x, mask)
            if self.kind == "turned":
                x = x + x.sum().item()   # turned
            return x + 1   # harmless

    class Net(nn.Module):
        def __init__(self, dim=8, **kwargs):
            super().__init__()
            self.layer = Layer(dim, **kwargs)

        def forward(self, x, mask=None):
            return self.layer(x, mask=mask)
"""


def test_what_the_conditions_before_a_line_ask(project: Project) -> None:
    path = project("layer.py", LAYER)

    def asked(text: str) -> dict[str, tuple[object, ...]]:
        return {one.name: one.values for one in asked_before(str(path), finding_at(path, text).line)}

    assert asked("# dropped") == {"training": (), "has_drop": (), "drop": (0.0,)}
    assert asked("# turned") == {"keep": (), "kind": ("turned",)}
    assert next(iter(asked("# picked"))) == "mask"
    assert "keep" in asked("# picked")
    assert asked("import torch") == {}


def test_a_name_of_a_loop_is_taken_from_its_own_sequence(project: Project) -> None:
    path = project(
        "m.py",
        """
        class Stack:
            def __init__(self, kinds, drop = 0., other = 0., warm = True):
                self.kinds = kinds
                self.register_buffer("started", torch.tensor([warm]))
                self.drops = [drop]
                self.others = [other]

            def forward(self, x):
                both = (self.kinds, self.drops, self.others)
                for index, (kind, chance, _) in enumerate(zip(*both)):
                    if chance > 0.:
                        x = x + 1   # dropped
                for kind, chance in zip(self.kinds, self.others):
                    if chance > 0.:
                        x = x + 2   # paired
                if not self.started:
                    x = x + 3   # started
                return x
        """,
    )

    def asked(text: str) -> set[str]:
        return {one.name for one in asked_before(str(path), finding_at(path, text).line)}

    assert "warm" in asked("# started")
    assert {"drop", "drops"} <= asked("# dropped")
    assert asked("# dropped") & {"index"} == set()
    assert "other" in asked("# paired")


def test_what_is_asked_next_to_a_line_comes_first(project: Project) -> None:
    path = project(
        "m.py",
        """
        class Wrapped:
            def __init__(self, net, heads=1, ends=None, weighed=False):
                self.heads, self.ends, self.weighed = heads, ends, weighed

            def forward(self, x, mask=None, lens=None):
                size, add_weights = x.shape[1], self.weighed
                if lens is not None:
                    mask = lens_to_mask(lens, size)
                if add_weights:
                    if mask is not None:
                        x = x[mask]   # weighed
                return x
        """,
    )
    asked = [one.name for one in asked_before(str(path), finding_at(path, "# weighed").line)]
    # The mask itself before what it is made of; of the two that are bound together, only its own.
    assert asked[:3] == ["mask", "lens", "weighed"]
    assert "heads" not in asked


def test_a_case_is_a_statement_of_its_own() -> None:
    lines = ["def f(x, kind):", "    match kind:", "        case 1:", "            y = x", "        case _:"]
    text = "\n".join([*lines, "            y = x.item()", "    return y", ""])
    assert list(outline_of(text).statement(6, 6)) == [6]
    assert list(outline_of(text).statement(2, 2)) == [2]


@pytest.mark.dynamo
def test_who_holds_a_line_that_is_left(project: Project) -> None:
    from tclint.verify.child.goals import holds_any

    path = project("layer.py", LAYER)
    picked = Goal(str(path), finding_at(path, "# picked").line, finding_at(path, "# picked").line, "graph-break")
    held = {name: holds_any(Candidate(str(path), name), [picked]) for name in ("Net", "Layer", "pick", "Layer.forward")}
    assert held == {"Net": False, "Layer": False, "pick": True, "Layer.forward": False}
    turned = Goal(str(path), finding_at(path, "# turned").line, finding_at(path, "# turned").line, "graph-break")
    assert holds_any(Candidate(str(path), "Layer"), [picked, turned])
    assert not holds_any(Candidate(str(path), "pick"), [turned])


@pytest.mark.dynamo
@pytest.mark.slow
def test_lines_behind_conditions_are_reached(project: Project, tmp_path: Path, torch_python: str) -> None:
    path = project("layer.py", LAYER)
    texts = ("# dropped", "# picked", "# turned", "# harmless")
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    report = verify([finding_at(path, text) for text in texts], options)
    dropped, picked, turned, harmless = report.verdicts
    assert dropped.outcome is Outcome.CONFIRMED, dropped.words
    assert dropped.inputs.endswith("; with drop=0.5")
    assert picked.outcome is Outcome.CONFIRMED, picked.words
    assert "mask=bool[" in picked.inputs
    assert turned.outcome is Outcome.CONFIRMED, turned.words
    assert "kind='turned', keep=False" in turned.inputs
    assert harmless.outcome is Outcome.REFUTED, harmless.words


@pytest.mark.dynamo
@pytest.mark.slow
def test_what_was_made_up_for_a_line_does_not_refute(project: Project, tmp_path: Path, torch_python: str) -> None:
    scaled = "if mask is not None:\n                return x * mask.unsqueeze(-1)   # scaled"
    path = project("layer.py", LAYER.replace("if self.keep:\n                return pick(x, mask)", scaled))
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    verdict = verify([finding_at(path, "# scaled")], options).verdicts[0]
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.words
    assert "made up for this line" in verdict.words


@pytest.mark.dynamo
@pytest.mark.slow
def test_a_generator_is_consumed(project: Project, tmp_path: Path, torch_python: str) -> None:
    text = """
    import torch

    def pieces(x, count: int):
        for _ in range(count):
            x = x + 1
            if x.sum() > 0:   # branch
                yield x
    """
    path = project("pieces.py", text)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    verdict = verify([finding_at(path, "# branch")], options).verdicts[0]
    assert "never ran this line" not in verdict.words, verdict.words


@pytest.mark.dynamo
def test_a_chance_is_also_a_certainty() -> None:
    from tclint.verify.child.arguments import Wanted
    from tclint.verify.child.signatures import Parameter
    from tclint.verify.child.towards import _values
    from tclint.verify.preconditions import Asked

    chance = Parameter("prob_of_points", Parameter.KEYWORD_ONLY, default=0.0)
    wanted = Wanted(chance, float, object, lambda _: iter(()))
    assert list(_values(wanted, Asked("prob_of_points")))[:2] == [0.5, 1]
