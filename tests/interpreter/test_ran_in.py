"""In which mode the program runs what it compiles: what only the other mode runs is not told, where that never is."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import Project
from test_leading import opened

from tclint.run import few

NET = """
    import torch
    from torch import nn


    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.proj = nn.Linear(8, 8)

        def forward(self, x):
            if self.training:
                print("training")  # trained
            else:
                print("evaluation")  # evaluated
            return self.proj(x)


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = Head()

        def forward(self, x):
            return self.head(x) * 2
"""
HEAD = "import torch\nfrom torch import nn\nfrom net import Head, Net\n"
TRAINER = f"""{HEAD}

class Trainer:
    def __init__(self, freeze, ddp):
        self.build(freeze, ddp)

    def build(self, freeze, ddp):
        model = Net()
        if freeze:
            model.head.eval()
        model = torch.compile(model)
        self.model = nn.parallel.DistributedDataParallel(model) if ddp else model

    def run_batch(self, batches):
        self.model.train()
        for batch in batches:
            self.run_micro_batch(batch)

    def run_micro_batch(self, batch):
        self.model(batch).sum().backward()


def main(flags):
    trainer = Trainer(flags.freeze, flags.ddp)
    trainer.run_batch([torch.randn(2, 8)] * 3)
"""
TRAINED, EVALUATED, BOTH = ["training"], ["evaluation"], ["training", "evaluation"]


def modes(project: Project, **overrides: object) -> list[str]:
    """Which arms of the head are told."""
    project.write({"net.py": NET})
    lines = (project.root / "net.py").read_text().splitlines()
    found = [f for f in project.lint(**overrides).findings if f.path == "net.py" and not f.assumed]
    return [lines[f.line - 1].split('"')[1] for f in found]


def test_what_is_trained_alone(project: Project) -> None:
    assert modes(project.write({"train.py": TRAINER})) == TRAINED


SCRIPT = "model = Net()\nmodel = torch.compile(model)\nfor step in range(9):\n    model.train()\n    model(torch.randn(2, 8))\n"
INFERENCE = (
    "model = Net()\nmodel.eval()\nmodel = torch.compile(model)\nfor step in range(9):\n    model(torch.randn(2, 8))\n"
)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (SCRIPT, TRAINED),
        (SCRIPT.replace("train()", "train(True)"), TRAINED),
        (SCRIPT.replace("train()", "train(mode=step > 3)"), BOTH),
        (SCRIPT.replace("    model.train()\n", ""), BOTH),  # nobody says so: others may
        (SCRIPT + "model.eval()\nmodel(torch.randn(2, 8))\n", BOTH),
        (SCRIPT + "other = model\nother.eval()\n", BOTH),
        (SCRIPT + "for each in [model]:\n    each.eval()\n", BOTH),
        (SCRIPT + "model.training = False\n", BOTH),
        (SCRIPT + "getattr(model, 'eval')()\n", BOTH),
        (SCRIPT + "def judge(net):\n    net.eval()\n    return net(torch.randn(2, 8))\n", BOTH),
        (SCRIPT + "model._orig_mod.eval()\n", BOTH),
        (SCRIPT.replace("model = torch.compile(model)", "model.compile()"), TRAINED),
        (SCRIPT.replace("model = torch.compile(model)", "model.forward = torch.compile(model.forward)"), TRAINED),
        (SCRIPT + "import copy\ncopied = copy.deepcopy(model)\ncopied.eval()\n", BOTH),
        (SCRIPT + "whole = nn.Sequential(model, nn.ReLU())\nwhole.eval()\n", BOTH),
        (SCRIPT + "whole = nn.ModuleDict()\nwhole.add_module('m', model)\nwhole.eval()\n", BOTH),
        (
            "net = Net()\nhead = net.head\nhead.eval()\nhead = torch.compile(head)\nhead(torch.randn(2, 8))\nnet.train()\n",
            BOTH,
        ),
        (
            "net = Net()\nnet.head.eval()\nnet.head = torch.compile(net.head)\nnet.train()\nnet(torch.randn(2, 8))\n",
            BOTH,
        ),
        (SCRIPT + "model.head.eval()\n", BOTH),
        (SCRIPT + "for each in model.modules():\n    each.eval()\n", BOTH),
        (SCRIPT + "model.apply(lambda each: each.eval())\n", BOTH),
        (SCRIPT + "nn.Module.eval(model)\n", BOTH),
        (SCRIPT + "class Kept:\n    @property\n    def net(self):\n        return model\nKept().net.eval()\n", BOTH),
        (SCRIPT + "def get():\n    return model\nget().eval()\n", BOTH),
        (SCRIPT + "from types import SimpleNamespace\nkept = SimpleNamespace(net=model)\nkept.net.eval()\n", BOTH),
        (SCRIPT + "class State:\n    net: nn.Module\n    step: int\nState(model, 1).net.eval()\n", BOTH),
        (SCRIPT + "head = model.head\nhead.eval()\n", BOTH),
        (SCRIPT + "teacher = nn.Linear(8, 8)\nteacher.eval()\n", TRAINED),
        (SCRIPT + "import ignite\nignite.run(model)\n", BOTH),
        (
            SCRIPT + "from functools import partial\ndef judge(one):\n    one.eval()\nlater = partial(judge, model)\n",
            BOTH,
        ),
        (SCRIPT.replace("model = Net()", "import peft\nmodel = peft.wrap(Net())\nmodel = Net()"), TRAINED),
        (
            SCRIPT
            + "class Both(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.model = model\n",
            BOTH,
        ),
        (
            SCRIPT.replace(
                "model = Net()", "def load():\n    net = Net()\n    net.eval()\n    return net\nmodel = load()"
            ),
            BOTH,
        ),
        (INFERENCE, EVALUATED),
        (INFERENCE.replace("model.eval()\n", "model = model.eval()\n"), EVALUATED),
        (INFERENCE.replace("model.eval()\n", "").replace("(model)", "(model.eval())"), EVALUATED),
        (INFERENCE.replace("eval()", "train(False)"), EVALUATED),
        (INFERENCE + "model.train()\nmodel(torch.randn(2, 8))\n", BOTH),
        (INFERENCE + "model.head.train()\n", BOTH),
        ("model = torch.compile(Net())\nmodel(torch.randn(2, 8))\nmodel.eval()\nmodel(torch.randn(2, 8))\n", BOTH),
        (
            "model = torch.compile(Net())\ndef use(x):\n    model.eval()\n    return model(x)\nuse(torch.ones(2, 8))\n",
            EVALUATED,
        ),
    ],
)
def test_in_a_script(project: Project, script: str, told: list[str]) -> None:
    assert modes(project.write({"train.py": HEAD + script})) == told


JUDGE = "def judge(one):\n    one.eval()\n    return one\n"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("other.py", "from train import Trainer\ndef judge(trainer):\n    trainer.model.eval()\n", BOTH),
        ("other.py", "from train import Trainer\ndef judge(trainer):\n    trainer.model.head.eval()\n", BOTH),
        ("other.py", "model = load()\nmodel.eval()\n", TRAINED),  # it gets nothing of what the trainer has
        (
            "other.py",
            "from train import Trainer\nclass More(Trainer):\n    def judge(self):\n        self.model.eval()\n",
            BOTH,
        ),
        (
            "test_train.py",
            "from train import Trainer\ntrainer = Trainer(False, False)\ntrainer.model.eval()\n",
            TRAINED,
        ),
    ],
)
def test_in_files_around(project: Project, name: str, text: str, told: list[str]) -> None:
    assert modes(project.write({"train.py": TRAINER, name: text})) == told


def test_its_own_methods_may_switch_it(project: Project) -> None:
    project.write({"train.py": TRAINER})
    modes(project)
    text = (project.root / "net.py").read_text()
    for receiver in ("self", "super()"):
        more = f"{text}\n    def freeze(self):\n        {receiver}.eval()\n"
        project.write({"net.py": more})
        lines = [f.line for f in project.lint().findings if f.path == "net.py"]
        assert len(lines) == len(BOTH), receiver


def test_where_it_is_handed_to(project: Project) -> None:
    handing = TRAINER.replace("        self.model.train()\n", "        self.model.train()\n        judge(self.model)\n")
    project.write({"train.py": f"from judges import judge\n{handing}"})
    assert modes(project.write({"judges.py": JUDGE})) == BOTH
    assert modes(project.write({"judges.py": "def judge(one):\n    return one.state_dict()\n"})) == TRAINED


def test_a_library_around_may_switch(project: Project) -> None:
    trainer = TRAINER.replace("class Trainer:", "class Trainer(lightning.Fabric):")
    assert modes(project.write({"train.py": f"import lightning\n{trainer}"})) == BOTH


def test_a_train_of_its_own_says_what_it_says(project: Project) -> None:
    """What a part keeps out of training is not in it, however deep it lies."""
    project.write(
        {
            "net.py": NET,
            "kept.py": f"""{HEAD}
