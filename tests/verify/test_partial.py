"""Calls that raise in the end: what they do before that is heard, and what they do not do says nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.model.finding import Step
from tclint.verify import Outcome, VerifyOptions, verify

Project = Callable[[str, str], Path]

LOSS = """
    import torch
    from torch import nn

    class Loss(nn.Module):
        def forward(self, outputs: list, targets: torch.Tensor):
            count = torch.clamp(targets.sum(), min=1)
            y = targets + 1   # harmless
            count = count.item()   # read
            for output in outputs:
                known = output["masks"]["of the seventh step"]["whom nobody guesses"] + count.nothing()   # raises
            return known
"""


@pytest.mark.dynamo
@pytest.mark.slow
def test_what_happens_before_the_error_is_confirmed(project: Project, tmp_path: Path, torch_python: str) -> None:
    path = project("loss.py", LOSS)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    texts = ("# read", "# harmless", "# raises")
    read, harmless, raises = verify([finding_at(path, text) for text in texts], options).verdicts
    assert read.outcome is Outcome.CONFIRMED, read.words
    assert "item" in read.words
    assert harmless.outcome is Outcome.INCONCLUSIVE, harmless.words
    assert raises.outcome not in (Outcome.CONFIRMED, Outcome.REFUTED), raises.words


@pytest.mark.dynamo
@pytest.mark.slow
def test_a_break_of_another_kind_is_not_what_was_meant(project: Project, tmp_path: Path, torch_python: str) -> None:
    path = project("loss.py", LOSS)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    found = replace(finding_at(path, "# read"), graph_breaks=("GB0170",))
    verdict = verify([found], options).verdicts[0]
    assert verdict.outcome is not Outcome.CONFIRMED, verdict.words


@pytest.mark.dynamo
@pytest.mark.slow
def test_a_line_behind_a_condition_whose_call_raises(project: Project, tmp_path: Path, torch_python: str) -> None:
    text = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, dim=8, watched=False):
            super().__init__()
            self.fc = nn.Linear(dim, dim)
            self.watched = watched

        def forward(self, x):
            x = self.fc(x)
            if self.watched:
                if x.sum() > 0:   # branch
                    x = -x
                x = x.view(7, 7, 7)
            return x
    """
    path = project("net.py", text)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    verdict = verify([finding_at(path, "# branch")], options).verdicts[0]
    assert verdict.outcome is Outcome.CONFIRMED, verdict.words
    assert "watched=True" in verdict.inputs


@pytest.mark.dynamo
def test_a_model_that_is_an_argument_has_the_parts_it_is_asked_for() -> None:
    from tclint.verify.child.amend import Failed, amendments
    from tclint.verify.child.made_up import Through

    def asked(model: Through, name: str) -> Through:
        """The model that is tried next when it was asked for an attribute."""
        with pytest.raises(AttributeError) as raised:
            getattr(model, name)
        given = {"encoder": model, "dim": 4}
        (found,) = amendments(Failed(raised.value, given, given, [], lambda *_: []))
        assert found["dim"] == 4
        return found["encoder"]  # type: ignore[no-any-return]

    encoder = asked(Through(), "neck")
    encoder = asked(encoder, "d_model")
    assert isinstance(encoder.neck, Through)
    assert encoder.neck.d_model == 32
    assert not hasattr(encoder, "trunk")
    assert repr(encoder) != repr(Through())


@pytest.mark.dynamo
def test_lines_of_the_rest_of_a_function_that_nobody_ran_are_not_believed() -> None:
    from tclint.verify.child.experiments import _misplaced
    from tclint.verify.heard import Frame

    rest = Frame("m.py", 9, "torch_dynamo_resume_in_forward_at_9", traced={"m.py": (9, 10, 20), "other.py": (3,)})
    whole = Frame("m.py", 1, "helper", traced={"m.py": (30,)})
    assert _misplaced([rest, whole], {"m.py": (9, 10, 15)}) == {("m.py", 20)}
    assert not _misplaced([replace(rest, name="forward"), whole], {"m.py": (9, 10, 15)})


@pytest.mark.dynamo
@pytest.mark.slow
def test_arguments_made_up_for_a_helper_refute_nothing(project: Project, tmp_path: Path, torch_python: str) -> None:
    text = """
    from torch import nn

    class Drawn(nn.Module):
        def __init__(self, archive):
            super().__init__()
            self.order = archive.sealed["order"][0].drawn()

        def forward(self, x):
            return x + len(repeated(2, self.order.draw()))

    def repeated(first: int, times: int):
        return [first] * times   # by what was drawn
    """
    path = project("drawn.py", text)
    finding = finding_at(path, "# by what was drawn")
    head = Step("drawn.py", finding_at(path, "return x + len").line, "Drawn.forward")
    chain = (head, Step("drawn.py", finding.line, "repeated"))
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    verdict = verify([replace(finding, chain=chain, function="repeated")], options).verdicts[0]
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.words
    assert verify([replace(finding, function="repeated")], options).verdicts[0].outcome is Outcome.REFUTED
