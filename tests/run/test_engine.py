"""Whole programs: what a compile site makes compiled, across files, and what it leaves alone.

Every hazard is an `.item()`, or an `if` on a tensor, marked `# here` where it must be found; the same code unmarked
must not be.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lines, told

BREAKS = ["TCL101", "TCL103"]


def check(project: Project, *paths: str, **settings: object) -> None:
    """The findings are exactly on the marked lines."""
    report = project.lint(*paths, select=BREAKS, **settings)
    assert lines(report) == project.marked(), told(report.findings)


def write(project: Project, **sources: str) -> Project:
    """Files by their names, `models__net` for models/net.py, each with the usual imports."""
    for name, source in sources.items():
        project.write({name.replace("__", "/") + ".py": source})
        path = project.root / (name.replace("__", "/") + ".py")
        path.write_text(PRELUDE + path.read_text())
    return project


# --- compile sites ----------------------------------------------------------------------------------------------------


def test_who_hands_a_model_to_another_files_helper_compiles_it(project: Project) -> None:
    write(
        project,
        helper="""
        def speed_up(model, on=True):
            return torch.compile(model) if on else model

        def lazily(function):
            compiled = None

            def call(*args):
                nonlocal compiled
                if compiled is None:
                    compiled = torch.compile(function)
                return compiled(*args)

            return call
        """,
        train="""
        from helper import lazily, speed_up

        class Net(nn.Module):
            def forward(self, x):
                return x / x.abs().max().item()  # here

        @lazily
        def scaled(x: torch.Tensor):
            return x / x.abs().max().item()  # here

        class Outer(nn.Module):
            def forward(self, x):
                return scaled(x)

        def main():
            net = speed_up(Net())
            return net(torch.ones(3))
        """,
    )
    check(project, assume_compiled="never")


def test_a_site_in_train_decides_what_is_compiled_in_models(project: Project) -> None:
    write(
        project,
        models__net="""
        class Net(nn.Module):
            def forward(self, x):
                scale = x.abs().max().item()  # here
                return x / scale

        class Unused(nn.Module):
            def forward(self, x):
                return x / x.abs().max().item()
        """,
        train="""
        from models.net import Net

        def main():
            model = torch.compile(Net())
            return model(torch.randn(2, 4)).sum().item()
        """,
    )
    check(project)


SITES = {
    "decorator": "@torch.compile\ndef f(x):\n    return x / x.max().item()  # here\n",
    "decorator-with-options": (
        "@torch.compile(mode='max-autotune', dynamic=True)\ndef f(x):\n    return x.max().item()  # here\n"
    ),
    "imported with others": "from torch import Tensor, compile\n\n@compile\ndef f(x: Tensor):\n    return x / x.max().item()  # here\n",
    "imported": "from torch import compile\n\n@compile\ndef f(x):\n    return x / x.max().item()  # here\n",
    "renamed": "import torch as t\n\n@t.compile\ndef f(x):\n    return x / x.max().item()  # here\n",
    "call": "def f(x):\n    return x / x.max().item()  # here\n\ng = torch.compile(f, fullgraph=False)\n",
    "keyword": "def f(x):\n    return x / x.max().item()  # here\n\ng = torch.compile(model=f)\n",
    "lambda": "f = torch.compile(lambda x: x / x.max().item())  # here\n",
    "curried": "def f(x):\n    return x / x.max().item()  # here\n\ng = torch.compile(dynamic=True)(f)\n",
    "partial-of-compile": (
        "from functools import partial\n\n@partial(torch.compile, mode='default')\n"
        "def f(x):\n    return x / x.max().item()  # here\n"
    ),
    "variable-options": (
        "OPTIONS = {'mode': 'default'}\n\ndef f(x):\n    return x / x.max().item()  # here\n\n"
        "g = torch.compile(f, **OPTIONS)\n"
    ),
    "dynamo-optimize": (
        "import torch._dynamo\n\n@torch._dynamo.optimize('eager')\ndef f(x):\n    return x / x.max().item()  # here\n"
    ),
    "conditional": (
        "import sys\n\ndef f(x):\n    return x / x.max().item()  # here\n"
        "\nif '--compile' in sys.argv:\n    f = torch.compile(f)\n"
    ),
}


@pytest.mark.parametrize("name", SITES)
def test_ways_to_compile_a_function(project: Project, name: str) -> None:
    check(write(project, m=SITES[name]))


NET = """
class Inner(nn.Module):
    def forward(self, x):
        return x / x.max().item()  # here

