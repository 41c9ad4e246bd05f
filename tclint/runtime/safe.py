"""`safe_compile`: torch.compile that gives up in time, falls back to eager, and says why.

torch.compile is lazy: the call returns at once and the compiler runs inside the first call of the result, and again
inside any later call that needs a new program. A wrapper that times `torch.compile(model)` times nothing. Here the
clock runs while Dynamo compiles on behalf of a call, so a long but healthy run is never cut short.

How a hang is survived, and what that costs:

- On the main thread (`method="signal"`) a timer signal raises inside the compiler. Python code (Dynamo, sympy,
  Inductor) and waiting for compiler processes (g++, ptxas, worker pools) stop at once, locks are released as the stack
  unwinds, nothing is left behind. What cannot be stopped is a loop inside a C extension that never comes back to
  Python. The process's SIGALRM is borrowed while something compiles and given back afterwards.
- On any other thread (`method="thread"`) signals do not arrive. The first call with new shapes, dtypes or modes runs in a
  helper thread and the caller waits. On a time-out the caller goes on in eager mode, and the helper is told to stop
  at its next Python instruction. Until it does, it holds Dynamo's compile lock: other compilations of the process wait.
  CUDA-graph modes belong to the thread that records them, so prefer the main thread for `mode="reduce-overhead"`.

After any failure the wrapper stays eager. The call during which it failed is run again from its beginning in eager
mode: with a graph break in the module, Python code before the break has then run twice.
"""

from __future__ import annotations

import ctypes
import functools
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch._dynamo
import torch._functorch.config as functorch_config
import torch.utils._pytree as pytree
from torch._dynamo.callback import callback_handler
from torch._dynamo.exc import TorchDynamoException

TIMEOUT = 600.0
MAX_PARAMS = 40_000_000_000
"""Above this, compilers of the field hang or lose against eager (the background documents' rule)."""
AGAIN = 0.5
"""Seconds until the time-out is raised once more, where somebody swallowed it."""
POLL = 0.02


class SafeCompileWarning(RuntimeWarning):
    """A module runs in eager mode although it was to be compiled; the message says why."""


class _TimedOut(BaseException):
    """Raised inside the compiler. No `Exception`: Dynamo and Inductor catch those and go on."""


@dataclass
class Record:
    """What `safe_compile` did."""

    name: str
    timeout: float
    max_params: int | None
    parameters: int = 0
    status: str = "waiting"
    """`waiting` (never called), `compiled`, or `eager`."""
    kind: str = ""
    """Why it is eager: `timeout`, `error` or `size`."""
    reason: str = ""
    calls: int = 0
    compilations: int = 0
    compile_seconds: float = 0.0
    events: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self), events=list(self.events))

    def __str__(self) -> str:
        what = f"{self.name}: {self.status}" + (f" ({self.reason})" if self.reason else "")
        return f"{what}; {self.calls} calls, {self.compilations} compilations, {self.compile_seconds:.1f} s compiling"


