"""A bad target is answered with its reason, its siblings run on, and nothing is left changed or running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.model.finding import Step
from tclint.verify import Outcome, Verdict, VerifyOptions, verify

pytestmark = [pytest.mark.dynamo, pytest.mark.slow]
Answers = tuple[dict[str, Verdict], set[str]]
"""The verdicts by name, and the files that were not as before."""

HEAD = """
    import os
    import torch
    from torch import nn

    class Model(nn.Module):
        def forward(self, x):
"""
TAIL = """
            return x + 1  # here

    def get_init_inputs():
        return []

    def get_inputs():
        return [torch.ones(2, 3)]
"""
GOOD = HEAD + '            print("hello")  # here' + TAIL.replace("  # here", "")

CHANGES = "changes its file"
"""Left as it is: it could be the user who saved an edit. A copy is kept aside."""
BAD = {
    "hang": ("while True: pass", "still running after"),
    "sleep": ("__import__('time').sleep(1000)", "still running after"),
    "allocation": ("held = [bytearray(10**8) for _ in range(10**6)]", "memory"),
    "tensor allocation": ("held = [torch.ones(10**8) for _ in range(10**6)]", "memory"),
    "segmentation fault": ("__import__('ctypes').string_at(0)", "segmentation fault"),
    "abort": ("os.abort()", "an abort"),
    "exit": ("os._exit(0)", "ended its own process with status 0"),
    "system exit": ("raise SystemExit(3)", "does not run in eager mode either"),
    "fork": ("os.fork()", "forked its process"),
    "kills its parent": ("os.kill(os.getppid(), 9)", "ended the process that had started it"),
    "stops its parent": ("os.kill(os.getppid(), 19); __import__('time').sleep(1000)", "still running after"),
    "missing package": ("import no_such_package_at_all", "a package is missing: no_such_package_at_all"),
    "network": ("__import__('urllib.request').request.urlopen('http://no-such-host.invalid/')", "network"),
    CHANGES: ("open(__file__, 'a').write('#')", "changed while the target ran"),
    "raises": ("raise KeyError('weights')", "KeyError"),
    "recursion": ("f = lambda n: f(n + 1); f(0)", "RecursionError"),
}


HOSTILE = {
    "closes descriptors": "os.closerange(0, 1000)",
    "catches signals": "[__import__('signal').signal(n, lambda *_: None) for n in (1, 2, 14, 15)]\n"
    "            while True: __import__('time').sleep(1)",
    "changes folder": "os.chdir('/')",
    "writes the protocol": "[_written(n, _LIE) for n in range(1, 64)]",
    "patches torch": "torch.compile = torch._dynamo.explain = torch._dynamo.optimize = lambda *a, **k: None",
    "prints without end": "for _ in range(60): os.write(1, b'x' * 10**6); os.write(2, b'y' * 10**6)",
}
"""What none of it may do: be taken for a verdict, or keep the others from theirs."""
LIE = """
    def _written(number, data):
        try:
            return os.write(number, data)
        except OSError:
            return 0

    _LIE = b'{"outcome": "confirmed", "breaks": [{"line": 14, "reason": "a lie"}], "verdict": "confirmed", "ok": true}\\n' * 3
