"""A switch that lets a number into the graph is offered where nobody asks for the number's value."""

from __future__ import annotations

import textwrap

import pytest

from tclint.run.project import Project
from tclint.sources import configuration
from tclint.sources.files import InputFile

HEAD = """import math
import torch
from torch import nn

NAMES = ["a", "b"]


def scaled(x, n):
    return x * n


class Meter:
    def __init__(self):
        self.total = 0

    def add(self, value, times=1):
        self.total += value * times


def chosen(n):
    return 1 if n > 2 else 0


"""


def offered(forward: str) -> bool:
    """Whether the switch is what is offered for the number that is read out in `forward`."""
    body = textwrap.indent(textwrap.dedent(forward), "        ")
    source = f"{HEAD}class Model(nn.Module):\n    def forward(self, x: torch.Tensor):\n{body}\n".encode()
    settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides={"no-cache": True})
    findings = Project([InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)], settings, "/nowhere").lint()
    read = [f for f in findings.findings if f.code in ("TCL103", "TCL105", "TCL106")]
    assert read
    return any(f.fix is not None and f.fix.switch is not None for f in read)


@pytest.mark.parametrize(
    "forward",
    [
        "n = int(x.sum())\nreturn torch.zeros(n)",
        "n = int(x.sum())\nreturn x[:n]",
        "n = max(1, int(x.sum()))\nreturn torch.full((n, 2), 1.0)",
        "return torch.zeros(x.sum().item()), 2",
        "sizes = [a * 2 for a in x.tolist()]\nreturn x.split(sizes)",
        "lo, hi = int(x.min()), int(x.max())\nreturn torch.arange(lo, hi)",
        "return torch.nonzero(x)",
        "rows = torch.nonzero(x).squeeze()\nreturn x.sum() / rows.numel()",
        "rows = x[x > 0]\nreturn torch.zeros(rows.shape[0], 2)",
        "rows = x[x[:, 0] > 0]\nif rows.shape[-1] > 2:\n    rows = rows * 2\nreturn rows.sort()",
        "first, _ = torch.where(x > 0)\nreturn x.index_select(0, first)",
        "n = int(x.sum())\nn = (n + 3) // 4 * 4\nreturn torch.zeros(n)",
        "n = int(x.sum())\nreturn x, f'{n} rows'",
        "n = int(x.sum())\nreturn x, {'many': n > 2, 'text': '{}'.format(n)}",
        "logs = {}\nfor k in (1, 2):\n    logs[f'top{k}'] = round(x[:k].sum().item(), 2)\nreturn logs['top1'], logs",
        "rows = x.numpy()\nreturn x * 2, float(rows.max())",
    ],
)
def test_sizes_and_bounds_of_tensors(forward: str) -> None:
    assert offered(forward)


@pytest.mark.parametrize(
    "forward",
    [
        "n = int(x.sum())\nif n > 2:\n    x = x + 1\nreturn x",
        "n = int(x.sum())\nreturn x, 'rows: ' + f'{n}'",
        "n = int(x.sum())\nreturn x, ' '.join([f'{n}'])",
        "n = int(x.sum())\nmany = n > 2\nif many:\n    x = x + 1\nreturn x",
        "n = int(x.sum())\nn = n // 2\nreturn x, NAMES[n]",
        "return [(NAMES[i.item()], s.item()) for i, s in zip(x.long(), x)]",
        "n = int(x.sum())\nreturn x, NAMES[n]",
        "n = int(x.sum())\nreturn [x] * n",
        "n = int(x.sum())\nfor i in range(n):\n    x = x + i\nreturn x",
        "n = int(x.sum())\nreturn x * chosen(n)",
        "n = x.sum().item()\nreturn x, math.floor(n)",
        "return x, str(x.tolist())",
        "meter = Meter()\nmeter.add(int(x.sum()))\nreturn x * meter.total",
        "seen = set()\nfor a in x.tolist():\n    seen.add(a)\nreturn x, len(seen)",
        "for i in torch.nonzero(x):\n    x = x + i\nreturn x",
        "rows = torch.nonzero(x)\nreturn [row for row in rows]",
        "rows = torch.nonzero(x).squeeze()\nif rows.numel() > 0:\n    x = x + 1\nreturn x",
        "rows = x[x > 0]\nreturn x if len(rows) == 0 else rows",
        "rows = x[x > 0]\nn = rows.shape[0]\nif n:\n    x = x + n\nreturn x",
        "first, _ = torch.where(x > 0)\nkept = first.unsqueeze(0)\nif kept.size(0) > 1:\n    x = x + 1\nreturn x",
        "return [x + 1 for row in x[x > 0]]",
        "n = int(x.sum())\nreturn x.chunk(n)",
        "n = int(x.sum())\nreturn x.split(n)[0]",
        "n = int(x.sum())\nreturn torch.linspace(0, 1, steps=n)",
        "return nn.functional.one_hot(x.long(), x.max().item())",
        "return x.float().tolist()[0] * x",
        "rows = x[x[:, 0] > 0]\nreturn torch.cdist(rows, rows)",
        "rows = x[x[:, 0] > 0]\nreturn rows.logsumexp(0)",
    ],
)
def test_what_needs_the_value(forward: str) -> None:
    assert not offered(forward)