class _Clock:
    """The time that one call has spent compiling."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.used = 0.0
        self.compilations = 0
        self.since: float | None = None

    @property
    def elapsed(self) -> float:
        since = self.since
        return self.used + (time.monotonic() - since if since is not None else 0.0)

    @property
    def seconds_left(self) -> float:
        return max(0.001, self.timeout - self.elapsed)

    def start(self) -> None:
        self.since = time.monotonic()
        self.compilations += 1

    def stop(self) -> None:
        if self.since is not None:
            self.used += time.monotonic() - self.since
            self.since = None


class _Alarm(_Clock):
    """A clock that raises `_TimedOut` on the main thread when the time is up."""

    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        self.before: Any = None
        self.timer = (0.0, 0.0)

    def start(self) -> None:
        super().start()
        self.before = signal.signal(signal.SIGALRM, self._ring)
        self.timer = signal.setitimer(signal.ITIMER_REAL, self.seconds_left, AGAIN)

    def stop(self) -> None:
        if self.since is None:
            return
        passed = time.monotonic() - self.since
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before if self.before is not None else signal.SIG_DFL)
        delay, interval = self.timer
        if delay:
            # Somebody else's timer was running: it goes on where it would be by now.
            signal.setitimer(signal.ITIMER_REAL, max(0.001, delay - passed), interval)
        super().stop()

    def _ring(self, *_: Any) -> None:
        raise _TimedOut


_active = threading.local()
"""The clock of the call that this thread is in, and the functorch setting to put back."""


def _on_start(*_: Any) -> None:
    clock: _Clock | None = getattr(_active, "clock", None)
    if clock is None or clock.since is not None:
        return
    # The backward pass compiled now, inside the limit; by default it would be when `backward` is first called.
    _active.lazy = getattr(functorch_config, "force_non_lazy_backward_lowering", None)
    if _active.lazy is not None:
        functorch_config.force_non_lazy_backward_lowering = True
    clock.start()


def _on_end(*_: Any) -> None:
    clock: _Clock | None = getattr(_active, "clock", None)
    if clock is None or clock.since is None:
        return
    clock.stop()
    if _active.lazy is not None:
        functorch_config.force_non_lazy_backward_lowering = _active.lazy


def _listen() -> None:
    """Before every call: `torch._dynamo.reset()` forgets who listens."""
    if _on_start not in callback_handler.start_callbacks:
        callback_handler.register_start_callback(_on_start)
    if _on_end not in callback_handler.end_callbacks:
        callback_handler.register_end_callback(_on_end)


@contextmanager
def _timed(clock: _Clock) -> Iterator[None]:
    outer = getattr(_active, "clock", None)
    if outer is not None:
        # A safe module inside a safe module: the outer limit holds.
        yield
        return
    _active.clock = clock
    try:
        yield
    finally:
        _on_end()
        _active.clock = None


class _Guarded:
    """The call of a compiled callable that may turn eager."""

    def __init__(self, plain: Callable[..., Any], compiled: Callable[..., Any] | None, record: Record, method: str):
        self.plain = plain
        self.compiled = compiled
        self.record = record
        self.method = method
        self.known: set[Any] = set()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        record = self.record
        record.calls += 1
        if self.compiled is None:
            return self.plain(*args, **kwargs)
        on_thread = self.method == "thread" or (
            self.method == "auto"
            and (threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"))
        )
        if _stuck and self._may_compile(on_thread, args, kwargs) and _lock_is_held(record.timeout):
            # This call only: the lock may be free by the next one.
            record.events.append(
                f"call {record.calls}: eager: another compilation that was given up holds Dynamo's lock"
            )
            return self.plain(*args, **kwargs)
        _listen()
        clock = _Clock(record.timeout) if on_thread else _Alarm(record.timeout)
        try:
            if on_thread:
                result = self._in_thread(clock, args, kwargs)
            else:
                with _timed(clock):
                    result = self.compiled(*args, **kwargs)
        except _TimedOut:
            if getattr(_active, "clock", None) is not None:
                raise  # the limit of an outer module
            self._note(clock)
            self._give_up("timeout", f"still compiling after {record.timeout:g} s")
        except TorchDynamoException as error:
            self._note(clock)
            self._give_up("error", f"{type(error).__name__}: {_first_line(error)}")
        else:
            self._note(clock)
            record.status = "compiled"
            return result
        return self.plain(*args, **kwargs)

    def _may_compile(self, on_thread: bool, args: Any, kwargs: Any) -> bool:
        if on_thread:
            return _key(self.plain, args, kwargs) not in self.known
        return self.record.status != "compiled"

    def _note(self, clock: _Clock) -> None:
        if clock.compilations:
            self.record.compilations += clock.compilations
            self.record.compile_seconds += clock.elapsed
            self.record.events.append(
                f"call {self.record.calls}: {clock.compilations} compilations, {clock.elapsed:.2f} s"
            )

    def _give_up(self, kind: str, reason: str) -> None:
        self.compiled = None
        self.record.status, self.record.kind, self.record.reason = "eager", kind, reason
        self.record.events.append(f"call {self.record.calls}: eager from here: {reason}")
        _warn(self.record, self.plain)

    def _in_thread(self, clock: _Clock, args: Any, kwargs: Any) -> Any:
        assert self.compiled is not None
        key = _key(self.plain, args, kwargs)
        if key in self.known:
            return self.compiled(*args, **kwargs)
        helper = _Helper(self.compiled, clock, args, kwargs)
        result = helper.run()
        self.known.add(key)
        return result


_stuck: list[threading.Thread] = []
"""Helpers that were given up: one that is inside a long call of C code still holds Dynamo's lock."""


def _lock_is_held(patience: float) -> bool:
    """Whether a compilation that was given up is still in the way, after waiting for it as long as a call may take."""
    end = time.monotonic() + patience
    for thread in tuple(_stuck):
        thread.join(max(0.0, end - time.monotonic()))
        if not thread.is_alive() and thread in _stuck:
            _stuck.remove(thread)
    return bool(_stuck)


class _Helper:
    """One call on another thread, under the caller's grad, autocast and device settings."""

    def __init__(self, function: Callable[..., Any], clock: _Clock, args: Any, kwargs: Any) -> None:
        self.function, self.clock, self.args, self.kwargs = function, clock, args, kwargs
        self.modes = _modes()
        self.done = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> Any:
        thread = threading.Thread(target=self._work, daemon=True, name="tclint-safe-compile")
        thread.start()
        while not self.done.wait(POLL):
            if self.clock.elapsed > self.clock.timeout:
                # It stops at its next Python instruction and gives Dynamo's lock back.
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_TimedOut)
                )
                _stuck.append(thread)
                raise _TimedOut
        if self.error is not None:
            raise self.error
        return self.result

    def _work(self) -> None:
        try:
            with ExitStack() as stack, _timed(self.clock):
                for make in self.modes:
                    stack.enter_context(make())
                self.result = self.function(*self.args, **self.kwargs)
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