class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()

    def train(self, mode=True):
        super().train(mode)
        self.head.eval()
        return self

    def forward(self, x):
        return self.head(x)


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.frozen = Frozen()

    def forward(self, x):
        return self.frozen(x) if self.training else x


whole = torch.compile(Whole())
whole.train()
whole(torch.randn(2, 8))
""",
        }
    )
    assert modes(project) == BOTH


def test_for_one_file_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few, "_LARGE", 0)
    project.write({"net.py": NET, "train.py": TRAINER})

    def found() -> list[int]:
        return [f.line for f in opened(project.root).reporting("net.py").lint().findings if not f.assumed]

    (trained,) = found()
    project.write({"other.py": "from train import Trainer\ndef judge(trainer):\n    trainer.model.eval()\n"})
    assert found() == [trained, trained + 2]


def test_an_edit_elsewhere_is_seen(project: Project, tmp_path: Path) -> None:
    cache = {"no-cache": False, "cache-dir": str(tmp_path / "cache")}
    edits = ["", "trainer.model.eval()\n", "\n\ntrainer.model.eval()\n", "trainer.model.train()\n"]
    for edit, told in zip(edits, (TRAINED, BOTH, BOTH, TRAINED), strict=True):
        project.write({"train.py": TRAINER, "other.py": f"from train import Trainer\ntrainer = Trainer(0, 0)\n{edit}"})
        assert modes(project, **{key.replace("-", "_"): value for key, value in cache.items()}) == told
