"""What a rule may ask about an event, asked by a rule in small programs."""

from __future__ import annotations

from lintkit import Project

PROBE = '''
from tclint.api import *


class Probe(Rule):
    """Writes down what it is told."""

    code, name = "ACME001", "probe"
    scope = "any"
    calls = ("metrics.*",)

    def on_call(self, event):
        ask = event.ask
        yield self.finding(event, str(%s))
'''


def asked(project: Project, question: str, code: str) -> list[str]:
    """The answers to a question, in the order of the lines that call `metrics.here()`."""
    project.write({"lint/probe.py": PROBE % question, "m.py": code})
    report = project.lint("m.py", rules=[str(project.root / "lint")], select=["ACME001"])
    assert [f for f in report.findings if f.code != "ACME001"] == []
    return [f.message for f in report.findings]


MODEL = """
import metrics, torch
from torch import nn

LIMIT = 3


class Base(nn.Module):
    def helper(self):
        return 1


class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.scale = 2

    @torch.no_grad()
    def forward(self, x, flag=True):
        y = x.shape[0] + LIMIT
        metrics.here()
        return self.fc(x)


class Plain:
    pass


net = torch.compile(Net(), mode="reduce-overhead")
net(torch.ones(2, 4))
"""


def test_the_class_and_its_objects(project: Project) -> None:
    question = """[
        ask.is_nn_module(event.cls),
        ask.is_nn_module(event.module.names["Plain"]),
        [c.name for c in ask.mro(event.cls)],
        ask.external_base(event.cls),
        ask.method(event.cls, "helper").qualname,
        ask.method(event.cls, "nothing"),
        sorted(ask.attributes(ask.local("self"))),
        ask.made_with(event.cls, "scale"),
    ]"""
    (answer,) = asked(project, question, MODEL)
    assert answer == ("[True, False, ['Net', 'Base'], 'torch.nn.Module', 'Base.helper', None, ['fc', 'scale'], ()]")


def test_names_and_values(project: Project) -> None:
    question = """[
        ask.local("nothing"),
        type(ask.local("x")).__name__,
        ask.module_value("LIMIT").value,
        ask.module_value("nothing"),
        ask.evaluate(__import__("ast").parse("LIMIT + 1", mode="eval").body).value,
        event.enclosing.qualname,
        event.at_entry,
        event.constructing,
        [s.mode for s in ask.sites()],
    ]"""
    (answer,) = asked(project, question, MODEL)
    assert answer == "[None, 'Tensor', 3, None, 4, 'Net.forward', True, False, ['reduce-overhead']]"


def test_asking_for_a_value_is_heard_by_no_rule(project: Project) -> None:
    code = """
    import metrics, torch

    @torch.compile
    def f(x):
        metrics.here(metrics.inner(x))
        return x
    """
    # Were it heard, the rule would ask about its own question for ever.
    answers = asked(project, "(ask.evaluate(event.node), event.name)[1]", code)
    assert answers == ["metrics.here", "metrics.inner"]


def test_who_calls_and_what_is_captured(project: Project) -> None:
    code = """
    import metrics, torch

    def outer(x):
        kept = []

        def inner(y):
            own = y
            metrics.here()
            return kept, own

        for _ in range(3):
            inner(x)

    g = torch.compile(outer)
    """
    question = """[
        [c.function.qualname for c in ask.callers()],
        [list(c.blocks) for c in ask.callers()],
        ask.captures("kept"),
        ask.captures("own"),
        ask.captures("torch"),
        event.at_entry,
    ]"""
    (answer,) = asked(project, question, code)
    assert answer == "[['outer'], [['for']], True, False, False, False]"


def test_a_function_handed_to_an_operator(project: Project) -> None:
    code = """
    import metrics, torch
    from torch.utils.checkpoint import checkpoint

    def helper(x):
        metrics.here()
        return x

    def block(x):
        metrics.here()
        return helper(x)

    @torch.compile
    def f(x):
        metrics.here()
        return checkpoint(block, x, use_reentrant=False)
    """
    answers = asked(project, "[event.inside.rpartition('.')[2], ask.handed_over()]", code)
    assert answers == ["['checkpoint', False]", "['checkpoint', True]", "['', False]"]


def test_indexes_are_made_once(project: Project) -> None:
    index = '''
from tclint.api import *

MADE = []


def names(module):
    MADE.append("file")
    return set(module.names)


def files(program):
    MADE.append("program")
    return len(program.modules)


def lines(root):
    MADE.append("scope")
    return root.end_lineno - root.lineno


class Probe(Rule):
    """Writes down what it is told."""

    code, name = "ACME001", "probe"
    scope = "any"
    calls = ("metrics.*",)

    def on_call(self, event):
        ask = event.ask
        yield self.finding(event, str(["f" in ask.of_file(names), ask.of_program(files), ask.of_scope(lines), sorted(MADE)]))
'''
    code = "import metrics, torch\n\n@torch.compile\ndef f(x):\n    metrics.a()\n    metrics.b()\n    return x\n"
    project.write({"lint/probe.py": index, "m.py": code, "n.py": "import torch\n"})
    report = project.lint("m.py", "n.py", rules=[str(project.root / "lint")], select=["ACME001"])
    assert [f.message for f in report.findings] == ["[True, 2, 3, ['file', 'program', 'scope']]"] * 2
