"""What is taken as compiled though no site says so, what ends that, and that nobody takes it for known."""

from __future__ import annotations

import textwrap

import pytest
from lintkit import Project, lint

from tclint.model.report import Report
from tclint.output import words
from tclint.output.json_ import finding_object

NET = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x):
            print(x)
            return x
"""


def shown(report: Report) -> list[str]:
    return [f"{f.path}:{f.line} {f.code}{' assumed' if f.assumed else ''}" for f in report.findings]


def test_a_finding_knows_that_it_is_only_assumed(project: Project) -> None:
    train = "import torch\nfrom net import Net\nnet = torch.compile(Net())\n"
    assert shown(project.write({"net.py": NET}).lint()) == ["net.py:6 TCL108 assumed"]
    assert shown(project.write({"train.py": train}).lint()) == ["net.py:6 TCL108"]


def test_what_is_known_comes_before_what_is_assumed(project: Project) -> None:
    script = "import torch\n@torch.compile\ndef f(x):\n    print(x)\n    return x\nf(torch.ones(2))\n"
    report = project.write({"a.py": NET, "z.py": script}).lint()
    assert shown(report) == ["z.py:4 TCL108", "a.py:6 TCL108 assumed"]


def test_a_known_finding_stays_where_an_assumed_one_says_the_same(project: Project) -> None:
    train = "import torch\nfrom net import Net\nnet = torch.compile(Net())\n"
    assert shown(project.write({"net.py": NET, "train.py": train}).lint(assume_compiled="all")) == ["net.py:6 TCL108"]


@pytest.mark.parametrize(
    "line",
    [
        "torch._dynamo.mark_dynamic(x, 0)",
        "torch._dynamo.maybe_mark_dynamic(x, 0)",
        "torch.compiler.cudagraph_mark_step_begin()",
        "x = self.inner(x)",
        "x = helper(x)",
    ],
)
def test_a_forward_that_calls_compiled_code_is_eager(project: Project, line: str) -> None:
    source = f"""
        import torch
        from torch import nn

        @torch.compile
        def helper(x):
            return x + 1

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.compile(nn.Linear(2, 2)) if False else torch.compile(Inner())

            def forward(self, x):
                print(x)
                {line}
                return x

        class Inner(nn.Module):
            def forward(self, x):
                return x
    """
    assert shown(project.write({"net.py": source}).lint(assume_compiled="all")) == []


def test_the_modules_that_an_eager_forward_calls_are_not_eager_for_that(project: Project) -> None:
    source = """
        import torch
        from torch import nn

        def faster(function):
            return torch.compile(function)

        def _swoosh(x):
            return x * torch.sigmoid(x)

        class Swoosh(nn.Module):
            def __init__(self):
                super().__init__()
                self.function = faster(_swoosh)

            def forward(self, x):
                print(x)
                return self.function(x)

        class Limit(nn.Module):
            def forward(self, x):
                print(x)
                return x

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.limit = Limit()
                self.swoosh = Swoosh()

            def forward(self, x):
                print(x)
                return self.swoosh(self.limit(x))
    """
    assert shown(project.write({"net.py": source}).lint(assume_compiled="all")) == ["net.py:21 TCL108 assumed"]


def test_a_mark_in_a_forward_of_a_program_that_compiles_nothing_is_the_hazard(project: Project) -> None:
    source = """
        import torch
        from torch import nn

        class Block(nn.Module):
            def forward(self, x):
                torch._dynamo.mark_dynamic(x, 0)
                return x * 2
    """
    assert shown(project.write({"net.py": source}).lint()) == ["net.py:6 TCL111 assumed"]


def test_a_compiled_library_function_says_nothing_about_its_caller(project: Project) -> None:
    source = """
        import torch
        from torch import nn
        from torch.nn.attention.flex_attention import flex_attention

        flex = torch.compile(flex_attention)

        class Net(nn.Module):
            def forward(self, x):
                print(x)
                return flex(x, x, x)
    """
    assert shown(project.write({"net.py": source}).lint()) == ["net.py:9 TCL108 assumed"]


def test_one_method_compiled_says_that_the_others_are_not(project: Project) -> None:
    source = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.sample = torch.compile(self.sample)

            def sample(self, x):
                return x + 1

            def forward(self, x):
                print(x)
                return x

        class Child(Net):
            def forward(self, x):
                print(x)
                return x

        class Other(nn.Module):
            def forward(self, x):
                print(x)
                return x
    """
    assert shown(project.write({"net.py": source}).lint()) == ["net.py:23 TCL108 assumed"]


