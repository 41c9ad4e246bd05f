"""Verdicts from what a child heard, without torch."""

from __future__ import annotations

from dataclasses import replace

import pytest
from verify_helpers import finding_on

from tclint.model import codec
from tclint.model.finding import Effect, Finding, Step
from tclint.verify.heard import Break, Cut, Fault, Frame, Graphs, Heard, Run, with_paths
from tclint.verify.judgement import verdicts_of
from tclint.verify.missed import missed_of
from tclint.verify.spans import Outline, outline_of
from tclint.verify.verdict import Outcome, Verdict

SOURCE = """\
class Model:
    def forward(self, x):
        y = x + 1
        print(
            "a",
        )
        for i in range(2):
            y = y + y.item()
        return helper(y)

def helper(y):
    if y.sum() > 0:
        return y
    return -y
"""
OUTLINE = outline_of(SOURCE)


def outlines(path: str) -> Outline:
    return OUTLINE if path == "m.py" else Outline()


def heard(**changes: object) -> Heard:
    run = Run(
        experiment="breaks",
        label="train",
        source="get_inputs()",
        dtype="float32",
        covered={"m.py": (3, 4, 5, 7, 8, 9, 12, 13)},
        traced={"m.py": (2, 3, 4, 5, 7, 8, 11, 12, 13)},
        breaks=(
            Break("m.py", 5, "print", "Dynamo does not know print", "GB0059", (Step("m.py", 5, "forward"),)),
            Break("m.py", 8, "item", "no item()", "GB0124", (Step("m.py", 8, "forward"),), skips=True),
        ),
    )
    return Heard(torch="2.13.0", device="cpu", runs=(replace(run, **changes),))  # type: ignore[arg-type]


def verdict(finding: Finding, of: Heard, *more: Finding) -> Verdict:
    return verdicts_of([finding, *more], of, outlines)[0]


def test_a_break_in_the_span_confirms_with_dynamos_words() -> None:
    found = verdict(finding_on("m.py", 8), heard())
    assert found.outcome is Outcome.CONFIRMED
    assert found.words == "item: no item() (the whole function runs in eager mode)"
    assert (found.gb_id, found.torch, found.device, found.dtype) == ("GB0124", "2.13.0", "cpu", "float32")
    assert found.inputs == "get_inputs()"


def test_a_break_elsewhere_in_the_statement_confirms() -> None:
    assert verdict(finding_on("m.py", 4), heard()).outcome is Outcome.CONFIRMED


def test_a_break_that_another_finding_claims_does_not() -> None:
    first, second = verdicts_of([finding_on("m.py", 4), finding_on("m.py", 5)], heard(), outlines)
    assert (first.outcome, second.outcome) == (Outcome.REFUTED, Outcome.CONFIRMED)


def test_a_traced_line_without_a_break_is_refuted() -> None:
    assert verdict(finding_on("m.py", 3), heard()).outcome is Outcome.REFUTED


def test_a_break_of_dynamic_shapes_is_not_refuted_by_calls_of_one_size() -> None:
    finding = replace(finding_on("m.py", 3), message="a comparison of sizes: with dynamic shapes a SymBool")
    assert verdict(finding, heard(breaks=())).outcome is Outcome.INCONCLUSIVE
    swept = heard(breaks=(), experiment="recompiles", varied=("size",))
    assert verdict(finding, swept).outcome is Outcome.REFUTED
    broken = Break("m.py", 3, "bool", "not SymBool", "GB0001", (Step("m.py", 3, "forward"),))
    assert (
        verdict(finding, heard(breaks=(broken,), experiment="recompiles", varied=("size",))).outcome
        is Outcome.CONFIRMED
    )


def test_a_line_behind_a_break_is_not_reached() -> None:
    found = verdict(finding_on("m.py", 9), heard())
    assert found.outcome is Outcome.NOT_REACHED
    assert "behind another break" in found.words


