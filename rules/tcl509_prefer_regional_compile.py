"""TCL509: a whole model compiled where its repeated block would do."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.values import Instance, Object, Seq, Value


class PreferRegionalCompile(Rule):
    """A model with a stack of equal blocks is compiled as a whole; compiling the block compiles it once.

    A policy, off by default. Dynamo unrolls an `nn.ModuleList`: a model of 32 equal layers is compiled as 32
    layers. With the blocks compiled one by one the first is compiled and the others hit its cache (27.8 s became
    6.2 s for one model). What is lost is fusion across blocks.

    Bad::

        class Block(torch.nn.Module):
            def forward(self, x):
                return x * 2

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = torch.nn.ModuleList([Block() for _ in range(12)])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x

        net = torch.compile(Net())

    Good::

        class Block(torch.nn.Module):
            def forward(self, x):
                return x * 2

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = torch.nn.ModuleList([Block() for _ in range(12)])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x

        net = Net()
        for block in net.blocks:
            block.compile()

    Fix: `for block in model.blocks: block.compile()`.

    Ignore it where the compile time does not matter or CUDA graphs should cover the whole model. Turn it on with
    `extend-select = ["TCL509"]`.
    """

    code, name = "TCL509", "prefer-regional-compile"
    effect, severity = Effect.SLOW, Severity.LOW
    default = False
    scope = "eager"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        target = event.target
        if not isinstance(target, Instance):
            return
        for name, value in event.ask.attributes(target).items():
            block = _repeated(value)
            if block:
                yield self.finding(
                    event,
                    f"`{target.cls.name}.{name}` is a stack of equal `{block}`s; compiling the block compiles it once",
                    confidence=Confidence.HIGH,
                    help=f"for block in model.{name}: block.compile()",
                )
                return


def _repeated(value: Value) -> str:
    """The class of the blocks of a ModuleList made by a comprehension, or of three or more of the same class."""
    if not isinstance(value, Object) or value.name != "torch.nn.ModuleList" or not isinstance(value.args, Seq):
        return ""
    items = value.args.items
    if items is None:
        return value.args.elem.cls.name if isinstance(value.args.elem, Instance) else ""
    classes = {item.cls.name if isinstance(item, Instance) else "" for item in items}
    return classes.pop() if len(items) >= 3 and len(classes) == 1 else ""
