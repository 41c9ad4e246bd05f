"""The parts of a run: how files are divided, what a part gives, what of it is still to be entered."""

from __future__ import annotations

import pytest

from tclint.model.finding import Confidence, Effect, Finding, Severity, Span
from tclint.model.report import Problem
from tclint.model.settings import Settings
from tclint.program import Program, reads
from tclint.run.knowledge import Lesson
from tclint.run.parts import Part, PartRunner, divided
from tclint.run.results import Entered, EnteredFile, Found, Result, Root, Sites

NETS = b"""
import torch
from torch import nn

class Inner(nn.Module):
    def forward(self, x):
        return x.relu()

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)

class Plain:
    def forward(self, x):
        return x
"""


@pytest.mark.parametrize(("count", "size"), [(1, 1), (479, 1), (480, 2), (999, 3), (1000, 31), (5000, 64)])
def test_neighbours_are_divided_evenly(count: int, size: int) -> None:
    parts = list(divided(range(count)))
    assert [item for part in parts for item in part] == list(range(count))
    assert {len(part) for part in parts[:-1]} <= {size}
    assert len(parts[-1]) <= size


def test_a_part_is_known_by_what_it_enters() -> None:
    one = Part("roots", ("a.py", "b.py"), (("A",), ("B", "C")))
    assert one.key == Part("roots", ("a.py", "b.py"), (("A",), ("B", "C"))).key
    assert one.key != Part("roots", ("a.py", "b.py"), (("A", "B"), ("C",))).key
    assert one.key != Part("outermost", ("a.py", "b.py")).key


def test_roots_are_left_where_nothing_reached_them() -> None:
    place = ("m.py", "B.forward", 9)
    file = EnteredFile(None, (Root(0, "A", None), Root(1, "B", place), Root(2, "C", None)), entered=(0,), alone=False)
    assert file.roots_left(set()) == (1, 2)
    assert file.roots_left({place}) == (2,)


def test_results_are_the_same_after_packing() -> None:
    finding = Finding("TCL101", "n", "m.py", Span(1, 2, 3, 4), "m", Effect.GRAPH_BREAK, Severity.HIGH, Confidence.LOW)
    result = Result(
        [Found(finding, ("digest", 1, 2))],
        [Problem("m.py", 1, "TCL904", "deep")],
        {("m.py", "f", 3)},
        [("m.py", 4, "torch.compile(f)", "default")],
        {("m.py", 4): {("m.py", "f", 3)}},
    )
    again = Result.unpacked(result.packed())
    assert [each.brief for each in again.found] == [each.brief for each in result.found]
    assert again == result
    file = EnteredFile(Problem("m.py", 1, "TCL903", "syntax"), (Root(0, "A", ("m.py", "A.forward", 2)),), (0,), True)
    assert Entered.unpacked(Entered([file], result).packed()) == Entered([file], result)
    sites = Sites(result, ["m.py"], ["n.py"], [Lesson(("m.py",), "digest")])
    assert Sites.unpacked(sites.packed()) == sites


def runner(**sources: bytes) -> PartRunner:
    files = [(f"{name}.py", f"/p/{name}.py", data, True) for name, data in sources.items()]
    return PartRunner(Program.build(files), Settings(), [], [])


def test_outermost_roots_are_entered_and_reach_what_they_build() -> None:
    run = runner(nets=NETS)
    run.built = {"Inner"}
    entered = run.run(Part("outermost", ("nets.py",)))
    assert isinstance(entered, Entered)
    (file,) = entered.files
    assert [root.name for root in file.roots] == ["Inner", "Outer"]
    assert [file.roots[1].address] == list(file.entered)
    assert {name for _, name, _ in entered.result.reached} == {"Outer.forward", "Inner.forward"}
    assert file.roots_left(entered.result.reached) == ()


def test_a_part_reads_no_more_than_it_reaches() -> None:
    run = runner(nets=NETS, other=NETS)
    with run.program.watched() as touched:
        run.run(Part("roots", ("nets.py",), (("Inner", "Outer"),)))
    assert {path for path, _ in reads(touched)} == {"nets.py"}


def test_sites_say_what_is_compiled_and_what_nobody_knows() -> None:
    run = runner(
        nets=NETS,
        known=b"import torch\nfrom nets import Outer\nnet = torch.compile(Outer())\n",
        unknown=b"import torch\n\ndef wrap(thing):\n    return torch.compile(thing)\n",
    )
    eager = [module for module in run.program.modules if module.path != "nets.py"]
    run.find_sites(eager)
    sites = run.compiled()
    assert sites.precise == ["known.py"]
    assert sites.unresolved == ["unknown.py"]
    assert {(path, line) for path, line, _, _ in sites.result.sites} == {("known.py", 3), ("unknown.py", 4)}
    assert ("nets.py", "Outer.forward") in {place[:2] for place in sites.result.reach["known.py", 3]}