def test_what_fullgraph_compiles_has_no_breaks_to_assume(project: Project) -> None:
    source = """
        import torch
        from torch import nn

        def helper(x):
            return x.sum().item()

        @torch.compile(fullgraph=True)
        def f(x):
            return x * helper(x)

        class Net(nn.Module):
            def forward(self, x):
                return x * helper(x)

        f(torch.ones(2))
    """
    assert shown(project.write({"net.py": source}).lint()) == []


def test_what_tests_make_for_themselves_is_no_model(project: Project) -> None:
    files = {"net.py": NET, "tests/doubles.py": NET, "pkg/test_net.py": NET, "conftest.py": NET}
    assert shown(project.write(files).lint()) == ["net.py:6 TCL108 assumed"]
    assert shown(project.lint("tests")) == ["tests/doubles.py:6 TCL108 assumed"]


@pytest.mark.parametrize("base", ["Generic[T]", "Protocol", "Kernel[T]", "abc.ABC", "Generic[T], Protocol"])
def test_a_forward_alone_makes_no_module(project: Project, base: str) -> None:
    source = f"""
        import abc
        import torch
        from typing import Generic, Protocol, TypeVar

        T = TypeVar("T")

        class Kernel(Generic[T]):
            pass

        class Wrapper({base}):
            def forward(self, x: torch.Tensor):
                print(x)
                return x
    """
    assert shown(project.write({"kernel.py": source}).lint()) == []


@pytest.mark.parametrize("base", ["nn.Module", "Base[int]", "transformers.PreTrainedModel"])
def test_a_module_is_one_by_its_bases(project: Project, base: str) -> None:
    source = f"""
        from typing import Generic, TypeVar
        import transformers
        from torch import nn

        T = TypeVar("T")

        class Base(nn.Module, Generic[T]):
            pass

        class Net({base}):
            def forward(self, x):
                print(x)
                return x
    """
    assert shown(project.write({"net.py": source}).lint()) == ["net.py:12 TCL108 assumed"]


def test_a_compiled_helper_switches_nothing_off(project: Project) -> None:
    helper = """
        import torch
        from torch import nn

        class Sampler(nn.Module):
            @torch.compile
            def draw(self, x):
                return x + 1

            def forward(self, x):
                return x
    """
    net = NET.replace("import torch\n", "import torch\n    from helper import Sampler\n")
    assert shown(project.write({"helper.py": helper, "net.py": net}).lint()) == ["net.py:7 TCL108 assumed"]


def test_what_decorates_a_compiled_function_is_eager(project: Project) -> None:
    source = """
        import functools
        import torch

        def logged(f):
            @functools.wraps(f)
            def wrapper(*args):
                print("called")
                return f(*args)
            return wrapper

        @logged
        @torch.compile
        def outside(x):
            return x + 1

        @torch.compile
        @logged
        def inside(x):
            return x + 1

        outside(torch.ones(2))
    """
    found = project.write({"a.py": source}).lint().findings
    assert [f.line for f in found] == [7]
    assert found[0].chain[0].line == 16


def test_two_sites_that_share_a_target_reach_the_same(project: Project) -> None:
    net = NET.replace("print(x)", "x = x + 1")
    one = "import torch\nfrom net import Net\nnet = torch.compile(Net())\nnet(torch.ones(2))\n"
    report = project.write({"net.py": net, "a.py": one, "b.py": one}).lint()
    assert [(site.path, site.reaches) for site in report.sites] == [("a.py", 1), ("b.py", 1)]


