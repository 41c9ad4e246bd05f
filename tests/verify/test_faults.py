"""A bad target is answered with its reason, its siblings run on, and nothing is left changed or running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.verify import Outcome, VerifyOptions, verify

pytestmark = [pytest.mark.dynamo, pytest.mark.slow]

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
    "missing package": ("import no_such_package_at_all", "a package is missing: no_such_package_at_all"),
    "network": ("__import__('urllib.request').request.urlopen('http://no-such-host.invalid/')", "network"),
    "changes its file": ("open(__file__, 'a').write('#')", "changed"),
    "raises": ("raise KeyError('weights')", "KeyError"),
    "recursion": ("f = lambda n: f(n + 1); f(0)", "RecursionError"),
}


@pytest.mark.parametrize("kind", sorted(BAD))
def test_bad_target_is_inconclusive_and_siblings_run_on(
    kind: str, project: Callable[[str, str], Path], torch_python: str
) -> None:
    line, reason = BAD[kind]
    bad = project("bad.py", HEAD + f"            {line}" + TAIL)
    good = project("good.py", GOOD)
    before = bad.read_bytes()
    options = VerifyOptions(
        timeout=15 if "memory" in reason else 6, memory_mb=3000, jobs=2, python=torch_python, root=str(bad.parent)
    )
    report = verify([finding_at(bad, "# here"), finding_at(good, "# here")], options)
    assert report.verdicts[0].outcome is Outcome.INCONCLUSIVE, report.verdicts[0].words
    assert reason in report.verdicts[0].words
    assert report.verdicts[0].hint
    assert report.verdicts[1].outcome is Outcome.CONFIRMED, report.verdicts[1].words
    assert bad.read_bytes() == before
    assert sorted(path.name for path in bad.parent.iterdir()) == ["bad.py", "good.py"]


def test_a_loud_target_is_judged_all_the_same(project: Callable[[str, str], Path], torch_python: str) -> None:
    loud = project("loud.py", HEAD + "            for _ in range(60): os.write(1, b'x' * 10**6)" + TAIL)
    options = VerifyOptions(timeout=60, python=torch_python, root=str(loud.parent))
    (verdict,) = verify([finding_at(loud, "# here")], options).verdicts
    assert verdict.outcome in (Outcome.REFUTED, Outcome.NOT_REACHED), verdict.words


def test_files_written_beside_the_target_do_not_reach_the_working_copy(
    project: Callable[[str, str], Path], torch_python: str
) -> None:
    writer = project("writer.py", HEAD + "            open('left.txt', 'w').write('x')" + TAIL)
    options = VerifyOptions(timeout=60, python=torch_python, root=str(writer.parent))
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
    number: signal.Signals, project: Callable[[str, str], Path], torch_python: str, tmp_path: Path
) -> None:
    """However the parent ends, and although the target forks daemons that leave its process group."""
    daemon = "started = os.fork() or (os.setsid(), os.fork() or __import__('time').sleep(1000))"
    hang = project("hang.py", HEAD + f"            {daemon}\n            while True: pass" + TAIL)
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
                   VerifyOptions(timeout=500, python={torch_python!r}, root={str(tmp_path)!r}))
        """,
    )
    mark = f"TCLINT_TEST_MARK={uuid.uuid4()}"
    name, _, value = mark.partition("=")
    process = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, name: value},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
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
