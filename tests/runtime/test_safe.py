"""`tclint.safe_compile` on real compilations that hang, raise, or are too large."""

from __future__ import annotations

import threading
import time
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import tclint  # noqa: E402
from tclint.runtime.safe import SafeCompileWarning  # noqa: E402

pytestmark = [pytest.mark.dynamo, pytest.mark.slow]

# What a compilation of `Net` that does not hang stays under on a machine that is busy with other tests.
LIMIT = 8.0


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.fc(x).relu()


def hangs(graph: Any, inputs: Any) -> Any:
    time.sleep(60)
    return graph.forward


def hangs_in_python(graph: Any, inputs: Any) -> Any:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass
    return graph.forward


def swallows(graph: Any, inputs: Any) -> Any:
    """A compiler that catches whatever is thrown at it, twice."""
    for _ in range(2):
        try:
            time.sleep(60)
        except BaseException:
            continue
    time.sleep(60)
    return graph.forward


def raises(graph: Any, inputs: Any) -> Any:
    raise RuntimeError("no such kernel")


def counts(made: list[Any]) -> Any:
    def backend(graph: Any, inputs: Any) -> Any:
        made.append(graph)
        return graph.forward

    return backend


@pytest.fixture(scope="module", autouse=True)
def _started() -> None:
    """Dynamo's own start takes seconds on a busy machine; no limit of a test is meant for it."""
    torch.compile(Net(), backend=lambda graph, inputs: graph.forward)(torch.ones(2, 4))


@pytest.fixture(autouse=True)
def _forget() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("backend", [hangs, hangs_in_python, swallows])
def test_a_compilation_that_hangs_ends_in_eager(backend: Any) -> None:
    net, x = Net(), torch.randn(2, 4)
    expected = net(x)
    safe = tclint.safe_compile(net, backend=backend, timeout=0.5)
    start = time.monotonic()
    with pytest.warns(SafeCompileWarning, match=r"Net runs in eager mode: still compiling after 0\.5 s"):
        got = safe(x)
    assert time.monotonic() - start < 30
    assert torch.equal(got, expected)
    assert (safe.record.status, safe.record.kind) == ("eager", "timeout")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(safe(x), expected)
    assert safe.record.compilations == 1


def test_others_can_compile_after_a_hang() -> None:
    with pytest.warns(SafeCompileWarning):
        tclint.safe_compile(Net(), backend=hangs, timeout=0.3)(torch.ones(2, 4))
    made: list[Any] = []
    assert torch.compile(Net(), backend=counts(made))(torch.ones(2, 4)).shape == (2, 4)
    assert len(made) == 1


def test_the_warning_points_at_the_call() -> None:
    safe = tclint.safe_compile(Net(), backend=raises)
    with pytest.warns(SafeCompileWarning) as caught:
        safe(torch.ones(2, 4))
    assert caught[0].filename == __file__


def test_a_backend_that_raises_ends_in_eager() -> None:
    net, x = Net(), torch.randn(2, 4)
    safe = tclint.safe_compile(net, backend=raises)
    with pytest.warns(SafeCompileWarning, match="no such kernel"):
        assert torch.equal(safe(x), net(x))
    assert safe.record.kind == "error"
    assert "BackendCompilerFailed" in safe.record.reason


def test_above_the_limit_nothing_is_compiled() -> None:
    made: list[Any] = []
    with pytest.warns(SafeCompileWarning, match=r"20 parameters, max_params=19"):
        safe = tclint.safe_compile(Net(), backend=counts(made), max_params=19)
    safe(torch.ones(2, 4))
    assert made == []
    assert (safe.record.status, safe.record.kind, safe.record.parameters) == ("eager", "size", 20)
    kept = tclint.safe_compile(Net(), backend=counts(made), max_params=20)
    kept(torch.ones(2, 4))
    assert len(made) == 1


def test_what_compiles_is_recorded_call_by_call() -> None:
    made: list[Any] = []
    safe = tclint.safe_compile(Net(), backend=counts(made), dynamic=False)
    for rows in (2, 2, 3):
        safe(torch.ones(rows, 4))
    record = safe.record
    assert (record.status, record.calls, record.compilations, len(made)) == ("compiled", 3, 2, 2)
    assert [event.partition(":")[0] for event in record.events] == ["call 1", "call 3"]
    assert "Net: compiled" in str(record)


def test_a_later_compilation_is_under_the_limit_too() -> None:
    seen: list[Any] = []

    def second_hangs(graph: Any, inputs: Any) -> Any:
        seen.append(graph)
        if len(seen) == 2:
            time.sleep(60)
        return graph.forward

    safe = tclint.safe_compile(Net(), backend=second_hangs, timeout=LIMIT, dynamic=False)
    safe(torch.ones(2, 4))
    assert safe.record.status == "compiled"
    with pytest.warns(SafeCompileWarning):
        assert safe(torch.ones(3, 4)).shape == (3, 4)
    assert safe.record.kind == "timeout"