def test_a_project_in_a_folder_reaches_the_same_from_there_and_from_above(project: Project) -> None:
    """Two programs in one repository, whose modules have the same names: each imports its own."""
    run = "import torch\nfrom model import Net\n\nnet = torch.compile(Net())\nnet(torch.ones(2))\n"
    head = "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
    helper = f"{head}        return self.step(x)\n\n    def step(self, x):\n        print(x)\n        return x\n"
    project.write({"model.py": f"{head}        return x + 1\n", "run.py": run})
    project.write({"mixture/model.py": helper, "mixture/run.py": run})
    above, inside = project.lint(), lint(cwd=project.root / "mixture")
    below = [site for site in above.sites if site.path.startswith("mixture/")]
    assert [(site.line, site.reaches) for site in below] == [(site.line, site.reaches) for site in inside.sites]
    assert below[0].reaches == 2
    told = [f"mixture/{line}" for line in shown(inside)]
    assert [line for line in shown(above) if line.startswith("mixture/")] == told
    assert told


def test_a_site_that_cannot_be_resolved_says_why(project: Project) -> None:
    source = "import torch\ndef start(model):\n    return torch.compile(model)\nfast = torch.compile(torch.sin)\n"
    report = project.write({"a.py": source}).lint()
    assert [(site.line, site.unresolved) for site in report.sites] == [
        (3, "what it compiles cannot be read"),
        (4, "`torch.sin` is outside the program"),
    ]


@pytest.mark.parametrize(("enabled", "reaches"), [(False, []), (True, [1])])
def test_a_decorator_whose_switch_is_off_at_import_is_no_site(
    project: Project, enabled: bool, reaches: list[int]
) -> None:
    switch = f"""
        import torch
        ENABLED = {enabled}
        def enable(on):
            global ENABLED
            ENABLED = on
        def maybe(function):
            return torch.compile(function) if ENABLED else function
        @maybe
        def double(x):
            return x * 2
    """
    use = "import switch\n\nswitch.enable(True)\nprint(switch.double(2))\n"
    sites = project.write({"switch.py": switch, "use.py": use}).lint().sites
    assert [site.reaches for site in sites] == reaches
    assert not any(site.unresolved for site in sites)


def test_a_site_on_an_object_of_unknown_class_is_listed(project: Project) -> None:
    source = """
        import torch

        def apply(model, backend):
            for block in model.layers.named_children():
                block.compile(backend=backend, fullgraph=True)

        def other(pattern, flags):
            return pattern.compile(flags)
    """
    sites = project.write({"a.py": source}).lint().sites
    assert [(site.text, site.unresolved) for site in sites] == [
        ("block.compile(backend=backend, fullgraph=True)", "what it compiles cannot be read")
    ]


def test_a_site_in_a_module_that_nobody_can_resolve_speaks_for_its_own_file(project: Project) -> None:
    trained = "import torch\nfrom net import Net\nimport held, other\nnet = torch.compile(Net())\n"
    held = """
        from torch import nn

        class Held(nn.Module):
            def speed_up(self):
                for part in self.parts():
                    part.compile(dynamic=False)

            def forward(self, x):
                print(x)
                return x
    """
    plain = NET.replace("print(x)", "x = x + 1")
    files = {"net.py": plain, "train.py": trained, "held.py": held, "other.py": NET}
    assert shown(project.write(files).lint()) == ["held.py:9 TCL108 assumed"]


def test_what_tests_call_is_no_evidence_for_the_program(project: Project) -> None:
    source = """
        import torch

        @torch.compile
        def f(x, options):
            return x + 1 if "a" in options else x
    """
    calls = "import torch  # torch.compile\nfrom prog import f\n" + "".join(
        f"f(torch.ones(2), {{{key!r}: 1}})\n" for key in "abcd"
    )
    project.write({"prog.py": source, "test_prog.py": calls})
    assert shown(project.lint()) == []
    project.write({"main.py": calls})
    assert [f.code for f in project.lint().findings] == ["TCL206"]