def _modes() -> list[Callable[[], Any]]:
    """What torch keeps per thread, as contexts that set it up on another one."""
    inference, grad = torch.is_inference_mode_enabled(), torch.is_grad_enabled()
    found: list[Callable[[], Any]] = [
        lambda: torch.inference_mode(inference),
        lambda: torch.set_grad_enabled(grad),
    ]
    for device in ("cpu", "cuda"):
        if torch.is_autocast_enabled(device):
            dtype = torch.get_autocast_dtype(device)
            found.append(functools.partial(torch.autocast, device, dtype=dtype))
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        stream = torch.cuda.current_stream()
        found.append(lambda: torch.cuda.stream(stream))
    return found


def _key(target: Any, args: Any, kwargs: Any) -> Any:
    """What makes torch compile anew, as far as the caller can tell."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    told = tuple(
        (tuple(leaf.shape), leaf.dtype, leaf.device, leaf.requires_grad)
        if isinstance(leaf, torch.Tensor)
        else repr(leaf)
        if isinstance(leaf, (int, float, bool, str, type(None)))
        else type(leaf)
        for leaf in leaves
    )
    return (told, repr(spec), torch.is_grad_enabled(), getattr(target, "training", None))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])[:300]


def _warn(record: Record, plain: Any) -> None:
    # At the line of the user's call: a module's goes through two frames of nn.Module more.
    level = 7 if isinstance(plain, torch.nn.Module) else 5
    warnings.warn(f"{record.name} runs in eager mode: {record.reason}", SafeCompileWarning, stacklevel=level)


class SafeModule(torch.nn.Module):  # type: ignore[misc]  # torch is not there when types are checked
    """A module that compiles when called, or runs as it is. Like torch.compile's own wrapper it holds `_orig_mod`."""

    def __init__(self, module: torch.nn.Module, guarded: _Guarded) -> None:
        super().__init__()
        self._orig_mod = module
        object.__setattr__(self, "_guarded", guarded)

    @property
    def record(self) -> Record:
        record: Record = self.__dict__["_guarded"].record
        return record

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["_guarded"](*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_mod"), name)


class SafeFunction:
    """A function that compiles when called, or runs as it is."""

    def __init__(self, function: Callable[..., Any], guarded: _Guarded) -> None:
        self._guarded = guarded
        functools.update_wrapper(self, function)

    @property
    def record(self) -> Record:
        return self._guarded.record

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._guarded(*args, **kwargs)


def count_parameters(module: Any) -> int:
    if not isinstance(module, torch.nn.Module):
        return 0
    return sum(parameter.numel() for parameter in module.parameters())


def safe_compile(
    module: Any,
    *,
    mode: str | None = None,
    timeout: float = TIMEOUT,
    max_params: int | None = MAX_PARAMS,
    backend: str | Callable[..., Any] = "inductor",
    fullgraph: bool = False,
    dynamic: bool | None = None,
    options: dict[str, Any] | None = None,
    method: str = "auto",
) -> Any:
    """Compile a module or function such that it cannot hang, fail or grow beyond bounds: it turns eager instead.

    `timeout` is the number of seconds one call may spend compiling, `max_params` the size above which nothing is
    compiled (None: no limit). Whatever makes it eager is told in a `SafeCompileWarning` and kept in `.record`. Errors of
    the module's own code are raised as ever. `method` is "auto", "signal" or "thread": see the module's docstring.
    """
    if method not in ("auto", "signal", "thread"):
        raise ValueError(f'method={method!r}: use "auto", "signal" or "thread"')
    if not timeout > 0:
        raise ValueError(f"timeout={timeout!r}: give a number of seconds above 0")
    name = getattr(module, "__qualname__", "") or type(module).__name__
    record = Record(name, timeout, max_params, count_parameters(module))
    compiled: Callable[..., Any] | None = None
    if max_params is not None and record.parameters > max_params:
        record.status, record.kind = "eager", "size"
        record.reason = f"{record.parameters:,} parameters, max_params={max_params:,}"
        record.events.append(f"not compiled: {record.reason}")
        warnings.warn(f"{record.name} runs in eager mode: {record.reason}", SafeCompileWarning, stacklevel=2)
    else:
        compiled = torch.compile(
            module, mode=mode, backend=backend, fullgraph=fullgraph, dynamic=dynamic, options=options
        )
    guarded = _Guarded(module, compiled, record, method)
    if isinstance(module, torch.nn.Module):
        return SafeModule(module, guarded)
    return SafeFunction(module, guarded)