def test_a_line_that_never_ran_is_not_reached() -> None:
    found = verdict(finding_on("m.py", 14), heard())
    assert found.outcome is Outcome.NOT_REACHED
    assert "never ran" in found.words


def test_a_break_in_a_library_belongs_to_the_users_line() -> None:
    inside = Break("/lib/x.py", 70, "k", "w", "", (Step("m.py", 12, "helper"), Step("/lib/x.py", 70, "f")))
    assert verdict(finding_on("m.py", 12), heard(breaks=(inside,))).outcome is Outcome.CONFIRMED


def test_a_break_in_a_helper_does_not_belong_to_the_call() -> None:
    inside = Break("m.py", 12, "k", "w", "", (Step("m.py", 9, "forward"), Step("m.py", 12, "helper")))
    found = heard(breaks=(inside,), traced={"m.py": (9, 12)})
    assert verdict(finding_on("m.py", 9), found).outcome is Outcome.REFUTED


def test_an_echo_at_the_def_line_is_nobodys_break() -> None:
    echo = Break("m.py", 11, "functorch", "", "GB0149", (Step("m.py", 11, "helper"),), skips=True)
    real = Break("m.py", 12, "item", "", "GB0124", (Step("m.py", 12, "helper"),))
    told = heard(breaks=(echo, real))
    assert verdict(finding_on("m.py", 11), told).outcome is not Outcome.CONFIRMED
    assert [item.line for item in missed_of([], [told], outlines)] == [12]


def test_a_compile_error_on_the_line_confirms() -> None:
    fault = Fault("compiled", "AssertionError", "Attempt to trace forbidden callable", (Step("m.py", 3, "forward"),))
    found = verdict(finding_on("m.py", 3, Effect.ERROR), heard(fault=fault, breaks=()))
    assert found.outcome is Outcome.CONFIRMED
    assert "forbidden callable" in found.words


def test_lines_after_a_compile_error_are_not_reached() -> None:
    fault = Fault("compiled", "AssertionError", "forbidden", (Step("m.py", 3, "forward"),))
    found = verdict(finding_on("m.py", 13), heard(fault=fault, breaks=(), traced={"m.py": (2, 3)}))
    assert found.outcome is Outcome.NOT_REACHED


@pytest.mark.parametrize(
    ("kind", "message", "words", "hint"),
    [
        ("ModuleNotFoundError", "No module named 'einops.x'", "a package is missing: einops.x", "pip install einops"),
        ("URLError", "<urlopen error>", "it needs a network", "downloads nothing"),
        ("RuntimeError", "[enforce fail] can't allocate memory: 9", "out of memory", "--memory"),
        ("TypeError", "missing 1 required", "does not run in eager mode either", "@tclint.example"),
    ],
)
def test_what_never_ran_says_why(kind: str, message: str, words: str, hint: str) -> None:
    found = verdict(finding_on("m.py", 3), Heard(faults=(Fault("eager", kind, message),)))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert words in found.words
    assert hint in found.hint


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("    if kéy and p > 0 and FLAGGED():", Outcome.NOT_REACHED),
        ("    if FLAGGED() and p > 0:", Outcome.REFUTED),
        ("    y = FLAGGED() if p else 0", Outcome.NOT_REACHED),
        ("    y = 1 if FLAGGED() else 0", Outcome.REFUTED),
        ("    y = [FLAGGED(v) for v in p]", Outcome.NOT_REACHED),
        ("    y = [v for v in FLAGGED(p)]", Outcome.REFUTED),
        ("    assert p, FLAGGED()", Outcome.NOT_REACHED),
        ("    y = 0 < p < FLAGGED()", Outcome.NOT_REACHED),
        ("    y = 0 < FLAGGED()", Outcome.REFUTED),
    ],
)
def test_a_line_that_ran_says_nothing_of_what_stands_behind_its_condition(line: str, outcome: Outcome) -> None:
    outline = outline_of(f"def f(p):\n{line}\n{'        return 1' if line.endswith(':') else ''}\n")
    flagged = finding_on("m.py", 2)
    flagged = replace(flagged, span=replace(flagged.span, column=line.index("FLAGGED") + 1))
    of = heard(breaks=(), traced={"m.py": (1, 2)})
    (found,) = verdicts_of([flagged], of, lambda path: outline)
    assert found.outcome is outcome, found.words