"""

ENDLESS = ["hang", "sleep"]
TOGETHER = sorted(kind for kind in BAD if kind not in ENDLESS and not kind.endswith("its parent"))
"""What takes others with it runs by itself; what never ends is not given the time that memory needs to run out, which on
a busy machine is minutes."""


SIBLINGS = ("first_good", "second_good")


def sources(folder: Path, kinds: Sequence[str], siblings: Sequence[str]) -> dict[str, Path]:
    found = {}
    for kind in kinds:
        found[kind] = folder / f"{kind.replace(' ', '_')}.py"
        found[kind].write_text(textwrap.dedent(HEAD + f"            {BAD[kind][0]}" + TAIL))
    for name in siblings:
        found[name] = folder / f"{name}.py"
        found[name].write_text(textwrap.dedent(GOOD))
    return found


def answers(
    torch_python: str,
    folder: Path,
    kinds: Sequence[str],
    timeout: float = 20,
    siblings: Sequence[str] = SIBLINGS,
    keep: bool = False,
) -> Answers:
    paths = sources(folder, kinds, siblings)
    before = {name: path.read_bytes() for name, path in paths.items()}
    options = VerifyOptions(timeout=timeout, memory_mb=1500, jobs=2, python=torch_python, root=str(folder), keep=keep)
    report = verify([finding_at(path, "# here") for path in paths.values()], options)
    left = sorted(path.name for path in folder.iterdir())
    after = {name: path.read_bytes() for name, path in paths.items()}
    assert left == sorted(path.name for path in paths.values())
    return dict(zip(paths, report.verdicts, strict=True)), {name for name in paths if after[name] != before[name]}


def test_bad_targets_are_inconclusive_and_their_siblings_run_on(torch_python: str, tmp_path: Path) -> None:
    """Every bad target at once, among good ones, in one process with torch loaded; one test, for no worker to repeat it."""
    (tmp_path / "faults").mkdir()
    (tmp_path / "endless").mkdir()
    verdicts, changed = answers(torch_python, tmp_path / "faults", TOGETHER, timeout=300)
    more, others = answers(torch_python, tmp_path / "endless", ENDLESS, timeout=5, siblings=(), keep=True)
    told = {**more, **verdicts}
    words = {kind: verdict.words for kind, verdict in told.items()}
    assert {kind for kind in BAD if kind in told and told[kind].outcome is not Outcome.INCONCLUSIVE} == set(), words
    assert {kind for kind in (*TOGETHER, *ENDLESS) if BAD[kind][1] not in words[kind]} == set(), words
    assert {kind for kind in (*TOGETHER, *ENDLESS) if not told[kind].hint} == set()
    assert [told[name].outcome for name in SIBLINGS] == [Outcome.CONFIRMED] * 2, words
    assert changed | others == {CHANGES}


@pytest.mark.parametrize("kind", ["kills its parent", "stops its parent"])
def test_a_target_that_turns_on_its_parent_harms_nobody_else(torch_python: str, tmp_path: Path, kind: str) -> None:
    start = time.monotonic()
    verdicts, changed = answers(torch_python, tmp_path, [kind])
    assert time.monotonic() - start < 200
    told = verdicts[kind]
    assert told.outcome is Outcome.INCONCLUSIVE, told.words
    assert BAD[kind][1] in told.words
    assert [verdicts[name].outcome for name in SIBLINGS] == [Outcome.CONFIRMED] * 2
    assert not changed


PARTS = """
    import os
    import torch
    from torch import nn

    class Model(nn.Module):
        def forward(self, x):
            return x + 1

        def deadly(self, x: torch.Tensor):
            os.abort()  # there

        def quiet(self, x: torch.Tensor):
            print("hello")  # here
            return x
