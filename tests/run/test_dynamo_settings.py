"""The project's own settings of Dynamo: read across files, and what they let stay in the graph is no break."""

from __future__ import annotations

import pytest
from lintkit import Project

NET = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x):
            n = x.sum().item()
            return x[x > n]
"""
TRAIN = "import torch\nimport setup_run\nfrom net import Net\nnet = torch.compile(Net())\nnet(torch.ones(2))\n"
BOTH = ["TCL103", "TCL106"]


def codes(project: Project) -> list[str]:
    return [f.code for f in project.lint().findings]


@pytest.mark.parametrize(
    ("setting", "left"),
    [
        ("", BOTH),
        ("import torch\ntorch._dynamo.config.capture_scalar_outputs = True", ["TCL106"]),
        ("import torch._dynamo as dynamo\ndynamo.config.capture_dynamic_output_shape_ops = True", ["TCL103"]),
        ("from torch._dynamo import config\nconfig.capture_scalar_outputs = True", ["TCL106"]),
        ("import torch\ntorch._dynamo.config.capture_scalar_outputs = False", BOTH),
        ("import torch\ntorch._dynamo.config.patch(capture_scalar_outputs=True).__enter__()", ["TCL106"]),
        ("import torch\ntorch._dynamo.config.patch({'capture_scalar_outputs': True}).__enter__()", ["TCL106"]),
        ("import os\nos.environ['TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS'] = '1'", ["TCL106"]),
        ("import os\nos.environ.setdefault('TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS', '1')", ["TCL106"]),
    ],
)
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "assumed"])
def test_a_setting_of_another_file_counts(project: Project, setting: str, left: list[str], compiled: bool) -> None:
    files = {"net.py": NET, "setup_run.py": setting + "\n", "train.py": TRAIN}
    if not compiled:
        files["train.py"] = "import setup_run\nfrom net import Net\n"
        files["net.py"] = NET.replace("import torch\n", "import torch\n    import setup_run\n")
    assert codes(project.write(files)) == left


def test_the_setting_of_an_unrelated_script_or_a_test_does_not(project: Project) -> None:
    other = "import torch\ntorch._dynamo.config.capture_scalar_outputs = True\n"
    files = {"net.py": NET, "setup_run.py": "", "train.py": TRAIN, "other.py": other}
    files["test_net.py"] = "import net\n" + other
    assert codes(project.write(files)) == BOTH


SCRIPT = "import torch\nfrom net import Net\n"
RUN = "def main():\n    torch.compile(Net())(torch.ones(2))\nif __name__ == '__main__':\n    main()\n"
SET = "torch._dynamo.config.capture_scalar_outputs = True\n"


def test_the_setting_of_one_script_is_not_that_of_another_one(project: Project) -> None:
    files = {"net.py": NET, "train_a.py": SCRIPT + SET + RUN, "train_b.py": SCRIPT + RUN}
    found = project.write(files).lint().findings
    assert [f.code for f in found] == BOTH
    assert codes(project.write({"train_b.py": SCRIPT + SET + RUN})) == ["TCL106"]


def test_nor_is_it_that_of_what_both_import(project: Project) -> None:
    made = NET.replace("def forward", "@torch.compile\n        def forward")
    main = "if __name__ == '__main__':\n    torch.compile(torch.sin)(Net()(torch.ones(2)))\n"
    files = {"net.py": made, "train_a.py": SCRIPT + SET + main, "train_b.py": SCRIPT + main}
    assert codes(project.write(files)) == BOTH
    assert codes(project.write({"train_b.py": SCRIPT + "import train_a\n" + main})) == ["TCL106"]


def test_a_setting_of_a_package_holds_for_whatever_is_in_it(project: Project) -> None:
    made = NET.replace("def forward", "@torch.compile\n        def forward")
    files = {
        "pkg/__init__.py": "import torch\n" + SET,
        "pkg/net.py": made,
        "pkg/sub/__init__.py": "",
        "pkg/sub/other.py": made,
    }
    assert codes(project.write(files)) == ["TCL106", "TCL106"]


def test_a_limit_that_is_set_back_is_not_raised(project: Project) -> None:
    source = """
        import torch

        def run(f):
            old = torch._dynamo.config.recompile_limit
            torch._dynamo.config.recompile_limit = 64
            try:
                return f()
            finally:
                torch._dynamo.config.recompile_limit = old
    """
    assert [f.line for f in project.write({"a.py": source}).lint().findings] == [5]


BLOCK = "import torch\nwith torch._dynamo.config.patch(capture_scalar_outputs=True):\n    pass\n"
HELPER = "import torch\ndef scalars():\n    return torch._dynamo.config.patch(capture_scalar_outputs=True)\n"


@pytest.mark.parametrize("source", [BLOCK, HELPER], ids=["block", "helper"])
def test_a_setting_for_a_while_says_nothing_of_other_files(project: Project, source: str) -> None:
    files = {"net.py": NET, "apart.py": f"import net\n{source}", "main.py": "import net, apart\n"}
    assert codes(project.write(files)) == BOTH


def test_it_counts_where_it_is_put_in_force(project: Project) -> None:
    train = "import torch\nimport apart\nfrom net import Net\nnet = torch.compile(Net())\n"
    train += "with apart.scalars():\n    net(torch.ones(2))\n"
    assert codes(project.write({"net.py": NET, "apart.py": HELPER, "train.py": train})) == ["TCL106"]
