"""Modes of torch that Dynamo guards on at a call, and the calls that change them."""

from __future__ import annotations

from typing import Final

NO_GRAD: Final = frozenset({"no_grad", "inference_mode"})
GRAD: Final = NO_GRAD | {"enable_grad", "set_grad_enabled"}
CONTEXTS: Final = GRAD | {"autocast"}
"""Contexts and decorators, by the last part of their names."""
GIVEN: Final = "given"
"""Under this name a context that was made keeps what it was given."""
STACKED: Final = "contextlib.ExitStack.enter_context"
"""Enters a context until another one is left."""

STEP_MARKS: Final = frozenset({"torch.compiler.cudagraph_mark_step_begin", "torch._inductor.cudagraph_mark_step_begin"})
"""Tell CUDA graphs that a step begins."""
BACKWARD: Final = frozenset({"torch.autograd.grad"})
"""Run a backward pass, as every method called `backward` does."""
RESETS: Final = frozenset({"torch.compiler.reset", "torch._dynamo.reset"})
"""Throw every program away."""
SETTERS: Final = frozenset({"torch.set_default_dtype", "torch.set_num_threads"})
"""Set what every program is guarded on, to their first argument."""
TRAINING: Final = {"train": True, "eval": False}
"""Methods of modules that set their flag."""
DTYPES: Final = frozenset({"half", "bfloat16", "float", "double"})
"""Methods of modules that convert what they hold; `to` does with an argument."""