def test_what_a_test_compiles_for_itself_is_no_evidence_for_the_program(project: Project) -> None:
    source = """
        import torch

        def mix(x, mask):
            return x * mask.to(x.device)

        def fast(x, mask):
            mixed = torch.compile(mix, mode="reduce-overhead")
            return mixed(x, mask)
    """
    own = """
        import torch
        from prog import mix

        def test_mix():
            mixed = torch.compile(mix)
            mixed(torch.ones(4), torch.ones(4))
    """
    report = project.write({"prog.py": source, "test_prog.py": own}).lint()
    assert [f.line for f in report.findings if f.path == "prog.py"] == []


def test_a_variable_that_only_a_test_or_an_example_sets_is_no_change(project: Project) -> None:
    source = """
        import os
        import torch

        @torch.compile
        def f(x):
            return x * float(os.getenv("SCALE", "1"))
    """
    sets = "import os\nos.environ['SCALE'] = '2'\n"
    trying = {"test_prog.py": sets, "examples/run.py": sets, "benchmarks/speed.py": sets}
    assert shown(project.write({"prog.py": source, **trying}).lint()) == []
    assert shown(project.write({"main.py": sets}).lint()) == ["prog.py:6 TCL502"]


def test_a_site_with_one_target_in_sight_is_resolved(project: Project) -> None:
    train = """
        import torch
        from net import Net
        from somewhere import load

        def main(path):
            model = load(path) if path else Net()
            return torch.compile(model)
    """
    other = NET.replace("Net", "Other")
    report = project.write({"net.py": NET + other.partition("from torch import nn\n")[2], "train.py": train}).lint()
    assert shown(report) == ["net.py:6 TCL108"]
    assert [(site.reaches, site.unresolved) for site in report.sites] == [(1, "")]


def test_a_method_compiled_by_a_decorator_knows_its_object(project: Project) -> None:
    source = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.LSTM(4, 4)

            @torch.inference_mode()
            @torch.compile
            def generate(self, x):
                return self.forward(x)

            def forward(self, x):
                return self.net(x)
    """
    assert shown(project.write({"a.py": source}).lint()) == ["a.py:15 TCL115"]


def test_a_module_that_compiles_what_it_is_handed_speaks_for_no_file(project: Project) -> None:
    task = """
        import torch
        from net import Net
        from torch import nn
        import other

        class Task(nn.Module):
            def __init__(self, model: nn.Module):
                super().__init__()
                self.model = model

            def speed_up(self):
                self.model = torch.compile(self.model)

        net = torch.compile(Net())
    """
    files = {"net.py": NET.replace("print(x)", "x = x + 1"), "task.py": task, "other.py": NET}
    assert shown(project.write(files).lint()) == ["other.py:6 TCL108 assumed"]


def test_a_model_known_by_its_base_class_may_be_any_of_those_below_it(project: Project) -> None:
    source = """
        from abc import abstractmethod
        import torch
        from torch import nn

        class Base(nn.Module):
            @abstractmethod
            def forward(self, x):
                pass

        class Net(Base):
            def forward(self, x):
                print(x)
                return x

        class Task:
            def __init__(self, model: Base):
                self.model = model

            def speed_up(self):
                self.model = torch.compile(self.model)
    """
    assert shown(project.write({"a.py": source}).lint()) == ["a.py:12 TCL108 assumed"]
    # A method of it that is compiled by itself says nothing of the forwards.
    other = source.replace("def forward(self, x):\n                pass", "def act(self, x):\n                pass")
    other = other.replace("self.model = torch.compile(self.model)", "self.model.act = torch.compile(self.model.act)")
    assert shown(project.write({"a.py": other}).lint()) == []


BASE = """
    from torch import nn

    class Base(nn.Module):
        def forward(self, x):
            return self.score(x)

        def score(self, x):
            raise NotImplementedError
