"""What only the eager caller of compiled code does: code that does it is itself not compiled."""

from __future__ import annotations

from typing import Final

_MARKS: Final = ("mark_dynamic", "maybe_mark_dynamic", "mark_unbacked", "mark_static_address")
"""Say something about an input of a compiled callable; Dynamo refuses to trace them."""

NAMES: Final = frozenset(
    {
        *(f"torch._dynamo.{name}" for name in _MARKS),
        *(f"torch._dynamo.decorators.{name}" for name in _MARKS),
        "torch.compiler.cudagraph_mark_step_begin",
        "torch.compiler.reset",
        "torch._dynamo.reset",
    }
)

MODULE_COMPILE: Final = frozenset({"fullgraph", "dynamic", "backend", "mode", "options", "disable"})
"""What `Module.compile` takes, and hardly anything else of that name."""

CHECKPOINT: Final = frozenset(
    {"use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state"}
)
"""What `torch.utils.checkpoint.checkpoint` keeps for itself; all other keywords go to the function."""
