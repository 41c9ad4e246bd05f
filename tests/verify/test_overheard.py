"""Calls that a project's own tests make: in loops and helpers, with the parameters that they are marked with."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.verify import Outcome, Verdict, VerifyOptions, suites, verify

Project = Callable[[str, str], Path]

PARTS = """
    import torch
    from torch import nn

    class Ticket:
        def __init__(self, secret):
            self.secret = secret

    class Turnstile(nn.Module):
        def __init__(self, ticket):
            super().__init__()
            self.fc = nn.Linear(4, 4)
            self.open = ticket.secret == 40 + 2

        def forward(self, x, ticket, *, late=None):
            x = self.fc(x)
            if not self.open or ticket.secret != 42:
                return x
            if late == "very":
                return x + x.sum().item()   # late
            return x[x > 0]   # chosen

        def half(self, x):
            if not self.open:
                return x
            return x + 1   # harmless
"""
SUITE = """
    import os

    import pytest
    import torch
    from parts import Ticket, Turnstile

    param = pytest.mark.parametrize

    def made(secret):
        return Turnstile(Ticket(secret))

    @param("late", (None, "very"))
    @param("secret", [7, pytest.param(42)])
    def test_passes(secret, late):
        if os.fork() == 0:
            os._exit(0)
        for gate in [made(7), made(secret)]:
            gate(torch.randn(3, 4), Ticket(secret), late=late)
        assert gate.half(torch.randn(3, 4)).shape == (3, 4)

    def test_with_a_fixture(tmp_path):
        made(42)(torch.randn(3, 4), Ticket(42))