"""


def test_a_class_inherits_its_forward_from_another_file(project: Project) -> None:
    leaf = """
        from base import Base

        class Leaf(Base):
            def score(self, x):
                return x[x > 0]
    """
    assert shown(project.write({"base.py": BASE, "leaf.py": leaf}).lint()) == ["leaf.py:5 TCL106 assumed"]


def test_every_class_that_inherits_a_forward_is_entered(project: Project) -> None:
    leaves = "".join(
        f"class Leaf{i}(Base):\n    def score(self, x):\n        return x[x > {i}]  # here\n" for i in range(30)
    )
    report = project.write({"base.py": BASE, "leaves.py": f"from base import Base\n{leaves}"}).lint()
    assert [(f.path, f.line) for f in report.findings] == project.marked()


def test_a_path_is_no_input_of_compiled_code(project: Project) -> None:
    source = """
        from pathlib import Path
        from torch import nn

        class Net(nn.Module):
            def forward(self, *images):
                return [self.read(image) for image in images]

            def read(self, image):
                if isinstance(image, (str, Path)):
                    with open(image) as file:
                        return file.read()
                return image
    """
    report = project.write({"net.py": source}).lint(min_confidence="low")
    assert report.findings
    assert {f.confidence.value for f in report.findings if f.line > 9} == {"low"}


def test_a_call_that_says_nothing_of_its_arguments_leaves_the_forward_to_its_signature(project: Project) -> None:
    """A loss that another one calls with what it finds in a dict is entered as if nobody called it."""
    loss = """
        import torch
        from torch import nn

        class MaskLoss(nn.Module):
            def forward(self, pred: torch.Tensor, target, mask):
                total = mask.sum()
                if total.item() == 0:
                    return total
                return (torch.abs(pred - target) * mask).sum() / total
    """
    outer = """
        from torch import nn
        from loss import MaskLoss

        class Both(nn.Module):
            def __init__(self):
                super().__init__()
                self.loss = MaskLoss()

            def forward(self, pred, batch):
                return self.loss(pred["thresh"], batch["map"], batch["mask"])
    """
    assert shown(project.write({"loss.py": loss}).lint()) == ["loss.py:7 TCL103 assumed"]
    assert shown(project.write({"outer.py": outer}).lint()) == ["loss.py:7 TCL103 assumed"]


def test_a_call_that_says_what_it_passes_is_enough(project: Project) -> None:
    source = """
        import torch
        from torch import nn

        class Inner(nn.Module):
            def forward(self, x, mask):
                if mask:
                    return x + 1
                return x

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()

            def forward(self, x):
                return self.inner(x, True)
    """
    assert shown(project.write({"net.py": source}).lint()) == []


def test_what_a_forward_looks_up_by_keys_is_no_tensor(project: Project) -> None:
    source = """
        from torch import nn

        class Loss(nn.Module):
            def forward(self, pred, targets):
                if "thresh" in pred:
                    return pred["thresh"]
                if targets.get("done"):
                    return targets
                return pred["binary"]
    """
    assert shown(project.write({"net.py": source}).lint()) == []


def test_a_file_by_its_name_or_with_its_folder_links_the_same(project: Project) -> None:
    """Named on the command line or open in an editor, a file without models tied together what it imports."""
    other = (
        "import torch\nclass Other(torch.nn.Module):\n    @torch.compile\n    def forward(self, x):\n        return x\n"
    )
    project.write({"net.py": NET, "other.py": other, "both.py": "import net\nimport other\n"})
    assert shown(project.lint()) == shown(project.lint("both.py", "net.py", "other.py")) == ["net.py:6 TCL108 assumed"]


@pytest.mark.parametrize("decorator", ["@torch.compile", '@torch.compile(mode="default", disable=not FAST)'])
def test_a_decorated_class_is_compiled_by_its_decorator(project: Project, decorator: str) -> None:
    net = f"import torch\nFAST = __debug__\n{decorator}\n"
    net += "class Net(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n"
    report = project.write({"net.py": net}).lint()
    assert shown(report) == ["net.py:6 TCL108"]
    assert [(site.line, site.reaches) for site in report.sites] == [(3, 1)]


def test_a_coroutine_is_no_forward_of_a_module_that_nobody_sees(project: Project) -> None:
    """A page that goes one step forward in its history derives from something, and is no module."""
    source = """
        import torch
        from pages import Page

        class Viewer(Page):
            {kind} forward(self, x: torch.Tensor):
                print(x)
                return x
    """
    assert shown(project.write({"page.py": source.format(kind="async def")}).lint(assume_compiled="all")) == []
    assert shown(project.write({"page.py": source.format(kind="def")}).lint(assume_compiled="all")) != []


def test_a_forward_that_ran_for_a_subclass_is_entered_for_its_own_class(project: Project) -> None:
    """Its own methods run then. In one file as in two: what is told depends on no neighbour in the same part."""
    base = """
        import torch
        from torch import nn

        class Base(nn.Module):
            def forward(self, x: torch.Tensor):
                return self.step(x)

            def step(self, x: torch.Tensor):
                return x * x.sum().item()
    """
    below = """
        class Below(Base):
            def step(self, x: torch.Tensor):
                return x + 1
    """
    # The subclass stands first: it is entered before the class that it has its forward from.
    imports = "import torch\nfrom z_base import Base\n"
    project.write({"a_below.py": imports + textwrap.dedent(below), "z_base.py": base})
    assert project.places(select=["TCL103"]) == ["z_base.py:9 TCL103"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tclint.run.plan.divided", lambda items: [items])
        assert project.places(select=["TCL103"]) == ["z_base.py:9 TCL103"]


WRAPPED = """
    import sys
    import torch
    from torch import nn
    import net

    class Wrapper(nn.Module):
        def __init__(self, backbone):
            super().__init__()
            self.backbone = backbone

        def forward(self, x):
            return self.backbone(x)

    {model}
    compiled = torch.compile(Wrapper(model))
