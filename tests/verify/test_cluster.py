"""Jobs on a Ray cluster of several nodes, each with processes of its own: whatever dies, every target gets one verdict."""

from __future__ import annotations

import os
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.verify import Outcome, Verdict, VerifyOptions, verify

pytestmark = [pytest.mark.dynamo, pytest.mark.slow]
ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")

TARGET = """
    import os
    import torch
    from torch import nn

    def worker():
        pid = os.getpid()
        while not open(f"/proc/{{pid}}/cmdline", "rb").read().startswith(b"ray::"):
            pid = int(open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[1])
        return pid

    {0}

    class Model(nn.Module):
        def forward(self, x):
            print("hello")  # here
            return x + 1

    def get_init_inputs():
        return []

    def get_inputs():
        return [torch.ones(2, 3)]
"""
KILLED = "if not os.path.exists({0!r}): open({0!r}, 'w').close(); os.kill(worker(), 9)"
"""The first time, its worker is killed while it runs."""
TAKES_NODE = "mine = worker(); os.kill(int(os.environ['RAY_RAYLET_PID']), 9); os.kill(mine, 9)"
"""Every time: the process that makes a machine a node of the cluster, and its worker."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[None]:
    """Four nodes; one of them has no torch."""
    from ray.cluster_utils import Cluster

    without = tmp_path / "without" / "torch"
    without.mkdir(parents=True)
    (without / "__init__.py").write_text("raise ImportError('no torch on this node')\n")
    path = os.environ.get("PYTHONPATH")
    store = {"object_store_memory": 80_000_000}
    try:
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **store})
    except Exception as error:
        pytest.skip(f"no Ray cluster can be started on this machine: {error}")
    try:
        found.add_node(
            num_cpus=1,
            env_vars={"PYTHONPATH": os.pathsep.join([str(without.parent), *([path] if path else [])])},
            **store,
        )
        for _ in range(3):
            found.add_node(num_cpus=1, **store)
        ray.init(address=found.address, log_to_driver=False)
        yield
    finally:
        ray.shutdown()
        found.shutdown()


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the worker in /proc")
def test_every_target_gets_one_verdict(cluster: None, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    kinds = {
        **{f"good_{number}": "" for number in range(4)},
        "killed": KILLED.format(str(tmp_path / "seen")),
        "takes_its_node": TAKES_NODE,
    }
    findings = []
    for name, first in kinds.items():
        path = folder / f"{name}.py"
        path.write_text(textwrap.dedent(TARGET.format(first)))
        findings.append(finding_at(path, "# here"))
    streamed: list[Verdict] = []
    options = VerifyOptions(timeout=60, python=sys.executable, root=str(folder), executor="ray://local")
    report = verify(findings, options, None, streamed.append)
    by_name = {Path(verdict.finding.path).stem: verdict for verdict in report.verdicts}
    assert Counter(Path(verdict.finding.path).stem for verdict in streamed) == Counter(dict.fromkeys(kinds, 1))
    takes = by_name.pop("takes_its_node")
    assert takes.outcome is Outcome.INCONCLUSIVE
    assert "died 2 times" in takes.words
    assert {name: verdict.outcome for name, verdict in by_name.items()} == dict.fromkeys(by_name, Outcome.CONFIRMED), {
        name: verdict.words for name, verdict in by_name.items()
    }