def test_trouble_is_inconclusive() -> None:
    found = verdict(finding_on("m.py", 3), Heard(trouble="still running after 3 s: stopped"))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "--timeout" in found.hint


def recompiles(count: int, expected: int = 2) -> Heard:
    guard = (
        '0/0: self.step == 1   # y = x + 1  # m.py:3 in forward\nUser stack trace:\n  File "m.py", line 3, in forward'
    )
    frame = Frame("m.py", 2, "forward", count, (guard,), {"m.py": (2, 3, 4)})
    return heard(experiment="recompiles", frames=(frame,), expected=expected, calls=6, breaks=())


def test_a_function_compiled_too_often_confirms_with_its_guard() -> None:
    found = verdict(finding_on("m.py", 3, Effect.RECOMPILE), recompiles(5))
    assert found.outcome is Outcome.CONFIRMED
    assert found.words == "forward was compiled 5 times over 6 calls: self.step == 1"


def test_calls_that_nobody_counted_are_not_told_as_none() -> None:
    """A trace holds what was compiled, not how often it was called."""
    traced = replace(recompiles(5), runs=tuple(replace(run, calls=0) for run in recompiles(5).runs))
    found = verdict(finding_on("m.py", 3, Effect.RECOMPILE), traced)
    assert (found.outcome, found.words) == (Outcome.CONFIRMED, "forward was compiled 5 times: self.step == 1")
    once = replace(recompiles(1), runs=tuple(replace(run, calls=0) for run in recompiles(1).runs))
    assert "0 calls" not in verdict(finding_on("m.py", 3, Effect.RECOMPILE), once).words


def test_settling_is_no_recompile() -> None:
    assert verdict(finding_on("m.py", 3, Effect.RECOMPILE), recompiles(2)).outcome is Outcome.REFUTED
    assert verdict(finding_on("m.py", 3, Effect.RECOMPILE), recompiles(3, 3)).outcome is Outcome.REFUTED


def test_the_same_call_over_and_over_refutes_nothing_about_arguments() -> None:
    sized = replace(finding_on("m.py", 3, Effect.RECOMPILE), message="`x` comes in several sizes")
    alike = replace(recompiles(1).runs[0], alike=True, source="factory makers:make")
    found = verdict(sized, Heard(runs=(alike,)))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.words == "these calls do not vary x"
    assert found.hint == "let factory makers:make give calls that differ as the program's do"
    assert verdict(sized, Heard(runs=(replace(alike, alike=False),))).outcome is Outcome.REFUTED
    # What a module does to itself happens in every call.
    own = replace(sized, message="`self.step` is written in every call")
    assert verdict(own, Heard(runs=(alike,))).outcome is Outcome.REFUTED


def test_an_example_is_asked_for_where_there_is_no_factory() -> None:
    found = verdict(finding_on("m.py", 40), heard(covered={"m.py": (3,)}))
    assert found.hint == "register an example whose calls run this line with @tclint.example"
    found = verdict(finding_on("m.py", 40), heard(covered={"m.py": (3,)}, source="factory makers:make"))
    assert found.hint == "let factory makers:make give calls that run this line"


def test_another_functions_recompile_does_not_confirm() -> None:
    assert verdict(finding_on("m.py", 12, Effect.RECOMPILE), recompiles(5)).outcome is Outcome.REFUTED


@pytest.mark.parametrize("outcome", ["error", "wrong", "skip", "partition", "rerecord"])
def test_cuda_graph_faults_confirm(outcome: str) -> None:
    graphs = Graphs(outcome, "what torch said")
    found = verdict(finding_on("m.py", 3, Effect.CUDAGRAPH), heard(experiment="cudagraphs", graphs=graphs))
    assert (found.outcome, found.words) == (Outcome.CONFIRMED, "what torch said")