"""


@pytest.mark.parametrize("named", ["net.__dict__[{}]", "vars(net)[{}]", "getattr(net, {})", "net.__dict__.get({})"])
def test_a_model_is_found_by_its_name_in_a_module(project: Project, named: str) -> None:
    known = WRAPPED.format(model="model = " + named.format("'Net'") + "()")
    report = project.write({"net.py": NET, "train.py": known}).lint()
    assert shown(report) == ["net.py:6 TCL108"]
    assert [(site.reaches, site.unread) for site in report.sites] == [(2, "")]


@pytest.mark.parametrize("named", ["net.__dict__[{}]", "vars(net)[{}]", "getattr(net, {})"])
def test_what_a_compiled_wrapper_holds_may_be_any_model(project: Project, named: str) -> None:
    unknown = WRAPPED.format(model="model = " + named.format("sys.argv[1]") + "()")
    report = project.write({"net.py": NET, "train.py": unknown}).lint()
    assert shown(report) == ["net.py:6 TCL108 assumed"]
    assert [(site.reaches, site.unread, site.unresolved) for site in report.sites] == [(1, "self.backbone", "")]
    assert report.supposed == 1


def test_names_of_the_file_itself(project: Project) -> None:
    source = "\n".join(textwrap.dedent(part) for part in (NET, "compiled = torch.compile(globals()['Net']())\n"))
    assert shown(project.write({"net.py": source}).lint()) == ["net.py:6 TCL108"]


PIPELINE = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x):
            print(x)
            return x

    class Pipeline:
        def __init__(self):
            self.net = Net()

        def compile(self):
            self.net.compile(fullgraph=False)

        def run(self, x):
            return self.net(x)
"""
_CALLED = "if `Pipeline.compile` is called"


