"""Becomes `sitecustomize.py` in a user's program: hears which lines Dynamo traces, times the steps, ends it after some.

Torch is not imported here: the program does that when it wants to, and only then is anything hooked.
"""

from __future__ import annotations

import atexit
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any


class _After(importlib.abc.MetaPathFinder):
    """Calls a function once, when a module has been imported."""

    def __init__(self, name: str, action: Callable[[ModuleType], None]) -> None:
        self.name = name
        self.action = action

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        run, action = spec.loader.exec_module, self.action

        def exec_module(module: ModuleType) -> None:
            run(module)
            action(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _listen(_: ModuleType) -> None:
    """Write the lines Dynamo traces beside the structured trace."""
    folder = os.environ["TCLINT_RECORD"]
    handler = logging.FileHandler(os.path.join(folder, f"torch_logs_{os.getpid()}.txt"), delay=True)
    handler.setFormatter(_WithId("%(compile_id)s %(message)s"))
    source = logging.getLogger("torch._dynamo.symbolic_convert.__trace_source")
    source.addHandler(handler)
    source.setLevel(logging.DEBUG)
    source.propagate = False
    for name in ("symbolic_convert", "convert_frame", "exc"):
        # A frame that is given up whole is only told to the trace while this log is on.
        logger = logging.getLogger(f"torch._dynamo.{name}.__graph_breaks")
        logger.addHandler(logging.NullHandler())
        logger.setLevel(logging.DEBUG)
        logger.propagate = False


class _WithId(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        guards: Any = sys.modules.get("torch._guards")
        found = guards.CompileContext.current_compile_id() if guards is not None else None
        record.compile_id = f"[{found}]" if found is not None else ""
        return super().format(record).partition("\n")[0]


class _Counter:
    """Ends the program after some steps: of its optimizer, or, where it never makes one, calls of what it compiled."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.done = 0
        self.trains = False

    def _leave(self) -> None:
        self.done += 1
        if self.done > 1:
            # Somebody caught the first one.
            atexit._run_exitfuncs()
            os._exit(0)
        # Leaves through the program's own clean-up.
        raise SystemExit(0)

    def optimizers(self, module: ModuleType) -> None:
        """Watch `torch.optim.optimizer`."""
        register = getattr(module, "register_optimizer_step_post_hook", None)
        real = module.Optimizer.__init__
        stepped = 0

        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            self.trains = True
            real(optimizer, *args, **kwargs)

        def count(*_: Any, **__: Any) -> None:
            nonlocal stepped
            stepped += 1
            if stepped >= self.steps:
                self._leave()

        if register is not None:
            module.Optimizer.__init__ = __init__
            register(count)

    def compiled(self, module: ModuleType) -> None:
        """Watch `torch._dynamo.eval_frame`: a model that is compiled block by block makes a step with many calls, so
        the callable that is called most decides."""
        context = getattr(module, "_TorchDynamoContext", None)
        if context is None:
            return
        real = context.__call__
        counter = self

        def __call__(self: Any, fn: Any) -> Any:
            made = real(self, fn)
            if isinstance(made, type) or not isinstance(made, FunctionType):
                return made
            calls = 0

            @functools.wraps(made)
            def counted(*args: Any, **kwargs: Any) -> Any:
                nonlocal calls
                if calls >= counter.steps and not counter.trains:
                    counter._leave()
                calls += 1
                return made(*args, **kwargs)

            return counted

        context.__call__ = __call__


class _Clock:
    """Notes when every step of an optimizer and every call of what is compiled has ended, and writes it down."""

    MOST = 100_000
    """Steps that are noted."""
    PAUSE = 2.0
    """Seconds between two times of writing: a program that is killed leaves what it had by then."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, f"steps_{os.getpid()}.json")
        self.began = self.written = time.perf_counter()
        self.optimizer: list[float] = []
        self.calls: list[list[float]] = []
        atexit.register(self.write)

    def note(self, ends: list[float]) -> None:
        now = time.perf_counter()
        if len(ends) < self.MOST:
            ends.append(now - self.began)
        if now - self.written > self.PAUSE:
            self.written = now
            self.write()

    def optimizers(self, module: ModuleType) -> None:
        """Watch `torch.optim.optimizer`."""
        register = getattr(module, "register_optimizer_step_post_hook", None)
        if register is not None:
            register(lambda *_, **__: self.note(self.optimizer))

    def compiled(self, module: ModuleType) -> None:
        """Watch `torch._dynamo.eval_frame`."""
        context = getattr(module, "_TorchDynamoContext", None)
        if context is None:
            return
        real = context.__call__
        clock = self

        def __call__(self: Any, fn: Any) -> Any:
            made = real(self, fn)
            if isinstance(made, type) or not isinstance(made, FunctionType):
                return made
            ends: list[float] = []
            clock.calls.append(ends)

            @functools.wraps(made)
            def timed(*args: Any, **kwargs: Any) -> Any:
                done = made(*args, **kwargs)
                clock.note(ends)
                return done

            return timed

        context.__call__ = __call__

    def write(self) -> None:
        # A model that is compiled block by block makes a step with many calls: the callable that is called most decides.
        calls = max(self.calls, key=len, default=[])
        if not self.optimizer and not calls:
            return
        told = {"optimizer": self.optimizer, "calls": calls, "peak_mb": _peak_mb()}
        with open(f"{self.path}.part", "w", encoding="utf-8") as file:
            json.dump(told, file)
        os.replace(f"{self.path}.part", self.path)


def _peak_mb() -> float | None:
    """The most memory that tensors took on a GPU; None where there was none."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return float(torch.cuda.max_memory_allocated() / 2**20)


def install() -> None:
    sys.meta_path.insert(0, _After("torch._dynamo", _listen))
    if os.environ.get("TCLINT_CLOCK"):
        clock = _Clock(os.environ["TCLINT_RECORD"])
        sys.meta_path.insert(0, _After("torch.optim.optimizer", clock.optimizers))
        sys.meta_path.insert(0, _After("torch._dynamo.eval_frame", clock.compiled))
    steps = int(os.environ.get("TCLINT_STEPS", "0"))
    if steps:
        counter = _Counter(steps)
        sys.meta_path.insert(0, _After("torch.optim.optimizer", counter.optimizers))
        sys.meta_path.insert(0, _After("torch._dynamo.eval_frame", counter.compiled))


def _yield_to_real() -> None:
    """Run the `sitecustomize` that this one hides, where there is one."""
    here = os.path.realpath(os.path.dirname(__file__))
    others = [entry for entry in sys.path if os.path.realpath(entry or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if __name__ == "sitecustomize" and os.environ.get("TCLINT_RECORD"):
    install()
    _yield_to_real()
