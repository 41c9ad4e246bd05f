"""A result with something in every part of it."""

from __future__ import annotations

from tclint.diagnose.measurement import (
    SCHEMA,
    Ablate,
    AblateRow,
    BreakRow,
    Breaks,
    Cost,
    CostRow,
    Diagnosis,
    FindingRow,
    FrameRow,
    Guards,
    Latency,
    LatencyRow,
    ModeRow,
    Modes,
    NumericRow,
    Numerics,
    RecompileRow,
    Reentry,
    ShapeRow,
    Shapes,
    ShapeStep,
    Speed,
    SpeedRow,
    State,
    Timing,
)


def timing(median: float, spread: float = 0.1) -> Timing:
    return Timing(median, spread, 21, 4)


def sample(compiled_ms: float = 2.0, breaks: int = 1) -> Diagnosis:
    rows = tuple(
        BreakRow(
            "models/vlm.py", 20 + n, "Unsupported <call>", "words | and <more>", "GB0156", "lib/tok.py:3", ("train", "eval"),
            "TCL102", "tokenizer-in-forward", "high", "read it once", "cache it (--fix, safe)",
        )
        for n in range(breaks)
    )  # fmt: skip
    found = tuple(
        FindingRow(r.path, r.line, r.rule, r.rule_name, r.severity, "graph-break", "a & b", "help", r.fix, True, True)
        for r in rows
    )
    steps = (
        ShapeStep("2", 1, 900.0, 1.0),
        ShapeStep("3", 1, 800.0, 1.1, ("x.size()[0] == 2",)),
        ShapeStep("8", 0, 0.0, 1.2),
    )
    return Diagnosis(
        SCHEMA, "models.vlm:VLM", "cuda", "H200", "2.13.0", "3.12.1", "0.1.0", "factory: float32[4, 8]", 1_500_000, False, 61.5,
        states=(
            State("breaks", "done", "", 3.0),
            State("speed", "done", "", 9.0),
            State("modes", "done", "re-entry: needs cuda", 4.0),
            State("numerics", "failed", "the target's process died of a segmentation fault", 1.0),
        ),
        findings=found,
        breaks=Breaks(
            rows,
            (RecompileRow("a.py", 3, "forward", 5, 2, "batch 2, 3, 1, 8", ("x.size()[0] == 2",)),),
            (FrameRow("models/vlm.py", 20, "VLM.forward", 2, breaks),),
        ),
        speed=Speed(
            (
                SpeedRow("forward", timing(4.0), timing(compiled_ms), 3.5, 100.0, 80.0, 120, 20),
                SpeedRow("forward+backward", timing(9.0), timing(8.9), 7.5, 300.0, 320.0, 300, 90),
            )
        ),
        shapes=Shapes(
            (
                ShapeRow("batch", False, "inductor", steps),
                ShapeRow("batch", True, "inductor", (steps[0], steps[2]), ("3: ConstraintViolationError",)),
            )
        ),
        latency=Latency(
            (
                LatencyRow("whole", "forward+backward", 27.8, timing(8.9), 3),
                LatencyRow("regional", "forward+backward", 6.17, timing(9.1), 2, 12),
            )
        ),
        modes=Modes(
            (
                ModeRow("default", 3.5, timing(4.0), timing(2.0), 80.0),
                ModeRow("reduce-overhead", 4.5, timing(4.0), timing(1.0), 90.0, ("skipping cudagraphs due to <cpu>",), 3, 2),
            ),
            Reentry("wrong", "fine", "silently wrong: the first output differs"),
        ),
        guards=Guards(timing(2.0), timing(1.9)),
        ablate=Ablate((AblateRow("epilogue_fusion", "False", 3.0, timing(2.0), timing(2.2)),)),
        numerics=Numerics((NumericRow("float32", "outputs", "ok", 1e-6, 1e-7, 1e-7), NumericRow("float16", "gradients", "differs", 0.5))),
        cost=Cost((CostRow("models/vlm.py", 20, "TCL102", "tokenizer-in-forward", "graph-break", "fix: x", "measured", "gone", 2.0, 1.5, 0.5, 0.05, 3, 1, 0),)),
    )  # fmt: skip