class Other(nn.Module):
    def forward(self, x):
        return x / x.max().item()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.other = Other()
        self.blocks = nn.ModuleList([Inner() for _ in range(2)])
{init}
    def forward(self, x):
        return self.inner(x) + self.other(x)
{more}
"""

MODULE_SITES = {
    "forward-rebound": ("        self.inner.forward = torch.compile(self.inner.forward)\n", ""),
    "attribute-rebound": ("        self.inner = torch.compile(self.inner)\n", ""),
    "module-compile": ("        self.inner.compile()\n", ""),
    "blocks-in-a-loop": (
        "        for i, block in enumerate(self.blocks):\n            self.blocks[i] = torch.compile(block)\n",
        "",
    ),
    "blocks-compile-method": ("        for block in self.blocks:\n            block.compile(mode='default')\n", ""),
    "comprehension": ("        self.blocks = nn.ModuleList([torch.compile(b) for b in self.blocks])\n", ""),
    "in-a-method": ("", "    def compile_regional(self):\n        self.inner = torch.compile(self.inner)\n"),
    "configured-wrapper": ("        self.inner = safe_compile(self.inner)\n", ""),
}


@pytest.mark.parametrize("name", MODULE_SITES)
def test_ways_to_compile_a_module(project: Project, name: str) -> None:
    init, more = MODULE_SITES[name]
    check(write(project, m="from tools import safe_compile\n" + NET.format(init=init, more=more)))


def test_model_compile(project: Project) -> None:
    write(
        project,
        m="""
        class Net(nn.Module):
            def forward(self, x):
                return x / x.max().item()  # here

        def main():
            net = Net()
            net.compile()
            return net(torch.randn(3))
        """,
    )
    check(project)


def test_a_wrapper_that_compiles(project: Project) -> None:
    write(
        project,
        tools="""
        def fast(model, enabled=True):
            if not enabled:
                return model
            return torch.compile(model, mode="reduce-overhead")
        """,
        m="""
        from tools import fast

        class Net(nn.Module):
            def forward(self, x):
                return x / x.max().item()  # here

        net = fast(Net())
        """,
    )
    check(project)


def test_a_site_through_a_factory(project: Project) -> None:
    write(
        project,
        models="""
        class A(nn.Module):
            def forward(self, x):
                return x / x.max().item()  # here

        class B(nn.Module):
            def forward(self, x):
                return x / x.max().item()

        def build_model(dim):
            return A()
        """,
        train="""
        import models

        model = models.build_model(4)
        model = model.to("cpu")
        step = torch.compile(model)
        """,
    )
    check(project)


# --- what a region reaches --------------------------------------------------------------------------------------------


def test_a_helper_in_another_file(project: Project) -> None:
    write(
        project,
        pkg____init__="",
        pkg__ops="""
        def normalise(x):
            return scale(x, 2)

        def scale(x, n):
            return x / x.max().item() * n  # here

        def unused(x):
            return x.max().item()
        """,
        pkg__net="""
        from .ops import normalise

        @torch.compile
        def f(x):
            return normalise(x)
        """,
    )
    check(project)


IMPORTS = {
    "from": ("from ops import helper", "helper"),
    "module": ("import ops", "ops.helper"),
    "renamed": ("from ops import helper as h", "h"),
    "module-renamed": ("import ops as o", "o.helper"),
    "star": ("from ops import *", "helper"),
    "re-exported": ("from api import helper", "helper"),
    "late": ("", "helper"),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_ways_to_import_a_helper(project: Project, name: str) -> None:
    statement, call = IMPORTS[name]
    late = "    from ops import helper\n" if name == "late" else ""
    write(
        project,
        ops="def helper(x):\n    return x / x.max().item()  # here\n",
        api="from ops import helper\n",
        m=f"{statement}\n\n@torch.compile\ndef f(x):\n{late}    return {call}(x)\n",
    )
    check(project)


CONTAINERS = {
    "attribute": ("self.a = Inner()", "self.a(x)"),
    "module-list-index": ("self.a = nn.ModuleList([Inner(), Inner()])", "self.a[0](x)"),
    "module-list-comprehension": ("self.a = nn.ModuleList([Inner() for _ in range(3)])", "self.loop(x)"),
    "module-list-append": ("self.a = nn.ModuleList()\n        self.a.append(Inner())", "self.loop(x)"),
    "sequential": ("self.a = nn.Sequential(nn.Linear(4, 4), Inner())", "self.a(x)"),
    "sequential-star": ("self.a = nn.Sequential(*[Inner() for _ in range(2)])", "self.a(x)"),
    "module-dict": ("self.a = nn.ModuleDict({'k': Inner()})", "self.a['k'](x)"),
    "plain-dict": ("self.a = {'k': Inner()}", "self.a['k'](x)"),
    "plain-list": ("self.a = [Inner(), Inner()]", "self.a[1](x)"),
    "add-module": ("self.add_module('a', Inner())", "self.a(x)"),
    "setattr": ("setattr(self, 'a', Inner())", "self.a(x)"),
    "either": ("self.a = Inner() if torch.cuda.is_available() else nn.Identity()", "self.a(x)"),
    "class-from-table": ("self.a = TABLE['inner']()", "self.a(x)"),
    "class-argument": ("self.a = self.make(Inner)", "self.a(x)"),
    "forward-method": ("self.a = Inner()", "self.a.forward(x)"),
    "getattr": ("self.a = Inner()", "getattr(self, 'a')(x)"),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_modules_in_modules(project: Project, name: str) -> None:
    build, call = CONTAINERS[name]
    write(
        project,
        m=f"""
