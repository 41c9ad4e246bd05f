"""What happens while code is interpreted: the events that rules listen to."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tclint.events.queries import Queries
from tclint.model.finding import Condition, Span
from tclint.values import Compiled, CompileSite, Evidence, Tensor, Value

if TYPE_CHECKING:
    from tclint.events.queries import Frame
    from tclint.program import Class, Function, Module


def _builds(frame: Frame | None) -> bool:
    """Whether a constructor runs because an object is made, not because somebody calls it once more."""
    while frame is not None and frame.function is not None and frame.function.name == "__init__":
        call = frame.call_node
        func = call.func if isinstance(call, ast.Call) else None
        if not (isinstance(func, ast.Attribute) and func.attr == "__init__"):
            return call is not None
        frame = frame.parent
    return False


class Event:
    """Something that happened at a node of a function."""

    __slots__ = ("compiled", "frame", "node")
    kind = ""
    subject = ""
    """The field with the value that the event is about, always the first after the node."""
    apart = False
    """Whether it happens in a function of its own, which the function around it calls."""

    def __init__(self, frame: Frame, node: ast.AST) -> None:
        self.frame = frame
        self.node = node
        self.compiled = frame.region is not None

    @property
    def ask(self) -> Queries:
        """What else the interpreter knows here: the questions a rule may ask."""
        return Queries(self.frame)

    @property
    def module(self) -> Module:
        """The file."""
        return self.frame.module

    @property
    def enclosing(self) -> Function | None:
        """The function the event happens in; None at the top level of a file."""
        return self.frame.function

    @property
    def cls(self) -> Class | None:
        """The class whose method the event happens in."""
        return self.frame.cls

    @property
    def at_entry(self) -> bool:
        """Whether the event happens in the function that is entered from outside, not in one that it calls."""
        parent = self.frame.parent
        # Examples and wrappers enter through a frame that stands for the call from outside.
        return parent is None or (parent.function is not None and self.frame.call_node is parent.function.node)

    def same_call(self, other: Event) -> bool:
        """Whether both happened in one and the same call of a function."""
        return self.frame is other.frame

    def called_by(self, other: Event) -> bool:
        """Whether the call of a function that this happened in was made by the one that `other` happened in."""
        return self.frame.parent is other.frame

    @property
    def constructing(self) -> bool:
        """Whether an object is being made: the event happens in its constructor."""
        return self.frame.constructing or _builds(self.frame)

    @property
    def unlikely(self) -> bool:
        """Whether only an unusual run gets here: a handler of exceptions, a branch for a warning or for debugging."""
        return "except" in self.frame.blocks or self.frame.rare

    @property
    def surely(self) -> bool:
        """Whether every run of the region gets here: no branch on the way that may not be taken."""
        return not self.frame.maybe and not any(frame.maybe for frame in self.ask.callers())

    @property
    def grad(self) -> bool | None:
        """False under `no_grad`, True where nothing around turns gradients off, None where the caller is not in sight."""
        return self.frame.grad

    @property
    def capturing(self) -> bool:
        """Whether eager code is captured by hand: in `with torch.cuda.graph(g):`, or called from there."""
        return self.frame.capturing

    @property
    def doubtful(self) -> bool:
        """Whether such a capture may never get here: a branch on the way from it may not be taken."""
        return self.frame.doubtful

    @property
    def site(self) -> CompileSite | None:
        region = self.frame.region
        return region.site if region is not None else None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The open tests that what happens here hangs on."""
        return self.frame.conditions

    @property
    def evidence(self) -> Evidence | None:
        """The calls seen of the region this event is in, for the parameters of its entry."""
        region = self.frame.region
        return region.evidence if region is not None else None

    @property
    def inside(self) -> str:
        """The operator that takes this function as its argument, as `torch.utils.checkpoint.checkpoint` does; or nothing."""
        region = self.frame.region
        return region.inside if region is not None else ""

    def configured(self, setting: str) -> bool:
        """Whether the program switches a setting of `torch._dynamo.config` on."""
        region = self.frame.region
        return region is not None and setting in region.settings

    @property
    def cudagraphs(self) -> bool:
        site = self.site
        return site is not None and site.cudagraphs

    @property
    def blocks(self) -> Sequence[str]:
        """The enclosing `for`, `while`, `with`, `try` blocks, outermost first."""
        return self.frame.blocks

    @property
    def unresumed(self) -> str:
        """The outermost block that a break sends to eager mode with its function: a `with` only if Dynamo cannot enter it again,
        and no comprehension that is a function of its own."""
        block = next((b for b in self.frame.blocks if b in ("for", "while", "try", *self.frame.held * ["with"])), "")
        return "" if block == "for" and self.ask.is_of_comprehension(self.node) else block