def test_a_skipped_graph_is_no_overwritten_output() -> None:
    claims = {
        "the next run overwrites it": ("error", "wrong"),
        "each variation records a new graph": ("rerecord", "skip"),
    }
    for message, meant in claims.items():
        finding = replace(finding_on("m.py", 3, Effect.CUDAGRAPH), message=message)
        for outcome in ("error", "wrong", "skip", "partition", "rerecord"):
            found = verdict(finding, heard(experiment="cudagraphs", graphs=Graphs(outcome, "torch's words"), calls=5))
            is_meant = outcome in meant or (outcome == "partition" and "records" in message)
            assert found.outcome is (Outcome.CONFIRMED if is_meant else Outcome.INCONCLUSIVE), (message, outcome)
            assert found.words.endswith("torch's words")


def test_of_several_breaks_on_a_line_the_one_that_is_meant_is_told() -> None:
    both = tuple(Break("m.py", 3, name, f"no {name}", name) for name in ("GB0033", "GB0156"))
    finding = replace(finding_on("m.py", 3), graph_breaks=("GB0156",))
    assert verdict(finding, heard(breaks=both)).words.endswith("no GB0156")
    assert verdict(replace(finding, graph_breaks=()), heard(breaks=both)).words.endswith("no GB0033")


def test_an_operation_kept_out_of_the_graph_confirms_its_own_line_only() -> None:
    """Also where no graph has more than one part, as behind a break."""
    cut = Cut("Inductor keeps aten.index_put_ out of the CUDA graph", (Step("m.py", 3, "forward"),))
    told = heard(experiment="cudagraphs", graphs=Graphs("fine", cuts=(cut,)), calls=5, breaks=())
    found = verdict(finding_on("m.py", 3, Effect.CUDAGRAPH), told)
    assert (found.outcome, found.words) == (Outcome.CONFIRMED, cut.words)
    assert verdict(finding_on("m.py", 4, Effect.CUDAGRAPH), told).outcome is Outcome.REFUTED
    assert codec.decode(Heard, codec.encode(told)) == told


def test_cuda_graphs_that_are_fine_refute() -> None:
    fine = heard(experiment="cudagraphs", graphs=Graphs("fine"), calls=5)
    assert verdict(finding_on("m.py", 3, Effect.CUDAGRAPH), fine).outcome is Outcome.REFUTED
    once = heard(experiment="cudagraphs", graphs=Graphs("fine"), calls=1)
    assert verdict(finding_on("m.py", 3, Effect.CUDAGRAPH), once).outcome is Outcome.INCONCLUSIVE
    own_loop = heard(experiment="cudagraphs", graphs=Graphs("fine", runs=6), calls=1)
    found = verdict(finding_on("m.py", 3, Effect.CUDAGRAPH), own_loop)
    assert (found.outcome, found.words.partition(":")[0]) == (Outcome.REFUTED, "6 steps kept and read again")
    assert verdict(finding_on("m.py", 14, Effect.CUDAGRAPH), fine).outcome is Outcome.NOT_REACHED


def test_silent_findings_need_differing_values() -> None:
    finding = finding_on("m.py", 3, Effect.SILENT)
    assert verdict(finding, heard(differs="output[0] differs")).outcome is Outcome.CONFIRMED
    assert verdict(finding, heard()).outcome is Outcome.INCONCLUSIVE