class Inner(nn.Module):
    def forward(self, x):
        return x / x.max().item()  # here

class Unused(nn.Module):
    def forward(self, x):
        return x / x.max().item()

TABLE = {{"inner": Inner}}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {build}

    def make(self, layer):
        return layer()

    def loop(self, x):
        for block in self.a:
            x = block(x)
        return x

    def forward(self, x):
        return {call}

net = torch.compile(Net())
""",
    )
    check(project)


def test_inheritance_and_super(project: Project) -> None:
    write(
        project,
        base="""
        class Base(nn.Module):
            def forward(self, x):
                x = self.prepare(x)
                return x / x.max().item()  # here

            def prepare(self, x):
                return x / x.min().item()

            def finish(self, x):
                return x / x.mean().item()  # here
        """,
        m="""
        from base import Base

        class Child(Base):
            def prepare(self, x):
                return x / x.std().item()  # here

            def forward(self, x):
                return self.finish(super().forward(x))

        net = torch.compile(Child())
        """,
    )
    check(project)


CALLS = {
    "argument": "def apply(fn, x):\n    return fn(x)\n\n@torch.compile\ndef f(x):\n    return apply(helper, x)\n",
    "partial": "import functools\n\n@torch.compile\ndef f(x):\n    g = functools.partial(helper)\n    return g(x)\n",
    "compiled-partial": "from functools import partial\n\ng = torch.compile(partial(helper))\n",
    "wrapping-decorator": (
        "import functools\n\ndef traced(fn):\n    @functools.wraps(fn)\n    def wrapper(*args, **kwargs):\n"
        "        return fn(*args, **kwargs)\n    return wrapper\n\n@traced\ndef g(x):\n    return helper(x)\n\n"
        "@torch.compile\ndef f(x):\n    return g(x)\n"
    ),
    "decorated-under-compile": (
        "def traced(fn):\n    def wrapper(*args):\n        return fn(*args)\n    return wrapper\n\n"
        "@torch.compile\n@traced\ndef f(x):\n    return helper(x)\n"
    ),
    "no-grad": "@torch.compile\n@torch.no_grad()\ndef f(x):\n    return helper(x)\n",
    "closure": "@torch.compile\ndef f(x):\n    def inner(y):\n        return helper(y)\n    return inner(x)\n",
    "lambda": "@torch.compile\ndef f(x):\n    g = lambda y: helper(y)\n    return g(x)\n",
    "table": "OPS = {'h': helper}\n\n@torch.compile\ndef f(x):\n    return OPS['h'](x)\n",
    "map": "@torch.compile\ndef f(x):\n    return list(map(helper, [x]))[0]\n",
    "comprehension": "@torch.compile\ndef f(xs: list[torch.Tensor]):\n    return [helper(x) for x in xs]\n",
    "checkpoint": (
        "from torch.utils.checkpoint import checkpoint\n\n@torch.compile\ndef f(x):\n"
        "    return checkpoint(helper, x, use_reentrant=False)\n"
    ),
    "static-method": (
        "class K:\n    @staticmethod\n    def run(x):\n        return helper(x)\n"
        "\n@torch.compile\ndef f(x):\n    return K.run(x)\n"
    ),
    "class-method": (
        "class K:\n    @classmethod\n    def run(cls, x):\n        return helper(x)\n"
        "\n@torch.compile\ndef f(x):\n    return K.run(x)\n"
    ),
    "property": (
        "class K(nn.Module):\n    @property\n    def scaled(self):\n        return helper(self.weight)\n\n"
        "    def forward(self, x):\n        return x * self.scaled\n\nk = torch.compile(K())\n"
    ),
    "dunder-call": (
        "class K:\n    def __call__(self, x):\n        return helper(x)\n\nk = K()\n"
        "\n@torch.compile\ndef f(x):\n    return k(x)\n"
    ),
    "keyword": "@torch.compile\ndef f(x):\n    return helper(x=x)\n",
    "star-arguments": "@torch.compile\ndef f(x):\n    args = (x,)\n    return helper(*args)\n",
    "ternary": "@torch.compile\ndef f(x, flag: bool):\n    g = helper if flag else torch.relu\n    return g(x)\n",
}


@pytest.mark.parametrize("name", CALLS)
def test_ways_to_call_a_helper(project: Project, name: str) -> None:
    helper = "def helper(x):\n    return x / x.max().item()  # here\n\ndef unused(x):\n    return x.max().item()\n\n"
    check(write(project, m=helper + CALLS[name]))


def test_a_tensor_made_by_the_caller(project: Project) -> None:
    """`value` says nothing about itself: only the call tells that it is a tensor."""
    write(
        project,
        m="""
        def choose(value, other):
            if value:  # here
                return other
            return -other

        def choose_flag(value, other):
            if value:
                return other
            return -other

        @torch.compile
        def f(x):
            return choose(x.any(), x) + choose_flag(x.dim() > 1, x)
        """,
    )
    check(project)


def test_the_chain_of_reasons(project: Project) -> None:
    write(
        project,
        models__net="""
        from models.ops import scale

        class Net(nn.Module):
            def forward(self, x):
                return self.inner(x)

            def inner(self, x):
                return scale(x)
        """,
        models__ops="def scale(x):\n    return x / x.max().item()\n",
        train="from models.net import Net\n\nstep = torch.compile(Net(), mode='default')\n",
    )
    (finding,) = project.lint(select=BREAKS).findings
    assert finding.path == "models/ops.py"
    assert finding.function == "scale"
    chain = " → ".join(step.text for step in finding.chain)
    assert finding.chain[0].path == "train.py"
    for words in ("torch.compile(Net()", "Net.forward", "Net.inner", "scale"):
        assert words in chain, chain


# --- where a region ends ----------------------------------------------------------------------------------------------

ENDS = {
    "compiler-disable": "@torch.compiler.disable\ndef helper(x):\n    return x / x.max().item()\n",
    "dynamo-disable": "import torch._dynamo\n\n@torch._dynamo.disable\ndef helper(x):\n    return x / x.max().item()\n",
    "disable-called": "@torch.compiler.disable(recursive=True)\ndef helper(x):\n    return x / x.max().item()\n",
    "disable-wrapped": "def helper_(x):\n    return x / x.max().item()\n\nhelper = torch.compiler.disable(helper_)\n",
    "is-compiling": (
        "def helper(x):\n    if not torch.compiler.is_compiling():\n        x = x / x.max().item()\n    return x\n"
    ),
    "is-compiling-early-return": (
        "def helper(x):\n    if torch.compiler.is_compiling():\n        return x\n    return x / x.max().item()\n"
    ),
    "is-compiling-else": (
        "def helper(x):\n    if torch.compiler.is_compiling():\n        y = x\n"
        "    else:\n        y = x / x.max().item()\n    return y\n"
    ),
    "dynamo-is-compiling": (
        "from torch._dynamo import is_compiling\n\ndef helper(x):\n    if not is_compiling():\n"
        "        x = x / x.max().item()\n    return x\n"
    ),
    "is-compiling-and": (
        "def helper(x):\n    if not torch.compiler.is_compiling() and x.max().item() > 1:\n"
        "        x = x / 2\n    return x\n"
    ),
    "is-exporting": (
        "def helper(x):\n    if torch.compiler.is_exporting():\n        x = x / x.max().item()\n    return x\n"
    ),
    "type-checking": (
        "from typing import TYPE_CHECKING\n\ndef helper(x):\n"
        "    if TYPE_CHECKING:\n        x = x / x.max().item()\n    return x\n"
    ),
    "after-return": "def helper(x):\n    return x\n    return x / x.max().item()\n",
    "dead-branch": "def helper(x):\n    if False:\n        x = x / x.max().item()\n    return x\n",
}


@pytest.mark.parametrize("name", ENDS)
def test_where_a_region_ends(project: Project, name: str) -> None:
    check(write(project, m=ENDS[name] + "\n@torch.compile\ndef f(x: torch.Tensor):\n    return helper(x) + 1\n"))


def test_the_eager_caller_is_not_compiled(project: Project) -> None:
    write(
        project,
        m="""
        @torch.compile
        def f(x):
            return x * 2

        def loop(xs):
            for x in xs:
                loss = f(x).sum()
                if loss > 3:
                    print(loss.item())
        """,
    )
    check(project)


def test_python_facts_are_no_hazard(project: Project) -> None:
    write(
        project,
        m="""
        @torch.compile
        def f(x: torch.Tensor, mask: torch.Tensor | None = None, flag: bool = True):
            if mask is not None and x.shape[0] > 2 and x.dtype == torch.float32:
                x = x * mask
            if x.dim() == 3 or x.is_cuda or x.device.type == "cuda" or len(x) > 4 or x.ndim > 2 or x.numel() > 9:
                x = x + 1
            if isinstance(x, torch.Tensor) and torch.is_tensor(x) and flag and x.requires_grad:
                x = x + 2
            return int(x.shape[0]) * x
        """,
    )
    check(project)


# --- no site ----------------------------------------------------------------------------------------------------------

LONE = {
    "m": """
    class Net(nn.Module):
        def forward(self, x):
            return self.helper(x)

        def helper(self, x):
            return x / x.max().item()  # here

    class Plain:
        def forward(self, x: torch.Tensor):
            return x / x.max().item()

    def function(x: torch.Tensor):
        return x / x.max().item()
    """
}


def test_no_site_every_forward_is_assumed(project: Project) -> None:
    write(project, **LONE)
    check(project)
    assert project.lint().assumed


def test_assume_never(project: Project) -> None:
    write(project, **LONE)
    report = project.lint(select=BREAKS, assume_compiled="never")
    assert not report.findings
    assert not report.assumed


def test_assume_all(project: Project) -> None:
    write(
        project,
        m="""
        class Net(nn.Module):
            def forward(self, x):
                return x / x.max().item()  # here

        class Other(nn.Module):
            def forward(self, x):
                return x / x.max().item()  # here

        net = torch.compile(Net())
        """,
    )
    check(project, assume_compiled="all")


def test_a_site_is_reported(project: Project) -> None:
    write(project, m="@torch.compile(mode='reduce-overhead')\ndef f(x):\n    return x\n")
    report = project.lint()
    assert not report.assumed
    (site,) = report.sites
    assert (site.path, site.line, site.mode) == ("m.py", 6, "reduce-overhead")
    assert site.reaches == 1


def test_a_site_seen_only_by_the_linked_project(project: Project) -> None:
    """Linting one file of a project: the site is in another one, the findings only in the one asked for."""
    from tclint.run import engine
    from tclint.sources import configuration, files

    write(
        project,
        net="class Net(nn.Module):\n    def forward(self, x):\n        return x / x.max().item()\n",
        train="from net import Net\n\nstep = torch.compile(Net())\n\n@torch.compile\ndef f(x):\n    return x.item()\n",
    )
    root = str(project.root)
    settings = configuration.load(["net.py"], cwd=root, isolated=True, overrides={"no-cache": True, "select": BREAKS})
    found = files.link(files.discover(["net.py"], settings, root), root, settings, root)
    report = engine.lint(found, settings)
    assert [f.path for f in report.findings] == ["net.py"]
    assert not report.assumed
    assert "train.py" in report.findings[0].chain[0].path


# --- determinism ------------------------------------------------------------------------------------------------------


def test_the_same_report_twice(project: Project) -> None:
    write(project, m=NET.format(init="        self.inner.compile()\n", more=""))
    first = project.lint()
    assert first.findings
    assert first == project.lint()


def test_what_the_helper_says_about_an_argument_counts(project: Project) -> None:
    """In the forward only its name speaks for a mask; the helper has an annotation."""
    write(
        project,
        net="""
        class Net(nn.Module):
            def picked(self, input_ids: torch.LongTensor | None, attention_mask: torch.Tensor | None = None):
                if attention_mask is not None:
                    attention_mask = attention_mask == 1
                for i, row in enumerate(input_ids):
                    if attention_mask is not None:
                        row = row[attention_mask[i]]
                return row

            def forward(self, input_ids=None, attention_mask=None):
                return self.picked(input_ids, attention_mask)
        """,
    )
    found = project.lint(select=["TCL106"]).findings
    assert [(each.code, each.confidence) for each in found] == [("TCL106", "high")]


def test_a_call_that_python_would_refuse_is_not_followed(project: Project) -> None:
    """`flag` by position and by name: the model that is meant is the other one."""
    write(
        project,
        net="""
        class Plain(nn.Module):
            def forward(self, x, flag=False):
                return x * 2 if flag else x

        class Noisy(nn.Module):
            def forward(self, x, noise, flag=False):
                return x + noise if flag else x

        def chosen(kind):
            return Noisy() if kind == "noisy" else Plain()

        @torch.compile
        def run(x, kind):
            return chosen(kind)(x, x.abs(), flag=True)
        """,
    )
    check(project)


def test_fixes_are_made_only_where_somebody_shows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tclint.cli import main
    from tclint.rules import tcl101_data_dependent_branch

    (tmp_path / "m.py").write_text(
        "import torch\n\n@torch.compile\ndef f(x):\n    if x.sum() > 0:\n        x = x + 1\n    return x\n"
    )
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []
    monkeypatch.setattr(tcl101_data_dependent_branch, "fix_branch", lambda event, tests: asked.append("asked"))
    for arguments in (["--output-format", "concise"], ["--statistics"], ["--output-format", "junit"]):
        assert main(["m.py", "--isolated", *arguments]) == 1
        assert asked == []
    # What was kept without fixes is nothing to those who show them.
    assert main(["m.py", "--isolated"]) == 1
    assert asked == ["asked"]