KEPT = """
import torch
{switch}

@torch.compile
def f(x: torch.Tensor):
    n = {number}
    if {test}:
        x = x + 1
    return x * 2
"""


@pytest.mark.parametrize(
    ("number", "test", "effect"),
    [
        ("(x > 0).sum().item()", "n", "error"),
        ("int(x.sum())", "not n", "error"),
        ("float(x.sum())", "n and x.shape[0]", "error"),
        ("int(x.sum())", "n != 0", "graph-break"),
        ("(x > 0).any().item()", "n", "graph-break"),
        ("bool((x > 0).any())", "n", "graph-break"),
    ],
)
def test_the_truth_of_a_number_that_stays_in_the_graph_is_refused(number: str, test: str, effect: str) -> None:
    """As torch 2.13 does: it raises where Python asks whether such a number is zero, and breaks the graph where a bool was read."""

    def found(switch: str) -> list[str]:
        source = KEPT.format(switch=switch, number=number, test=test).encode()
        overrides = {"no-cache": True, "select": ["TCL101"]}
        settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides=overrides)
        file = InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)
        return [f.effect.value for f in Project([file], settings, "/nowhere").lint().findings]

    assert found("torch._dynamo.config.capture_scalar_outputs = True") == [effect]
    assert found("") == (["graph-break"] if "bool" in number else [])


RAISES = """
import torch
{switches}

@torch.compile
def f(x: torch.Tensor, names: list[torch.Tensor]):
    n = (x > 0).sum()
    return {result}
"""
SCALARS = "torch._dynamo.config.capture_scalar_outputs = True"
SIZES = "torch._dynamo.config.capture_dynamic_output_shape_ops = True"


@pytest.mark.parametrize(
    ("result", "switch", "found"),
    [
        ("x[x > 0].tolist()", SIZES, ["TCL103 error"]),
        ("x.nonzero().flatten().tolist()", SIZES, ["TCL103 error"]),
        ("x[x > 0].sum().tolist()", SCALARS, ["TCL106 graph-break"]),
        ("x.narrow(0, n, 2)", SCALARS, ["TCL104 error"]),
        ("x.narrow(0, 0, n)", SCALARS, []),
        ("x.narrow(0, n.item(), 2)", SCALARS, []),
        ("x.roll(n, 0)", SCALARS, ["TCL104 error"]),
        ("[x, x + 1][n.item()]", SCALARS, ["TCL104 error"]),
        ("[x[0], x[1]] if list(x[:n].shape) == [n, 2] else []", SCALARS, ["TCL118 error"]),
        ("list(x[:n].shape) == [n, 2]", SCALARS, ["TCL118 graph-break"]),
    ],
)
def test_where_a_switch_makes_torch_compile_raise(result: str, switch: str, found: list[str]) -> None:
    """Each was asked of torch 2.13. No fixture: a program that does not run has no breaks to compare."""
    overrides = {"no-cache": True, "select": ["TCL1"]}
    settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides=overrides)
    source = RAISES.format(switches=switch, result=result).encode()
    file = InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)
    findings = Project([file], settings, "/nowhere").lint().findings
    assert [f"{f.code} {f.effect.value}" for f in findings] == found


def test_a_switch_is_not_offered_where_another_line_would_raise() -> None:
    """The number is cured by the switch that makes the list of another function raise."""

    def kept(rows: str) -> bool:
        source = (
            "import torch\n\n\ndef rows(x):\n"
            f"    n = (x > 0).sum()\n    return {rows}\n\n\n"
            "@torch.compile\ndef f(x: torch.Tensor):\n    return torch.zeros(int(x.sum())), rows(x)\n"
        ).encode()
        overrides = {"no-cache": True, "select": ["TCL1"]}
        settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides=overrides)
        file = InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)
        done = Project([file], settings, "/nowhere").fix(unsafe=True, write=False).fixed
        return any(b"capture_scalar_outputs" in text for text in done.contents.values())

    assert kept("x.roll(n, 0)") is False
    assert kept("x[:n]") is True