"""


def test_what_dies_for_one_line_is_asked_for_the_others_alone(
    project: Callable[[str, str], Path], torch_python: str
) -> None:
    path = project("model.py", PARTS)
    head = (Step("model.py", 1, "Model"),)
    asked = [
        replace(finding_at(path, mark), function=f"Model.{name}", chain=head)
        for mark, name in (("# there", "deadly"), ("# here", "quiet"))
    ]
    told: list[Verdict] = []
    options = VerifyOptions(timeout=80, python=torch_python, root=str(path.parent))
    report = verify(asked, options, on_verdict=told.append)
    assert [verdict.outcome for verdict in report.verdicts] == [Outcome.INCONCLUSIVE, Outcome.CONFIRMED], (
        report.verdicts
    )
    assert "an abort" in report.verdicts[0].words
    assert sorted(verdict.finding.line for verdict in told) == sorted(finding.line for finding in asked)  # each once


def test_a_loud_target_is_judged_all_the_same(project: Callable[[str, str], Path], torch_python: str) -> None:
    loud = project("loud.py", HEAD + "            for _ in range(60): os.write(1, b'x' * 10**6)" + TAIL)
    options = VerifyOptions(timeout=60, python=torch_python, root=str(loud.parent), keep=True)
    (verdict,) = verify([finding_at(loud, "# here")], options).verdicts
    assert verdict.outcome in (Outcome.REFUTED, Outcome.NOT_REACHED), verdict.words


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_hostile_targets_get_one_verdict_each_and_leave_nothing(
    own_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line they are asked about breaks no graph: nobody who runs may talk anyone into saying that it does."""
    mark = f"TCLINT_TEST_MARK={uuid.uuid4()}"
    monkeypatch.setenv(*mark.split("="))
    paths = {kind: tmp_path / f"{kind.replace(' ', '_')}.py" for kind in HOSTILE}
    for kind, path in paths.items():
        path.write_text(textwrap.dedent(LIE + HEAD + f"            {HOSTILE[kind]}" + TAIL))
    for name in SIBLINGS:
        paths[name] = tmp_path / f"{name}.py"
        paths[name].write_text(textwrap.dedent(GOOD))
    options = VerifyOptions(timeout=20, memory_mb=3000, jobs=2, python=own_python, root=str(tmp_path))
    report = verify([finding_at(path, "# here") for path in paths.values()], options)
    told = dict(zip(paths, report.verdicts, strict=True))
    print({kind: (verdict.outcome.value, verdict.words) for kind, verdict in told.items()})
    assert [told[name].outcome for name in SIBLINGS] == [Outcome.CONFIRMED] * 2
    assert not [kind for kind in HOSTILE if told[kind].outcome is Outcome.CONFIRMED]
    assert "still running after" in told["catches signals"].words
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths.values())
    assert wait_until(lambda: not [pid for pid in marked(mark) if pid != os.getpid()], 60), marked(mark)


def test_files_written_beside_the_target_do_not_reach_the_working_copy(
    project: Callable[[str, str], Path], torch_python: str
) -> None:
    writer = project("writer.py", HEAD + "            open('left.txt', 'w').write('x')" + TAIL)
    options = VerifyOptions(timeout=60, python=torch_python, root=str(writer.parent), keep=True)
    verify([finding_at(writer, "# here")], options)
    assert [path.name for path in writer.parent.iterdir()] == ["writer.py"]


def marked(mark: str) -> list[int]:
    """Processes whose environment holds a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if (
                    mark.encode() in (entry / "environ").read_bytes()
                    and "State:\tZ" not in (entry / "status").read_text()
                ):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return condition()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_running(
    number: signal.Signals, project: Callable[[str, str], Path], own_python: str, tmp_path: Path
) -> None:
    """However the parent ends, and although the target forks daemons that leave its process group."""
    daemon = "started = os.fork() or (os.setsid(), os.fork() or __import__('time').sleep(1000))"
    hang = project("hang.py", HEAD + f"            {daemon}\n            __import__('time').sleep(1000)" + TAIL)
    script = project(
        "drive.py",
        f"""
        import sys
        sys.path[:0] = {sys.path!r}
        from pathlib import Path
        from verify_helpers import finding_at
        from tclint.verify import VerifyOptions, verify
        if __name__ == "__main__":
            verify([finding_at(Path({str(hang)!r}), "# here")],
                   VerifyOptions(timeout=500, python={own_python!r}, root={str(tmp_path)!r}))
        """,
    )
    mark = f"TCLINT_TEST_MARK={uuid.uuid4()}"
    name, _, value = mark.partition("=")
    process = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, name: value},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # Where the tests run in a background job, SIGINT is ignored, and a child would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert wait_until(lambda: len(marked(mark)) >= 4, 180), marked(mark)
        os.kill(process.pid, number)
        process.wait(timeout=120)
        assert wait_until(lambda: not marked(mark), 90), marked(mark)
    finally:
        for pid in [process.pid, *marked(mark)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def test_no_torch_is_said(project: Callable[[str, str], Path], tmp_path: Path) -> None:
    good = project("good.py", GOOD)
    fake = tmp_path / "python"
    fake.write_text(
        textwrap.dedent(f"""\
        #!/bin/sh
        exec {sys.executable} -S -E "$@"
        """)
    )
    fake.chmod(0o755)
    (verdict,) = verify([finding_at(good, "# here")], VerifyOptions(python=str(fake), root=str(tmp_path))).verdicts
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "torch cannot be imported" in verdict.words