def test_a_long_run_is_no_long_compilation() -> None:
    @torch._dynamo.disable
    def slow(x: Any) -> Any:
        time.sleep(LIMIT + 0.5)
        return x

    class Slow(Net):
        def forward(self, x: Any) -> Any:
            return slow(super().forward(x))

    safe = tclint.safe_compile(Slow(), backend=counts([]), timeout=LIMIT)
    safe(torch.ones(2, 4))
    assert safe.record.status == "compiled"


def test_errors_of_the_module_are_raised() -> None:
    class Wrong(Net):
        def forward(self, x: Any) -> Any:
            if x.shape[0] == 3:
                raise KeyError("mine")
            return super().forward(x)

    safe = tclint.safe_compile(Wrong(), backend=counts([]))
    safe(torch.ones(2, 4))
    with pytest.raises(KeyError, match="mine"):
        safe(torch.ones(3, 4))


def test_the_backward_pass_is_compiled_inside_the_limit() -> None:
    safe = tclint.safe_compile(Net(), backend="aot_eager", timeout=60)
    safe(torch.ones(2, 4)).sum().backward()
    assert safe.fc.weight.grad is not None
    assert not torch._functorch.config.force_non_lazy_backward_lowering
    assert [name for name, _ in safe.named_parameters()] == ["_orig_mod.fc.weight", "_orig_mod.fc.bias"]


def test_functions_too() -> None:
    made: list[Any] = []

    def double(x: Any) -> Any:
        return x * 2

    safe = tclint.safe_compile(double, backend=counts(made))
    assert torch.equal(safe(torch.ones(2)), torch.full((2,), 2.0))
    assert (safe.__name__, len(made), safe.record.status) == ("double", 1, "compiled")


def test_on_another_thread() -> None:
    """No signals there: the caller goes on, the helper stops when it reaches Python again."""

    def hangs_a_while(graph: Any, inputs: Any) -> Any:
        for _ in range(600):
            time.sleep(0.1)
        return graph.forward

    safe = tclint.safe_compile(Net(), backend=hangs_a_while, timeout=0.5)
    told: list[Any] = []

    def work() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SafeCompileWarning)
            with torch.no_grad():
                told.append(safe(torch.ones(2, 4)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert len(told) == 1
    assert safe.record.kind == "timeout"
    helper = next((t for t in threading.enumerate() if t.name == "tclint-safe-compile"), None)
    if helper is not None:
        helper.join(10)
        assert not helper.is_alive()


@pytest.mark.parametrize("method", ["thread", "signal"])
def test_a_lock_that_a_stuck_compilation_holds_costs_no_more_than_the_limit(method: str) -> None:
    """A helper inside one long call of C code cannot be stopped; whoever compiles next must not wait for it."""
    gate, inside = threading.Lock(), threading.Event()

    def hangs_in_c(graph: Any, inputs: Any) -> Any:
        inside.set()
        gate.acquire(timeout=300)  # one call of C code, which no exception of another thread ends
        return graph.forward

    x = torch.ones(2, 4)
    made: list[Any] = []
    with gate:
        with pytest.warns(SafeCompileWarning):
            tclint.safe_compile(Net(), backend=hangs_in_c, timeout=LIMIT, method="thread")(x)
        assert inside.is_set()
        safe = tclint.safe_compile(Net(), backend=counts(made), timeout=LIMIT, method=method)
        assert safe(x).shape == (2, 4)
        # The stuck one is stuck still: nobody waited for it.
        assert (made, safe.record.status) == ([], "waiting")
        assert "holds Dynamo's lock" in safe.record.events[0]
    for helper in [t for t in threading.enumerate() if t.name == "tclint-safe-compile"]:
        helper.join(60)
    # Nothing is in the way any more.
    assert safe(x).shape == (2, 4)
    assert (len(made), safe.record.status) == (1, "compiled")


def test_the_helper_thread_has_the_callers_modes() -> None:
    safe = tclint.safe_compile(Net(), backend=counts([]), method="thread")
    with torch.no_grad():
        assert not safe(torch.ones(2, 4)).requires_grad
    assert safe(torch.ones(2, 4)).requires_grad


def test_the_users_alarm_goes_on() -> None:
    import signal

    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        tclint.safe_compile(Net(), backend=counts([]))(torch.ones(2, 4))
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        assert 0 < left < 60
        assert rung == []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("given", "said"), [({"timeout": 0}, "timeout=0"), ({"method": "hope"}, "method='hope'")])
def test_mistakes_are_named(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        tclint.safe_compile(Net(), **given)
