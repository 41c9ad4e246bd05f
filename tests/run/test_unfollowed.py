"""What compiled code calls and nobody knows: the summary names it, so that silence is not taken for a clean model."""

from __future__ import annotations

import pytest
from lintkit import Project

from tclint import output

WRAPPER = """
import torch
from torch import nn
from models import pick

class Known(nn.Module):
    def forward(self, x):
        return x + 1

class Wrapper(nn.Module):
    def __init__(self, inner: nn.Module):
        super().__init__()
        self.inner = inner
        self.known = Known()
        self.rest = pick("rest")
        self.register_buffer("state", torch.zeros(2))
        self.head = pick("head")
        self.blocks = nn.ModuleList(pick(i) for i in range(3))

    def forward(self, x):
        {line}
        return x

wrapper = torch.compile(Wrapper({given}))
wrapper(torch.ones(2))
"""


@pytest.mark.parametrize(
    ("line", "given", "names"),
    [
        ("x = self.inner(x)", "pick(1)", ("self.inner",)),
        ("x = self.inner(*self.rest)", "pick(1)", ("self.inner",)),
        ("x = self.inner.blocks(x)", "pick(1)", ("self.inner",)),
        ("x = self.inner.embed(x)", "pick(1)", ("self.inner",)),
        ("x = self.head(x)", "Known()", ("self.head",)),
        ("x = self.known(x)", "Known()", ()),
        ("x = self.inner(x)", "Known()", ()),
        ("x = self.inner(x)", "nn.Linear(2, 2)", ()),
        # Methods of tensors and of containers are no models.
        ("self.state.copy_(x)", "Known()", ()),
        ("self.head.copy_(x)", "Known()", ()),
        ("self.head.append(x)", "Known()", ()),
        # No tensor goes in: a helper, not a model.
        ("self.head(1)", "Known()", ()),
        ("pick(x)", "Known()", ()),
    ],
)
def test_what_is_called_and_not_known_is_named(project: Project, line: str, given: str, names: tuple[str, ...]) -> None:
    report = project.write({"a.py": WRAPPER.format(line=line, given=given)}).lint()
    assert [site.unfollowed for site in report.sites] == [names]


def test_what_a_class_of_torch_gives_its_subclasses_is_known(project: Project) -> None:
    source = """
        import torch
        from torch import nn

        class Block(nn.TransformerEncoderLayer):
            def forward(self, x):
                return self.norm1(x)

        torch.compile(Block(8, 2))(torch.ones(2, 8))
    """
    assert [site.unfollowed for site in project.write({"a.py": source}).lint().sites] == [()]


def test_two_sites_that_lead_to_one_function_both_say_so(project: Project) -> None:
    source = WRAPPER.format(line="x = self.inner(x)", given="pick(1)") + "\nagain = torch.compile(wrapper.forward)\n"
    report = project.write({"a.py": source}).lint()
    assert [site.unfollowed for site in report.sites] == [("self.inner",)] * 2


@pytest.mark.parametrize(
    ("head", "line", "sites"),
    [
        ("import torch", "self.pipe.transformer.compile()", 1),
        ("import torch", "self.pipe.transformer.compile(mode='default')", 1),
        # Whoever takes what comes out, or gives other arguments, compiles something else.
        ("import torch", "text = self.statement.compile()", 0),
        ("import torch", "self.model.compile(optimizer='adam')", 0),
        ("import torch", "self.model.compile('adam')", 0),
        ("", "self.pipe.transformer.compile()", 0),
        ("import torch\nclass Grammar:\n    def compile(self):\n        pass", "self.grammar.compile()", 0),
    ],
)
def test_a_module_that_is_compiled_in_place_is_named_though_nobody_knows_it(
    project: Project, head: str, line: str, sites: int
) -> None:
    source = f"{head}\n\nclass Runner:\n    def prepare(self):\n        {line}\n\nRunner().prepare()\n"
    report = project.write({"a.py": source}).lint()
    assert [site.unresolved for site in report.sites] == ["what it compiles cannot be read"] * sites


def test_a_layer_that_is_built_without_its_first_weights_is_known(project: Project) -> None:
    source = """
        import torch
        from torch import nn
        from torch.nn.utils import skip_init

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = skip_init(nn.Linear, 2, out_features=2, bias=False)
                self.mine = skip_init(Mine, 2)

            def forward(self, x):
                return self.mine(self.linear(x))

        class Mine(nn.Module):
            def __init__(self, width, device=None):
                super().__init__()

            def forward(self, x):
                print(x)
                return x

        torch.compile(Net())(torch.ones(2, 2))
    """
    report = project.write({"a.py": source}).lint()
    assert [site.unfollowed for site in report.sites] == [()]
    assert [f.line for f in report.findings] == [19]


SPEEDING = """
import torch
from torch import nn
from models import pick

class Net(nn.Module):
    def forward(self, x):
        return x + 1

def speed_up(model):
    return torch.compile(model)

def known():
    return speed_up(Net())

def unknown():
    return speed_up(pick("net"))

def passed_on(model):
    return speed_up(model)

passed_on(Net())
{calls}
"""


@pytest.mark.parametrize(
    ("calls", "names"),
    [
        ("known()\nunknown()", ("unknown",)),
        ("known()", ("unknown",)),
    ],
)
def test_who_hands_over_what_nobody_knows_is_named(project: Project, calls: str, names: tuple[str, ...]) -> None:
    report = project.write({"a.py": SPEEDING.format(calls=calls)}).lint()
    assert [(site.reaches, site.unresolved, site.handing) for site in report.sites] == [(1, "", names)]
    text = output.renderer("full")(report, color=False, width=110, sources={}, rules=())
    assert f"what `{names[0]}` hands over cannot be read" in text


def test_where_nothing_is_known_of_a_site_that_is_all_there_is_to_say(project: Project) -> None:
    source = "import torch\nfrom models import pick\ndef fast(m):\n    return torch.compile(m)\ndef go():\n    fast(pick())\ngo()\n"
    report = project.write({"a.py": source}).lint()
    assert [(site.unresolved, site.handing) for site in report.sites] == [("what it compiles cannot be read", ())]
