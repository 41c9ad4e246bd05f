"""What verify reads from a program's source: how it makes and calls its targets, what a finding claims, what to fill in."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from verify_helpers import finding_on

from tclint.model.finding import Effect
from tclint.verify.claims import Claim, claim_of, is_about, is_varied
from tclint.verify.guess import TensorSpec, from_description, from_input
from tclint.verify.options import VerifyOptions
from tclint.verify.rebound import Rebinding, rebindings
from tclint.verify.scaffold import write_scaffold
from tclint.verify.usage import calls_after, literals_of, slice_for, uses_of
from tclint.verify.verdict import Outcome, Verdict, VerifyReport

PROGRAM = """
import torch
import wandb
from model import Model, Config

SEED = 3

def unrelated():
    return wandb.init()

def train(path):
    config = Config(width=32)
    config.depth = 2
    model = Model(config)
    data = open(path).read()
    batch = torch.zeros(SEED, 32)
    if batch.sum() > 0:
        print(data)
    return model(batch, mode="fast")
"""


def test_tests_come_before_the_program(write: Callable[[str, str], Path]) -> None:
    root = write("train.py", PROGRAM).parent
    write("tests/test_model.py", "from model import Model\n\ndef test_it():\n    Model(None)(1)\n")
    assert [Path(use.path).name for use in uses_of("Model", str(root))] == ["test_model.py", "train.py"]


def test_a_class_of_the_same_name_in_another_file_is_another(write: Callable[[str, str], Path]) -> None:
    path = write("model.py", "class Model:\n    pass\n\nModel()\n")
    write("other.py", "class Model:\n    pass\n\nModel()\n")
    write("third.py", "from model import Model\n\nModel()\n")
    assert {Path(use.path).name for use in uses_of("Model", str(path.parent), str(path))} == {"model.py", "third.py"}


def test_functions_that_are_bound_anew_by_a_compile_site(write: Callable[[str, str], Path]) -> None:
    text = """
        import torch

        def step(x): return x

        def plain(x): return x

        def local(x): return x

        def main(mode):
            global step, plain
            step = torch.compile(step, mode="reduce-overhead", fullgraph=True)
            plain = torch.compile(plain, mode=mode)
            local = torch.compile(local)
            return local
    """
    path = str(write("steps.py", dedent(text)))
    arguments = (("mode", "'reduce-overhead'"), ("fullgraph", "True"))
    # The arguments of one cannot be read, and the last binds a name of its function.
    assert rebindings(path) == (Rebinding(path, "step", arguments),)


def test_a_slice_holds_what_a_call_needs_and_no_more(write: Callable[[str, str], Path]) -> None:
    root = write("train.py", PROGRAM).parent
    (use,) = uses_of("Model", str(root))
    (call,) = calls_after(use)
    made = slice_for(use, [use.call, call.func, *call.args], call.lineno)
    assert [ast.unparse(statement) for statement in made.statements] == [
        "import torch",
        "from model import Model, Config",
        "SEED = 3",
        "config = Config(width=32)",
        "config.depth = 2",
        "model = Model(config)",
        "batch = torch.zeros(SEED, 32)",
    ]
    assert not made.unbound


def test_a_field_may_be_named_like_what_it_is_made_of(write: Callable[[str, str], Path]) -> None:
    text = "name = 'x'\nother = 1\n\nclass Config:\n    name: str = name\n    again: str = name\n    other = 2\n\nConfig()\n"
    root = write("config.py", text).parent
    (use,) = uses_of("Config", str(root))
    assert [ast.unparse(s).splitlines()[0] for s in slice_for(use, [use.call]).statements] == [
        "name = 'x'",
        "class Config:",
    ]


def test_a_slice_names_what_comes_from_elsewhere(write: Callable[[str, str], Path]) -> None:
    root = write("train.py", "def train(config):\n    return Model(config)\n").parent
    (use,) = uses_of("Model", str(root))
    assert slice_for(use, [use.call]).unbound == {"Model", "config"}


def test_the_first_case_of_a_table_is_used(write: Callable[[str, str], Path]) -> None:
    source = "@pytest.mark.parametrize('a, b', [(1, 2), (3, 4)])\ndef test_it(a, b, c=5):\n    Model(a, b, c)\n"
    root = write("test_it.py", source).parent
    (use,) = uses_of("Model", str(root))
    assert [ast.unparse(s) for s in slice_for(use, [use.call]).statements] == ["c = 5", "a = 1", "b = 2"]


def test_constants_that_the_program_passes(write: Callable[[str, str], Path]) -> None:
    source = "def step(x):\n    axis = -1 if x.tall else -2\n    fused(x, 5, dim=axis)\n    fused(x, 5, dim=-2)\n"
    root = write("optim.py", source).parent
    assert literals_of("fused", ["x", "steps", "dim"], str(root)) == {"steps": [5], "dim": [-2, -1]}


@pytest.mark.parametrize(
    ("message", "claim"),
    [
        ("`mean` specialises on the integer `red_dim`", Claim(("mean", "red_dim"))),
        ("`self.cache` is a cache keyed by a size", Claim(("self.cache",), frozenset({"size"}))),
        ("`x.T` has strides that follow the batch", Claim((), frozenset({"stride", "size"}))),
        ("called under autocast with a dtype that varies", Claim((), frozenset({"dtype"}))),
    ],
)
def test_what_a_finding_claims(message: str, claim: Claim) -> None:
    assert claim_of(replace(finding_on("m.py", 1, Effect.RECOMPILE), message=message)) == claim


def test_a_size_guard_does_not_speak_of_a_stride() -> None:
    size, stride = "tensor 'x' size mismatch at index 0. expected 2, actual 3", "tensor 'x' stride mismatch at index 0"
    assert is_about(size, Claim((), frozenset({"size"})))
    assert not is_about(size, Claim((), frozenset({"stride"})))
    assert is_about(stride, Claim((), frozenset({"stride"})))
    assert is_about(size, Claim())
    assert is_about("0/0: red_dim == -1", Claim(("mean", "red_dim")))
    assert not is_about(size, Claim(("size", "red_dim")))  # `size` is a word of Dynamo's there
    assert is_varied(("red_dim",), Claim(("red_dim",)))
    assert not is_varied((), Claim(("red_dim",)))


def test_examples_to_fill_in(write: Callable[[str, str], Path], tmp_path: Path) -> None:
    source = "class Model:\n    def __init__(self, cfg, depth: int, causal=True): ...\n    def forward(self, x, mask=None):\n        return x\n"
    root = write("pkg/model.py", source).parent.parent
    (root / "pkg" / "__init__.py").touch()
    finding = finding_on("pkg/model.py", 4, function="Model.forward")
    undecided = Verdict(finding, Outcome.INCONCLUSIVE, "Model(cfg) cannot be made")
    report = VerifyReport((undecided, replace(undecided, outcome=Outcome.CONFIRMED)))
    options = VerifyOptions(root=str(root))
    assert write_scaffold(report, options, str(tmp_path / "examples.py")) == 1
    text = (tmp_path / "examples.py").read_text()
    ast.parse(text)
    assert '@tclint.example("pkg.model:Model")' in text
    assert "target = Model(cfg=..., depth=2)" in text
    assert '{"x": torch.randn(2, 8, 32)}' in text
    assert "pkg/model.py:4 TCL101: Model(cfg) cannot be made" in text
    assert write_scaffold(report, options, str(tmp_path / "examples.py")) == 0  # what is there is not written again


def test_shapes_in_docstrings_and_comments() -> None:
    text = '''def pack(
        grads: Tensor,  # (12, 768, 3072) - stacked gradients
        lr,
    ):
    """
    Args:
        emb: ``(B, Np, W)`` embedded tokens.
        valid: ``(B, Np)`` bool.
        pos: ``(3, B, Np + Nt)`` position ids.
        image (Tensor): of shape (B, C, H, W)
        mode: one of (fast or slow)
    """
    '''
    assert from_description(text, "grads") == TensorSpec((12, 32, 32))
    assert from_description(text, "emb") == TensorSpec((2, 8, 32))
    assert from_description(text, "valid") == TensorSpec((2, 8), "bool")
    assert from_description(text, "pos") == TensorSpec((3, 2, 16), "int64")
    assert from_description(text, "image") == TensorSpec((2, 32, 32, 32))
    assert from_description(text, "lr") is None
    assert from_description(text, "mode") is None
    further = """
    Parameters
    ----------
    x : torch.Tensor
        The signal, of shape (batch, 3, T).
    :param words: Long tensor of size ``(batch_size, num_fields)``
    size (int, optional): rows (default)
    image: B x C x H x W
    Shape:
        - Input: (N, C, L)
    """
    assert from_description(further, "x") == TensorSpec((2, 3, 8))
    assert from_description(further, "words") == TensorSpec((2, 8), "int64")
    assert from_description(further, "size") is None
    assert from_description(further, "image") == TensorSpec((2, 32, 32, 32))
    assert from_input(further, "x") == TensorSpec((8, 32, 8))