def test_eager_code_that_was_compiled_itself_refutes_nothing_about_cuda_graphs() -> None:
    """gpt-fast's loop over compiled steps: compiled as a whole it is one step, in which nothing is overwritten."""
    fine = heard(experiment="cudagraphs", graphs=Graphs("fine", runs=15), calls=5)
    around = replace(finding_on("m.py", 8, Effect.CUDAGRAPH), eager=True)
    found = verdict(around, fine)
    assert (found.outcome, "one step" in found.words) == (Outcome.INCONCLUSIVE, True)
    untold = {"m.py": (11, 12, 13)}  # of a function that is given up only the break is told
    given_up = heard(experiment="cudagraphs", graphs=Graphs("fine", runs=15), calls=5, traced=untold)
    assert verdict(around, given_up).outcome is Outcome.INCONCLUSIVE
    apart = heard(experiment="cudagraphs", graphs=Graphs("fine", runs=15), calls=5, traced=untold, breaks=())
    assert verdict(around, apart).outcome is Outcome.REFUTED


def test_eager_code_that_was_compiled_itself_refutes_nothing_about_recompiles() -> None:
    """Blocks that are compiled one by one guard the strides of what they are handed; compiled in one, nothing is handed."""
    around = replace(finding_on("m.py", 8, Effect.RECOMPILE), eager=True)
    found = verdict(around, recompiles(1))
    assert (found.outcome, found.apart, "one step" in found.words) == (Outcome.INCONCLUSIVE, True, True)
    apart = replace(recompiles(1).runs[0], traced={"m.py": (11, 12, 13)}, breaks=())
    callee = replace(apart.frames[0], name="helper", line=11, traced={"m.py": (11, 12, 13)})
    assert verdict(around, Heard(runs=(replace(apart, frames=(callee,)),))).outcome is Outcome.REFUTED


@pytest.mark.parametrize("effect", [Effect.GRAPH_BREAK, Effect.RECOMPILE, Effect.CUDAGRAPH])
def test_only_what_the_site_compiles_refutes(effect: Effect) -> None:
    chain = (Step("t.py", 5, "torch.compile(model)"), Step("m.py", 9, "Model.forward"), Step("m.py", 12, "helper"))
    finding = replace(finding_on("m.py", 12, effect), chain=chain)
    whole = replace(
        recompiles(1).runs[0] if effect is Effect.RECOMPILE else heard(breaks=()).runs[0],
        compiled=Step("m.py", 0, "Model"),
    )
    if effect is Effect.CUDAGRAPH:
        whole = replace(whole, experiment="cudagraphs", graphs=Graphs("fine"), calls=5)
    part = replace(whole, compiled=Step("m.py", 0, "helper"))
    assert verdict(finding, Heard(runs=(whole,))).outcome is Outcome.REFUTED
    found = verdict(finding, Heard(runs=(part,)))
    assert (found.outcome, found.apart) == (Outcome.INCONCLUSIVE, True)
    assert found.words.startswith("the program compiles Model, and here helper was compiled: ")
    # Whoever writes an example for it says what is compiled, and one run that compiles as the site does is enough.
    assert verdict(finding, Heard(runs=(replace(part, given=True),))).outcome is Outcome.REFUTED
    assert verdict(finding, Heard(runs=(part, whole))).outcome is Outcome.REFUTED


def test_what_a_function_that_was_given_up_hands_on_refutes_nothing() -> None:
    chain = (Step("m.py", 9, "Model.forward"), Step("m.py", 12, "helper"))
    finding = replace(finding_on("m.py", 12), chain=chain)
    run = replace(heard().runs[0], compiled=Step("m.py", 0, "Model"))
    found = verdict(finding, Heard(runs=(run,)))
    assert (found.outcome, found.apart) == (Outcome.INCONCLUSIVE, True)
    assert found.words.startswith(
        "Dynamo gave up Model.forward at line 8, which leads here, and compiled this by itself: "
    )
    resumed = replace(run, breaks=tuple(replace(item, skips=False) for item in run.breaks))
    assert verdict(finding, Heard(runs=(resumed,))).outcome is Outcome.REFUTED