class Branch(Event):
    """Python asks a value for its truth: `if`, `elif`, `while`, `and`, `not`, a comprehension's condition …"""

    __slots__ = ("keyword", "test")
    kind = "branch"
    subject = "test"

    def __init__(self, frame: Frame, node: ast.AST, test: Value, keyword: str) -> None:
        super().__init__(frame, node)
        self.test = test
        self.keyword = keyword


class Call(Event):
    """A call of something outside the program. `name` is dotted: `torch.nonzero`, `builtins.print`, `Tensor.item`,
    `logging.Logger.info`; a method of something unknown is `?.name`."""

    __slots__ = ("args", "keywords", "method", "name", "receiver", "result")
    kind = "call"

    def __init__(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        receiver: Value | None,
        result: Value,
    ) -> None:
        super().__init__(frame, node)
        self.name = name
        self.method = name.rpartition(".")[2]
        self.args = args
        self.keywords = keywords
        self.receiver = receiver
        self.result = result

    def arg(self, index: int, name: str = "") -> Value | None:
        if name and name in self.keywords:
            return self.keywords[name]
        return self.args[index] if 0 <= index < len(self.args) else None


class ProgramCall(Event):
    """A call of a function of the program, from compiled or eager code."""

    __slots__ = ("args", "function", "keywords", "result")
    kind = "program_call"
    subject = "function"

    def __init__(
        self, frame: Frame, node: ast.AST, function: Any, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> None:
        super().__init__(frame, node)
        self.function = function
        self.args = args
        self.keywords = keywords


class CompiledCall(Event):
    """Eager code calls a compiled callable: a graph boundary."""

    __slots__ = ("args", "callee", "keywords", "overwrites", "result")
    kind = "compiled_call"

    def __init__(
        self,
        frame: Frame,
        node: ast.AST,
        callee: Compiled,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        result: Value,
        overwrites: bool = False,
    ) -> None:
        super().__init__(frame, node)
        self.callee = callee
        self.args = args
        self.keywords = keywords
        self.result = result
        self.overwrites = overwrites
        """Whether its CUDA graph writes over what earlier runs gave: not within a step that is marked."""

    @property
    def evidence(self) -> Evidence | None:
        """What is known of the calls of the callable, of which this is one."""
        site = self.callee.site
        return self.frame.interp.account.evidence(self.callee.code, site.dynamic, site.test, site.path)


class Attribute(Event):
    """An attribute of a value outside the program is read."""

    __slots__ = ("name", "receiver")
    kind = "attribute"
    subject = "receiver"

    def __init__(self, frame: Frame, node: ast.AST, receiver: Value, name: str) -> None:
        super().__init__(frame, node)
        self.receiver = receiver
        self.name = name


class Store(Event):
    """A value is stored: `target` is `attribute`, `subscript`, `global`, `nonlocal`, `container` (append …) or `name`."""

    __slots__ = ("augmented", "index", "name", "old", "receiver", "target", "value")
    kind = "store"

    def __init__(
        self,
        frame: Frame,
        node: ast.AST,
        target: str,
        receiver: Value,
        name: str,
        value: Value,
        index: Value | None = None,
        augmented: bool = False,
        old: Value | None = None,
    ) -> None:
        super().__init__(frame, node)
        self.target = target
        self.receiver = receiver
        self.name = name
        self.value = value
        self.index = index
        self.augmented = augmented
        self.old = old


class Subscript(Event):
    """`receiver[index]` is read."""

    __slots__ = ("index", "receiver", "result")
    kind = "subscript"
    subject = "receiver"

    def __init__(self, frame: Frame, node: ast.AST, receiver: Value, index: Value, result: Value) -> None:
        super().__init__(frame, node)
        self.receiver = receiver
        self.index = index
        self.result = result


class Operation(Event):
    """A binary operator, comparison or membership test with operands worth a look."""

    __slots__ = ("left", "operator", "right")
    kind = "operation"

    def __init__(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> None:
        super().__init__(frame, node)
        self.operator = operator
        self.left = left
        self.right = right


class SparseUse(Event):
    """A sparse or nested tensor is handed to a function, or a method of one is called."""

    __slots__ = ("by_method", "tensor")
    kind = "sparse_use"

    def __init__(self, frame: Frame, node: ast.AST, tensor: Tensor, by_method: bool) -> None:
        super().__init__(frame, node)
        self.tensor = tensor
        self.by_method = by_method


class Loop(Event):
    """`for target in iterable`, or a comprehension."""

    __slots__ = ("comprehension", "iterable")
    kind = "loop"
    subject = "iterable"

    def __init__(self, frame: Frame, node: ast.AST, iterable: Value, comprehension: bool) -> None:
        super().__init__(frame, node)
        self.iterable = iterable
        self.comprehension = comprehension


class Return(Event):
    """`return` or `yield` of a value."""

    __slots__ = ("value", "yields")
    kind = "return"
    subject = "value"

    def __init__(self, frame: Frame, node: ast.AST, value: Value, yields: bool = False) -> None:
        super().__init__(frame, node)
        self.value = value
        self.yields = yields


class Assert(Event):
    __slots__ = ("test",)
    kind = "assert"

    def __init__(self, frame: Frame, node: ast.Assert, test: Value) -> None:
        super().__init__(frame, node)
        self.test = test


class Format(Event):
    """A value is formatted into a string."""

    __slots__ = ("value",)
    kind = "format"

    def __init__(self, frame: Frame, node: ast.AST, value: Value) -> None:
        super().__init__(frame, node)
        self.value = value


class With(Event):
    """A context manager is entered."""

    __slots__ = ("context",)
    kind = "with"

    def __init__(self, frame: Frame, node: ast.AST, context: Value) -> None:
        super().__init__(frame, node)
        self.context = context


class Define(Event):
    """A class or function is defined, or a module imported, inside a function."""

    __slots__ = ("what",)
    kind = "define"

    def __init__(self, frame: Frame, node: ast.AST, what: str) -> None:
        super().__init__(frame, node)
        self.what = what


class Feature(Event):
    """Something of the language that no other event tells, by its name in the facts: an exception is raised again."""

    __slots__ = ("name",)
    kind = "feature"

    def __init__(self, frame: Frame, node: ast.AST, name: str) -> None:
        super().__init__(frame, node)
        self.name = name


class Enter(Event):
    """A function of a region is entered."""

    __slots__ = ()
    kind = "enter"


class Compile(Event):
    """A compile site."""

    __slots__ = ("begun", "keywords", "positional", "target")
    kind = "compile"

    def __init__(
        self,
        frame: Frame,
        node: ast.AST,
        target: Value,
        keywords: Mapping[str, Value],
        positional: int,
        site: CompileSite,
    ) -> None:
        super().__init__(frame, node)
        self.target = target
        self.keywords = keywords
        self.positional = positional
        self.begun = site
        """The site that this is; `site` is the one of the region around it."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (*self.frame.conditions, *self.begun.conditions)

    @property
    def evidence(self) -> Evidence | None:
        """What is known of the calls of what is compiled here."""
        return self.frame.interp.account.evidence_at(self.begun, self.target)


class ModuleEvent(Event):
    """A whole file, for rules about scripts rather than about compiled code. `triggers` of a rule choose the files."""

    __slots__ = ()
    kind = "module"

    def __init__(self, frame: Frame) -> None:
        # The node is the tree, parsed when first asked for: a rule can look at `module.data` before.
        self.frame = frame
        self.compiled = False

    @property
    def node(self) -> ast.Module:  # type: ignore[override]
        return self.frame.module.tree


KINDS: tuple[type[Event], ...] = (
    Branch,
    Call,
    ProgramCall,
    CompiledCall,
    Attribute,
    Store,
    Subscript,
    Operation,
    SparseUse,
    Loop,
    Return,
    Assert,
    Format,
    With,
    Define,
    Feature,
    Enter,
    Compile,
    ModuleEvent,
)


def span_of(module: Module, node: ast.AST) -> Span:
    """The span of a node in characters (ast counts UTF-8 bytes)."""
    line: int = getattr(node, "lineno", 1)
    end_line: int = getattr(node, "end_lineno", None) or line
    column: int = getattr(node, "col_offset", 0)
    end_column: int = getattr(node, "end_col_offset", None) or column
    return Span(line, _characters(module, line, column) + 1, end_line, _characters(module, end_line, end_column) + 1)


def _characters(module: Module, line: int, offset: int) -> int:
    if not offset or module.raw.isascii():
        return offset
    return len(module.peek(line, line)[:offset].decode("utf-8", "replace"))