@pytest.mark.parametrize(("before", "left_out"), [("y = x[rows] * 2", True), ("if n:\n        y = x[rows] * 2", False)])
def test_an_if_on_the_size_stays_where_what_it_reads_may_not_be_there(before: str, left_out: bool) -> None:
    """`y` is bound by another `if`: without its own, the write would fail where that one was not taken."""
    source = (
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, n: bool):\n    out = x.clone()\n"
        f"    rows = (x > 0).nonzero().squeeze()\n    {before}\n"
        "    if rows.numel() > 0:\n        out[rows] = y\n    return out\n"
    ).encode()
    settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides={"no-cache": True})
    file = InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)
    found = Project([file], settings, "/nowhere").lint().findings
    edits = [edit.text.strip() for f in found if f.fix is not None for edit in f.fix.edits]
    assert ("out[rows] = y" in edits) is left_out, edits


@pytest.mark.parametrize(
    ("value", "switched", "scattered"), [("p[m]", "", False), ("p[m]", "on", True), ("p", "", True)]
)
def test_a_break_among_the_arguments_of_a_method_would_be_two(value: str, switched: str, scattered: bool) -> None:
    """Asked of torch 2.13: `o[m] = p[m]` breaks once, `o.masked_scatter_(m, p[m])` twice, and not at all under the switch."""
    switch = "torch._dynamo.config.capture_dynamic_output_shape_ops = True\n" if switched else ""
    # Under the switch it costs something where CUDA graphs are recorded, and nowhere else.
    mode = "(mode='reduce-overhead')" if switched else ""
    source = (
        f"import torch\n\n{switch}\n\n@torch.compile{mode}\ndef f(o: torch.Tensor, p: torch.Tensor):\n"
        f"    m = p.sum(-1) > 0\n    o[m] = {value}\n    return o + 1\n"
    ).encode()
    settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides={"no-cache": True})
    file = InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)
    found = [f.fix for f in Project([file], settings, "/nowhere").lint().findings if f.code == "TCL302"]
    assert [bool(fix and fix.edits) for fix in found] == [scattered]


def test_a_switch_answers_for_the_files_that_it_reaches_alone() -> None:
    """A fix of one program that does not pay costs no switch of another."""
    first = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return torch.zeros(int(x.sum()))\n"
    second = (
        "import torch\n\n\ndef sure(x):\n    return bool((x > 0).all())\n\n\n"
        "@torch.compile\ndef g(xs: list[torch.Tensor]):\n    for x in xs:\n        if sure(x):\n            return x\n    return xs[0]\n"
    )
    files = [
        InputFile(name, f"/nowhere/{name}", explicit=True, text=text.encode())
        for name, text in (("first.py", first), ("second.py", second))
    ]
    settings = configuration.load(
        ["first.py", "second.py"], cwd="/nowhere", isolated=True, overrides={"no-cache": True}
    )
    done = Project(files, settings, "/nowhere").fix(unsafe=True, write=False).fixed
    assert list(done.contents) == ["first.py"]


@pytest.mark.parametrize(
    ("method", "value", "offers"),
    [
        ("sure", "(x > 0).all()", True),
        ("sure", "(x > 0).all() and (x < 9).all()", False),
        ("sure", "not (x > 0).all()", False),
        ("__contains__", "(x > 0).all()", False),
    ],
)
def test_bool_goes_where_no_truth_is_asked_for_behind_it(method: str, value: str, offers: bool) -> None:
    used = "x + 1 if x in self else x" if method == "__contains__" else "x + 1 if self.sure(x) else x"
    source = (
        f"import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def {method}(self, x):\n"
        f"        return bool({value})\n\n    def forward(self, x: torch.Tensor):\n        return {used}\n"
    ).encode()
    settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides={"no-cache": True})
    file = InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)
    found = [f for f in Project([file], settings, "/nowhere").lint().findings if "bool()" in f.message]
    assert any(f.fix is not None and bool(f.fix.edits) for f in found) == offers


@pytest.mark.parametrize(
    ("used", "kept"),
    [
        ("x * p", False),
        ("x[:, -p:]", True),
        ("x[p]", True),
        ("[x + i for i in range(p)]", True),
    ],
)
def test_a_number_that_a_caller_counts_with_stays_a_number(used: str, kept: bool) -> None:
    """`x[:, -p:]` with a tensor and the switch raises in torch 2.13, with a number it does not."""
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def period(self, x):\n"
        "        return x.size(-1) // max(int(x.sum(0).argmax()), 1)\n\n"
        f"    def forward(self, x: torch.Tensor):\n        p = self.period(x)\n        return {used}\n"
    ).encode()
    settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides={"no-cache": True})
    file = InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)
    done = Project([file], settings, "/nowhere").fix(unsafe=True, write=False).fixed
    assert (b"max(int(" in done.contents.get("m.py", source)) is kept