def test_a_program_that_did_not_run_the_site_refutes_nothing() -> None:
    """It compiles in two ways, and a finding about the one is not refuted by the other."""
    chain = (Step("m.py", 9, "torch.compile(model)"), Step("m.py", 12, "helper"))
    finding = replace(finding_on("m.py", 12), chain=chain)
    own = heard(breaks=())
    assert verdict(finding, own).outcome is Outcome.REFUTED
    elsewhere = heard(breaks=(), covered={"m.py": (3, 4, 12, 13)})
    assert verdict(finding, elsewhere).outcome is Outcome.INCONCLUSIVE
    at_the_top = replace(finding, chain=(Step("m.py", 10, "torch.compile(model)"), *chain[1:]))
    assert verdict(at_the_top, elsewhere).outcome is Outcome.REFUTED


def test_missed_lists_what_nobody_predicted() -> None:
    missed = missed_of([finding_on("m.py", 8)], [heard()], outlines)
    assert [(item.path, item.line, item.gb_id, item.effect) for item in missed] == [
        ("m.py", 5, "GB0059", "graph-break")
    ]
    assert missed_of([finding_on("m.py", 8), finding_on("m.py", 4)], [heard()], outlines) == ()


def test_what_the_backend_refuses_is_missed_where_no_finding_of_the_function_gives_its_id() -> None:
    """Dynamo blames it on the line where it cuts the graph, not on the operation."""
    told = heard(breaks=(Break("m.py", 3, "Backend compiler exception", "nonzero", "GB0219"),))
    same = replace(finding_on("m.py", 8, Effect.CUDAGRAPH), graph_breaks=("GB0219",))
    assert missed_of([same], [told], outlines) == ()
    elsewhere = replace(finding_on("m.py", 12, Effect.CUDAGRAPH), graph_breaks=("GB0219",))
    other = replace(same, graph_breaks=("GB0170",))
    for finding in (elsewhere, other):
        assert [item.line for item in missed_of([finding], [told], outlines)] == [3]
    # What source shows is blamed on its own line.
    shown = heard(breaks=(Break("m.py", 5, "print", "no print", "GB0059"),))
    assert len(missed_of([replace(same, graph_breaks=("GB0059",))], [shown], outlines)) == 1


def test_breaks_of_what_the_program_leaves_eager_are_not_missed() -> None:
    """It was compiled by verify alone, for a finding about what it calls."""
    around = replace(finding_on("m.py", 3, Effect.CUDAGRAPH), eager=True)
    assert missed_of([around], [heard()], outlines) == ()
    elsewhere = replace(finding_on("m.py", 12, Effect.CUDAGRAPH), eager=True)
    assert [item.line for item in missed_of([elsewhere], [heard()], outlines)] == [5, 8]


def test_missed_lists_hurt_cuda_graphs() -> None:
    """At the line that the runtime names; where values are wrong without a word, at the program that gives them."""
    stack = (Step("m.py", 9, "main"), Step("/lib/t.py", 70, "item"))
    error = heard(experiment="cudagraphs", breaks=(), graphs=Graphs("error", "overwritten", stack=stack))
    wrong = heard(experiment="cudagraphs", breaks=(), graphs=Graphs("wrong", "silently wrong"))
    told = [(m.path, m.line, m.effect, m.words) for h in (error, wrong) for m in missed_of([], [h], outlines)]
    assert told == [("m.py", 9, "cudagraph", "overwritten"), ("m.py", 3, "cudagraph", "silently wrong")]
    fine = heard(experiment="cudagraphs", breaks=(), graphs=Graphs("fine"))
    assert missed_of([], [fine], outlines) == ()
    assert missed_of([finding_on("m.py", 3, Effect.CUDAGRAPH)], [error], outlines) == ()


def test_answers_cross_the_process_boundary() -> None:
    told = replace(recompiles(3), faults=(Fault("eager", "E", "m", (Step("m.py", 1, "f"),)),), tried=("a",))
    assert codec.decode(Heard, codec.encode(told)) == told


def test_paths_are_renamed_everywhere() -> None:
    told = with_paths(heard(), lambda path: "x/" + path)
    assert told.runs[0].breaks[0].stack[0].path == "x/m.py"
    assert set(told.runs[0].traced) == {"x/m.py"}