def test_a_site_in_a_method_that_nobody_calls_is_assumed_to_run(project: Project) -> None:
    use = "import re, torch\nfrom net import Pipeline\npattern = re.compile('a')\nPipeline().run(torch.ones(2))\n"
    report = project.write({"net.py": PIPELINE, "use.py": use}).lint()
    assert shown(report) == ["net.py:6 TCL108 assumed"]
    found = report.findings[0]
    assert words.reason(found) == _CALLED
    assert [step.line for step in found.chain] == [14, 6]
    assert words.links(found) == ["net.py:14 self.net.compile(fullgraph=False)", "Net.forward:6"]
    assert words.told(found).endswith(f"({_CALLED})")
    assert finding_object(found)["uncalled"] == "Pipeline.compile"


def test_what_fullgraph_would_refuse_is_told_where_nobody_calls_the_method(project: Project) -> None:
    source = PIPELINE.replace("fullgraph=False", "fullgraph=True")
    assert shown(project.write({"net.py": source}).lint()) == ["net.py:6 TCL108 assumed"]


@pytest.mark.parametrize(
    "use",
    [
        "def start(pipeline):\n    pipeline.compile()\n",
        "def start(pipeline):\n    return [pipeline.compile]\n",
        "class Server:\n    def start(self):\n        self.pipeline.compile()\n",
        "def start(queue):\n    queue.compile()\n",
        "def start(pipeline):\n    (pipeline\n        .compile())\n",
        "def start(pipelines):\n    pipelines[0].compile()\n",
        "def start(make):\n    make().compile()\n",
        "def start(pipeline):\n    getattr(pipeline, 'compile')()\n",
        "def start(workers):\n    workers.call('compile')\n",
        "from net import Pipeline\nclass Fast(Pipeline):\n    def go(self):\n        super().compile()\n",
    ],
)
def test_a_method_is_called_wherever_its_name_is_used(project: Project, use: str) -> None:
    assert shown(project.write({"net.py": PIPELINE, "use.py": use}).lint()) == ["net.py:6 TCL108"]


@pytest.mark.parametrize(
    "use",
    [
        "import re\npattern = re.compile('a')\n",
        "import torch\nfast = torch.compile(torch.sin)\n",
        "# pipeline.compile() makes it fast\n",
        "import sys, argparse\nparser.add_argument('--compile')\nprint(parser.parse_args().compile)\n",
        "import elsewhere\nelsewhere.compile()\n",
        "MODES = {'mode': 'compile'}\n",
    ],
)
def test_who_names_something_else_does_not_call_it(project: Project, use: str) -> None:
    assert shown(project.write({"net.py": PIPELINE, "use.py": use}).lint()) == ["net.py:6 TCL108 assumed"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class Pipeline:", "import lightning\n\n    class Pipeline(lightning.LightningModule):"),
        ("class Pipeline:", "import foreign\n\n    @foreign.register\n    class Pipeline:"),
        ("def compile(self):", "@torch.no_grad()\n        def compile(self):"),
        ("def compile(self):", "def __enter__(self):"),
    ],
)
def test_others_may_call_a_method_without_naming_it(project: Project, before: str, after: str) -> None:
    found = project.write({"net.py": PIPELINE.replace(before, after)}).lint().findings
    assert [(each.code, each.assumed) for each in found] == [("TCL108", False)]


def test_a_site_that_runs_comes_before_one_in_a_method_that_nobody_calls(project: Project) -> None:
    train = "import torch\nfrom net import Net\nnet = torch.compile(Net())\nnet(torch.ones(2))\n"
    for name in ("a.py", "z.py"):
        report = project.write({"net.py": PIPELINE, name: train}).lint()
        assert shown(report) == ["net.py:6 TCL108"]
        (project.root / name).unlink()


def test_what_is_kept_hears_of_a_first_call(project: Project) -> None:
    use = "def start(pipeline):\n    pipeline.run(1)\n"
    project.write({"net.py": PIPELINE, "use.py": use})
    assert shown(project.lint(no_cache=False)) == ["net.py:6 TCL108 assumed"]
    project.write({"use.py": f"{use}    pipeline.compile()\n"})
    assert shown(project.lint(no_cache=False)) == ["net.py:6 TCL108"]