"""


@pytest.fixture
def parts(project: Project) -> Path:
    path = project("parts.py", PARTS)
    (path.parent / "test_parts.py").write_text(textwrap.dedent(SUITE), encoding="utf-8")
    return path


def _verdict(path: Path, text: str, python: str) -> Verdict:
    options = VerifyOptions(python=python, root=str(path.parent), timeout=200, keep=True)
    return verify([finding_at(path, text)], options).verdicts[0]


@pytest.mark.dynamo
@pytest.mark.slow
def test_the_call_of_a_test_that_gets_to_the_line_is_kept(parts: Path, torch_python: str) -> None:
    verdict = _verdict(parts, "# chosen", torch_python)
    assert verdict.outcome is Outcome.CONFIRMED, verdict.words
    assert "test_passes, secret=42" in verdict.inputs


@pytest.mark.dynamo
@pytest.mark.slow
def test_each_set_of_a_tests_parameters_is_tried(parts: Path, torch_python: str) -> None:
    verdict = _verdict(parts, "# late", torch_python)
    assert verdict.outcome is Outcome.CONFIRMED, verdict.words
    assert "late='very'" in verdict.inputs


@pytest.mark.dynamo
@pytest.mark.slow
def test_what_a_test_calls_refutes_as_the_programs_own_calls_do(parts: Path, torch_python: str) -> None:
    verdict = _verdict(parts, "# harmless", torch_python)
    assert verdict.outcome is Outcome.REFUTED, verdict.words


def test_tests_are_found_by_what_they_name(parts: Path) -> None:
    root = str(parts.parent)
    assert [test.name for test in suites.naming(["Turnstile"], root)] == ["test_passes", "test_with_a_fixture"]
    assert [test.name for test in suites.naming(["half", "Ticket"], root)] == ["test_passes", "test_with_a_fixture"]
    assert not list(suites.naming(["Turn"], root))


@pytest.mark.dynamo
def test_the_first_and_the_last_set_come_first() -> None:
    from tclint.verify.child.overheard import _sets

    marks = [pytest.mark.parametrize(("a", "b"), [(1, 2), (3, 4)]).mark, pytest.mark.parametrize("c", [5, 6, 7]).mark]
    found = list(_sets(marks))
    assert found[:2] == [{"a": 1, "b": 2, "c": 5}, {"a": 3, "b": 4, "c": 7}]
    assert {"a": 1, "b": 2, "c": 6} in found


@pytest.mark.dynamo
@pytest.mark.slow
def test_what_a_script_makes_is_made_though_its_data_are_not_here(
    project: Project, tmp_path: Path, torch_python: str
) -> None:
    model = """
    from torch import nn

    class Coder(nn.Module):
        def __init__(self, table):
            super().__init__()
            self.fc = nn.Linear(8, table["wide"]["open"][0])

        def forward(self, x):
            y = self.fc(x)
            return y + y.sum().item()   # read
    """
    script = """
    from coder import Coder

    def train(path="/no/such/data", wide=16):
        model = Coder({"wide": {"open": [wide]}})
        for batch in open(path):
            loss = model(batch)
    """
    path = project("coder.py", model)
    project("train.py", script)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    verdict = verify([finding_at(path, "# read")], options).verdicts[0]
    assert verdict.outcome is Outcome.CONFIRMED, verdict.words
    assert verdict.inputs.startswith("made as in train.py")


@pytest.mark.dynamo
@pytest.mark.slow
def test_what_a_repeated_script_defines_has_a_module(project: Project, tmp_path: Path, torch_python: str) -> None:
    model = """
    from torch import nn

    class Scaled(nn.Module):
        def __init__(self, scale):
            super().__init__()
            self.scale = scale

        def forward(self, x):
            y = self.scale(x)
            return y + y.sum().item()   # read
    """
    script = """
    import sys

    import torch
    from scaled import Scaled

    factor = torch.ones(3)

    def twice(x):
        assert vars(sys.modules[twice.__module__])["twice"] is not None
        return x * factor * 2

    scaled = Scaled(twice)
    scaled(torch.randn(2, 3))
    """
    path = project("scaled.py", model)
    project("example_scaled.py", script)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    verdict = verify([finding_at(path, "# read")], options).verdicts[0]
    assert verdict.outcome is Outcome.CONFIRMED, verdict.words
    assert verdict.inputs.startswith("as in example_scaled.py")


@pytest.mark.dynamo
def test_a_function_in_a_function_is_kept_with_what_it_closes_over() -> None:
    """The optimizer that a step closes over holds the parameters of the model that it closes over."""
    import torch

    from tclint.verify.child.inputs import on_device
    from tclint.verify.child.overheard import _closed_over, _inside, _Keeper, _perform, _restored
    from tclint.verify.job import Goal

    def maker(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Callable[[torch.Tensor], torch.Tensor]:
        def step(x: torch.Tensor) -> torch.Tensor:
            loss: torch.Tensor = model(x).sum()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            return loss

        return step

    line = maker.__code__.co_firstlineno + 3
    (inner,) = _inside(maker.__code__, [Goal(__file__, line, line, "graph-break")])
    assert _inside(maker.__code__, [Goal(__file__, line + 99, line + 99, "graph-break")]) == []
    model = torch.nn.Linear(2, 1)
    keeper = _Keeper(inner, _closed_over, 0)
    _perform(lambda: maker(model, torch.optim.SGD(model.parameters(), lr=1.0))(torch.ones(1, 2)), keeper)
    assert keeper.found is not None
    example = _restored("here", *keeper.found)
    (call,) = example.calls()
    step = example.build()
    first, second = (step(*call.args).item() for _ in range(2))
    assert second == pytest.approx(first - 3.0, abs=1e-5)  # the weights of the copy moved, by one each, and its bias
    assert model.weight.grad is None
    assert example.build()(*call.args).item() == first
    assert on_device(example.build(), "meta").__closure__[0].cell_contents.weight.is_meta  # no argument holds the model


@pytest.mark.dynamo
def test_what_was_kept_is_moved_with_all_that_it_holds() -> None:
    import torch

    from tclint.verify.child.inputs import Call, Example, moved_whole

    class Holder(torch.nn.Linear):
        def __init__(self) -> None:
            super().__init__(2, 2)
            self.table = [torch.ones(2)]
            self.count = 3

    example = moved_whole(Example("here", Holder, lambda: [Call((Holder(),), {"other": torch.ones(1)})]), "meta")
    (call,) = example.calls()
    assert call.args[0].weight.is_meta
    assert call.args[0].table[0].is_meta
    assert call.args[0].count == 3
    assert call.kwargs["other"].is_meta


@pytest.mark.dynamo
def test_a_place_that_sets_what_is_asked_is_repeated(project: Project, tmp_path: Path) -> None:
    from tclint.verify.child.replay import USES, _uses
    from tclint.verify.job import Candidate, Goal, Job

    text = """
        class Net:
            def __init__(self, width=1, gated=False):
                self.gated = gated

            def forward(self, x):
                if self.gated:
                    x = x[x > 0]   # gated
                return x
    """
    path = project("net.py", text)
    calls = [f"Net(width={number})" for number in range(USES)]
    project("test_net.py", "from net import Net\n" + "\n".join([*calls, "Net(gated=True)"]) + "\n")
    project("src/app/train.py", "from net import Net\nNet(gated=True)\n")
    line = finding_at(path, "# gated").line
    candidate = Candidate(str(path), "Net")
    uses = _uses(Job(str(tmp_path), (candidate,), (Goal(str(path), line, line, "graph-break"),)), candidate, "Net")
    # The simplest, then the one of the tests; what only the program does comes after all that is shown to work.
    assert [use.line for use in uses] == [2, 3, 4, USES + 2, 5, 6]
    assert {Path(use.path).name for use in uses} == {"test_net.py"}


@pytest.mark.dynamo
def test_a_process_that_is_alone_can_send_to_itself() -> None:
    import torch
    from torch import distributed

    from tclint.verify.child.alone import found_missing

    def sent() -> torch.Tensor:
        got = torch.zeros(2)
        ways = ((distributed.isend, torch.ones(2)), (distributed.irecv, got))
        for work in distributed.batch_isend_irecv([distributed.P2POp(way, held, 0) for way, held in ways]):
            work.wait()
        return got

    try:
        assert found_missing(ValueError("Default process group has not been initialized"))
        with pytest.raises(RuntimeError, match="not connected") as failed:
            sent()
        assert found_missing(failed.value)
        assert sent().shape == (2,)
        assert not found_missing(failed.value)  # there is nothing more to find
    finally:
        distributed.destroy_process_group()


@pytest.mark.dynamo
def test_a_call_that_computes_gradients_itself_is_repeated() -> None:
    import torch

    from tclint.verify.child.inputs import Call
    from tclint.verify.child.replay import _run_once

    model = torch.nn.Linear(2, 1)
    _run_once(lambda x: model(x).sum().backward(), Call((torch.ones(1, 2),)))
    assert model.weight.grad is not None
    seen = []
    _run_once(lambda x: seen.append(model(x).requires_grad), Call((torch.ones(1, 2),)))
    assert seen == [False]  # who does not is spared them
