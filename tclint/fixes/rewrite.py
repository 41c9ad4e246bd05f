"""Rewriting source for a fix: where an event stands, the edits that change it, statements rebuilt with libcst.

Everything here works on slices. An expression is replaced through its own span; a statement that has to be rebuilt is
parsed by libcst alone, with the lines around it left out. libcst is imported when the first statement is rebuilt.
"""

from __future__ import annotations

import ast
import functools
import keyword
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.model.finding import Applicability, Edit, Fix, Span
from tclint.program import Class, Function, Import
from tclint.sources.text import decode, nodes
from tclint.values import Instance, Object

if TYPE_CHECKING:
    import libcst as cst

    from tclint.events import Event

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_NEWLINE: Final = re.compile(r"\r\n|\r|\n")

# Functions and methods that return a fresh value, have no side effect and are defined for every input of the right shape.
PURE: Final = frozenset(
    "abs absolute add amax amin all any argmax argmin asin atan atan2 bool broadcast_to cat ceil chunk clamp clamp_max "
    "clamp_min clone contiguous cos cosh count_nonzero cumprod cumsum detach diag diagonal div double einsum eq erf exp "
    "expand expand_as expm1 flatten flip float floor fmod full_like gather ge gelu gt half int isfinite isinf isnan "
    "layer_norm le leaky_relu lerp log log10 log1p log2 log_softmax logical_and logical_not logical_or logsigmoid "
    "logsumexp long lt masked_fill matmul max maximum mean median min minimum mish mm movedim mul nan_to_num ne neg norm "
    "normalize numel ones_like permute pow prod reciprocal relu relu6 remainder reshape roll round rsqrt selu sigmoid sign "
    "silu sin sinh size softmax softplus softsign sqrt square squeeze stack std sub sum tan tanh tile to transpose tril "
    "triu true_divide trunc type_as unbind unflatten unsqueeze var view view_as where zeros_like dim elu celu".split()
)
# Modules whose call changes nothing but its result. Not dropout, not batch norm.
PURE_MODULES: Final = frozenset(
    "Linear Bilinear Identity Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d LayerNorm GroupNorm RMSNorm ReLU GELU "
    "SiLU Tanh Sigmoid Softmax LogSoftmax LeakyReLU ELU Mish Hardswish Embedding Flatten AvgPool1d AvgPool2d MaxPool1d "
    "MaxPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d Softplus ReLU6 Hardtanh Unflatten".split()
)


# Calls that say something and change nothing.
SAYS: Final = frozenset(
    "debug info warning warn error critical exception log warning_once info_once debug_once error_once print".split()
)


@functools.lru_cache(maxsize=4)  # fixes come file by file, some look at a second one
def _lines(path: str, data: bytes) -> list[str]:
    text = decode(path, data)
    return _NEWLINE.split(text) if "\r" in text else text.split("\n")


class Place:
    """A node of a file and what stands around it."""

    def __init__(self, event: Event, node: ast.AST | None = None) -> None:
        self.event = event
        self.module = event.module
        self.path = event.module.path
        self.node: Any = node if node is not None else event.node
        self.chain = _ancestors(self.module.tree, self.node)
        """What encloses the node, outermost first."""
        self.lines = _lines(self.path, self.module.data)

    # -- around the node --------------------------------------------------------------------------------------

    @property
    def parent(self) -> ast.AST | None:
        return self.chain[-1] if self.chain else None

    @property
    def statement(self) -> ast.stmt | None:
        if isinstance(self.node, ast.stmt):
            return self.node
        return next((n for n in reversed(self.chain) if isinstance(n, ast.stmt)), None)

    @property
    def function(self) -> FunctionNode | None:
        """The innermost `def` around the node; None at the top level and inside a lambda or a comprehension's own scope."""
        for node in reversed(self.chain):
            if isinstance(node, _FUNCTIONS):
                return node
            if isinstance(node, ast.Lambda):
                return None
        return None

    @property
    def cls(self) -> ast.ClassDef | None:
        """The class whose method the node stands in."""
        function = self.function
        for outer, inner in zip(reversed(self.chain[:-1]), reversed(self.chain), strict=False):
            if inner is function and isinstance(outer, ast.ClassDef):
                return outer
        return None

    def block(self, statement: ast.stmt) -> list[ast.stmt] | None:
        """The statements that `statement` is one of."""
        for node in (self.module.tree, *self.chain):
            for found in _blocks(node):
                if any(_same(s, statement) for s in found):
                    return found
        return None

    def index(self, statement: ast.stmt) -> tuple[list[ast.stmt], int] | None:
        block = self.block(statement)
        if block is None:
            return None
        return block, next(i for i, s in enumerate(block) if _same(s, statement))

    # -- text -------------------------------------------------------------------------------------------------

    def column(self, line: int, offset: int) -> int:
        """The column, in characters from 1, of a UTF-8 offset."""
        return len(self.lines[line - 1].encode()[:offset].decode("utf-8", "replace")) + 1

    def span(self, node: ast.AST) -> Span:
        line, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        return Span(line, self.column(line, node.col_offset), end, self.column(end, node.end_col_offset))  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        span = self.span(node)
        lines = self.lines[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return "\n".join(lines)

    def atom(self, node: ast.AST) -> str:
        """The source of an expression, fit to stand before a dot."""
        return self.source(node) if _is_atom(node) else f"({self.source(node)})"

    def operand(self, node: ast.AST) -> str:
        """The source of an expression, fit to stand next to `&`, `*` or `~`."""
        plain = _is_atom(node) or isinstance(node, ast.Constant)
        return self.source(node) if plain else f"({self.source(node)})"

    def argument(self, node: ast.AST) -> str:
        loose = isinstance(node, (ast.NamedExpr, ast.GeneratorExp, ast.Starred, ast.Yield, ast.YieldFrom, ast.Lambda))
        bare = isinstance(node, ast.Tuple) and not self.source(node).startswith("(")
        return f"({self.source(node)})" if loose or bare else self.source(node)

    def indent(self, statement: ast.stmt) -> str:
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def owns_its_lines(self, statement: ast.stmt) -> bool:
        """Whether nothing else stands on the statement's first and last line (`a; b`, `if x: y`, `\\` continuations)."""
        span = self.span(statement)
        before, after = (
            self.lines[span.line - 1][: span.column - 1],
            self.lines[span.end_line - 1][span.end_column - 1 :],
        )
        rest = after.strip()
        return not before.strip() and (not rest or rest.startswith("#"))

    # -- edits ------------------------------------------------------------------------------------------------

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Another text for a node, and for the brackets around it where the text needs none."""
        span = self.span(node)
        while isinstance(node, ast.expr) and _parsed_atom(text) and (wider := self._with_brackets(span)) is not None:
            span = wider
        return Edit(self.path, span, text)

    def _with_brackets(self, span: Span) -> Span | None:
        """The span with the brackets right around it, unless they are those of a call."""
        before, after = (
            self.lines[span.line - 1][: span.column - 1],
            self.lines[span.end_line - 1][span.end_column - 1 :],
        )
        if not before.endswith("(") or not after.startswith(")"):
            return None
        ahead = before[:-1].rstrip()
        word = re.search(r"\w+$", ahead)
        if ahead.endswith((")", "]", "}", '"', "'")) or (word is not None and not keyword.iskeyword(word[0])):
            return None
        if word is not None and len(ahead) == len(before) - 1:
            return None  # `return(x)`: the brackets keep the words apart
        return Span(span.line, span.column - 1, span.end_line, span.end_column + 1)

    def insert_after(self, node: ast.AST, text: str) -> Edit:
        span = self.span(node)
        return Edit(self.path, Span(span.end_line, span.end_column, span.end_line, span.end_column), text)

    def append(self, node: ast.AST, text: str) -> Edit:
        """`.clone()` behind an expression, in brackets where it needs them."""
        return self.insert_after(node, text) if _is_atom(node) else self.replace(node, f"({self.source(node)}){text}")

    def insert_line(self, line: int, text: str) -> Edit:
        """A whole new line before `line`; one beyond the last line goes to the end of the file."""
        if line > len(self.lines):
            last = len(self.lines)
            end = len(self.lines[-1]) + 1
            return Edit(self.path, Span(last, end, last, end), f"\n{text}")
        return Edit(self.path, Span(line, 1, line, 1), f"{text}\n")

    def remove(self, statement: ast.stmt) -> Edit | None:
        """A statement and its line; `pass` where nothing else is left in its block."""
        found = self.index(statement)
        if found is None or not self.owns_its_lines(statement):
            return None
        block, _ = found
        if len(block) == 1:
            return self.replace(statement, "pass")
        return Edit(self.path, Span(statement.lineno, 1, (statement.end_lineno or statement.lineno) + 1, 1), "")

    # -- names ------------------------------------------------------------------------------------------------

    def importing(self, module: str) -> tuple[str, tuple[Edit, ...]] | None:
        """What a module is called here, and the edit that imports it where it is not; None where the name is taken."""
        function = self.function
        local = self._local_names()
        for name, definition in self.module.names.items():
            if isinstance(definition, Import) and (definition.target, definition.attribute) == (module, ""):
                if name not in local or name == module and _imports(function, module):
                    return name, ()
        if module in local:
            return (module, ()) if _imports(function, module) else None
        if module in self.module.names:
            return None
        return module, (self._import_edit(module),)

    def _local_names(self) -> set[str]:
        """What the function binds; asked for by every fix that needs an import."""
        if self.function is None:
            return set()
        key = f"bound {getattr(self.function, 'lineno', 0)} {getattr(self.function, 'col_offset', 0)}"
        known = self.module.facts.get(key)
        if not isinstance(known, set):
            known = self.module.facts[key] = _bound_in(self.function)
        return known

    def _import_edit(self, module: str) -> Edit:
        body = self.module.tree.body
        imports = [s for s in _leading(body) if isinstance(s, (ast.Import, ast.ImportFrom))]
        future = [s for s in imports if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
        others = [s for s in imports if s not in future]
        if not others:
            after: list[ast.stmt] = [*future] or [s for s in body[:1] if _is_docstring(s)]
            line = (after[-1].end_lineno or 0) + 1 if after else (_first_line(body[0]) if body else 1)
            gap = "\n" if after else ""
            return self.insert_line(line, f"{gap}import {module}" + ("" if after else "\n"))
        if module not in sys.stdlib_module_names:
            standard = [s for s in others if _top(s) in sys.stdlib_module_names]
            first = next((s for s in others if s not in standard), None)
            if first is not None:
                return self.insert_line(first.lineno, f"import {module}")
            return self.insert_line((others[-1].end_lineno or 0) + 1, f"\nimport {module}")
        plain = [s for s in others if isinstance(s, ast.Import) and _top(s) in sys.stdlib_module_names]
        before = [s for s in plain if _top(s) < module]
        if before:
            return self.insert_line((before[-1].end_lineno or 0) + 1, f"import {module}")
        gap = "" if _top(others[0]) in sys.stdlib_module_names else "\n"
        return self.insert_line(others[0].lineno, f"import {module}{gap}")

    # -- statements, rebuilt ----------------------------------------------------------------------------------

    def rebuild(
        self,
        first: ast.stmt,
        last: ast.stmt,
        change: Callable[[list[cst.BaseStatement]], Sequence[cst.BaseStatement] | None],
    ) -> Edit | None:
        """The lines of some neighbouring statements, parsed by libcst and given to `change`.

        They are parsed at their own indentation, under an `if` that is cut off again: dedenting them would change strings
        of several lines.
        """
        import libcst as cst

        if not self.owns_its_lines(first) or not self.owns_its_lines(last):
            return None
        start, end = first.lineno, last.end_lineno or last.lineno
        lines = self.lines[start - 1 : end]
        indent = self.indent(first)
        if "\f" in indent:
            return None
        head = "if 1:\n" if indent else ""
        try:
            tree = cst.parse_module(head + "\n".join(lines) + "\n")
        except cst.ParserSyntaxError:
            return None
        unit = self._unit(indent)
        if indent:
            wrapper = tree.body[0]
            assert isinstance(wrapper, cst.If)
            body = wrapper.body
            assert isinstance(body, cst.IndentedBlock)
            changed = change(list(body.body))
            if changed is None:
                return None
            wrapper = wrapper.with_changes(body=body.with_changes(body=changed, indent=indent))
            new = tree.with_changes(body=[wrapper], default_indent=unit).code[len(head) :]
        else:
            changed = change(list(tree.body))
            if changed is None:
                return None
            new = tree.with_changes(body=changed, default_indent=unit).code
        return self._trimmed(start, lines, new.rstrip("\n").split("\n"))

    def _unit(self, indent: str) -> str:
        """One step of the file's indentation: that of the first block, outermost ones first."""
        if "\t" in indent:
            return "\t"
        for node in ast.walk(self.module.tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body and body[0].lineno > node.lineno:
                width: int = body[0].col_offset - node.col_offset
                return " " * max(width, 1)
        return "    "

    def _trimmed(self, start: int, old: list[str], new: list[str]) -> Edit | None:
        """The lines that differ, as one edit."""
        if old == new:
            return None
        while old and new and old[0] == new[0]:
            old, new, start = old[1:], new[1:], start + 1
        while old and new and old[-1] == new[-1]:
            old, new = old[:-1], new[:-1]
        if not old:
            return Edit(self.path, Span(start, 1, start, 1), "".join(f"{line}\n" for line in new))
        if not new:
            return Edit(self.path, Span(start, 1, start + len(old), 1), "")
        end = start + len(old) - 1
        return Edit(self.path, Span(start, 1, end, len(old[-1]) + 1), "\n".join(new))


# --- fixes that several rules offer ---------------------------------------------------------------------------------


def guard(event: Event, node: ast.AST, what: str) -> Fix | None:
    """`if not torch.compiler.is_compiling():` around the statement that a call is."""
    place = Place(event, node)
    statement = place.statement
    torch = place.importing("torch")
    if statement is None or torch is None:
        return None
    name, imports = torch
    title = "guard it with torch.compiler.is_compiling()"
    note = f"in compiled runs {what}"
    if isinstance(statement, (ast.If, ast.While)) and _within(node, statement.test):
        if isinstance(statement, ast.While) or not _first_operand(statement.test, node):
            return None
        if isinstance(statement.test, ast.BoolOp) and isinstance(statement.test.op, ast.Or):
            return None
        test = f"not {name}.compiler.is_compiling() and {place.source(statement.test)}"
        edit = place.replace(statement.test, test)
        return Fix(title, Applicability.UNSAFE, (*imports, edit), note)
    if not (isinstance(statement, ast.Expr) and _same(statement.value, node)) or has_effects(node, top=True):
        return None
    outer = place.chain[-2] if len(place.chain) > 1 else None
    if isinstance(outer, ast.If) and not outer.orelse and all(only_says(s) for s in outer.body):
        # The whole `if` is there to say something: one guard for all of it.
        test = place.source(outer.test)
        if isinstance(outer.test, (ast.NamedExpr, ast.IfExp)) or has_effects(outer.test):
            return None
        if isinstance(outer.test, ast.BoolOp) and isinstance(outer.test.op, ast.Or):
            test = f"({test})"
        edit = place.replace(outer.test, f"not {name}.compiler.is_compiling() and {test}")
        return Fix(title, Applicability.UNSAFE, (*imports, edit), note)
    rebuilt = _guarded(place, statement, name)
    return Fix(title, Applicability.UNSAFE, (*imports, rebuilt), note) if rebuilt is not None else None


def only_says(statement: ast.stmt) -> bool:
    """Whether a statement is a message and nothing else."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or has_effects(call, top=True):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in SAYS


def removal(
    event: Event, node: ast.AST, title: str, note: str, how: Applicability = Applicability.UNSAFE
) -> Fix | None:
    """The statement that a call is, taken out."""
    place = Place(event, node)
    statement = place.statement
    if not (isinstance(statement, ast.Expr) and _same(statement.value, node)):
        return None
    edit = place.remove(statement)
    return Fix(title, how, (edit,), note) if edit is not None else None


def display(title: str, note: str = "") -> Fix:
    """A repair that only a person can make."""
    return Fix(title, Applicability.DISPLAY, (), note)


def cached(event: Event, node: ast.expr, how: Applicability, note: str = "", prefix: str = "_") -> Fix | None:
    """An expression of `self.…` and constants, computed once in `__init__` and kept on the module."""
    place = Place(event, node)
    function, cls = place.function, place.cls
    init = next((s for s in cls.body if isinstance(s, _FUNCTIONS) and s.name == "__init__"), None) if cls else None
    if (
        function is None
        or init is None
        or function is init
        or cls is None
        or not function.args.args
        or not init.args.args
    ):
        return None
    me, inner = function.args.args[0].arg, init.args.args[0].arg
    if me != inner or any(
        isinstance(d, ast.Name) and d.id in ("staticmethod", "classmethod") for d in function.decorator_list
    ):
        return None
    read = _attributes_read(node, me)
    if read is None or not read or not _only_reads(node, me, set(place.module.names)):
        return None
    after = _assigned_in_init(cls, init, inner, read)
    if after is None or not place.owns_its_lines(after):
        return None
    name = prefix + _slug(node)
    taken = {n.attr for n in ast.walk(cls) if isinstance(n, ast.Attribute)}
    source = place.source(node)
    if "\n" in source:
        return None
    edits = [place.replace(node, f"{me}.{name}")]
    line = f"{place.indent(after)}{inner}.{name} = {source}"
    if name in taken:
        held = [s for s in init.body if isinstance(s, ast.Assign) and place.source(s) == line.strip()]
        if not held:
            return None
    else:
        edits.insert(0, place.insert_line((after.end_lineno or after.lineno) + 1, line))
    return Fix(f"read it once in __init__: {line.strip()}", how, tuple(edits), note)


def hoisted(event: Event, node: ast.expr, note: str) -> Fix | None:
    """A call of an imported function with constant arguments, moved to the module's top level."""
    place = Place(event, node)
    top = next((n for n in place.chain if isinstance(n, (*_FUNCTIONS, ast.ClassDef))), None)
    if top is None or "\n" in place.source(node) or not any(isinstance(n, ast.Call) for n in ast.walk(node)):
        return None
    # What is imported, and the classes and functions that stand above.
    known = {
        name
        for name, what in place.module.names.items()
        if isinstance(what, Import) or (isinstance(what, (Class, Function)) and what.node.lineno < _first_line(top))
    }
    if not _only_reads(node, "", known - _bound_in(place.function)):
        return None
    call = next(n for n in ast.walk(node) if isinstance(n, ast.Call))
    if isinstance(node, (ast.Lambda, ast.Call)) and has_effects(node):
        return None
    name = "_" + _slug(call).upper()
    if name in place.module.names:
        return None
    line = _first_line(top)
    # Comments right above a function belong to it.
    while line > 1 and place.lines[line - 2].startswith("#"):
        line -= 1
    edits = (place.insert_line(line, f"{name} = {place.source(node)}\n\n"), place.replace(node, name))
    return Fix(f"compute it once: {name} = {place.source(node)}", Applicability.UNSAFE, edits, note)


# --- questions about expressions ------------------------------------------------------------------------------------


def pure(place: Place, node: ast.AST) -> bool:
    """Whether an expression may be computed although its value may not be wanted: no effect, no error, no large cost."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return not (isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str)))
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, (ast.Name, ast.Attribute)) or pure(place, node.value)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and pure(place, node.operand)
    if isinstance(node, ast.BinOp):
        return pure(place, node.left) and pure(place, node.right)
    if isinstance(node, ast.Compare):
        return (
            len(node.ops) == 1
            and not isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Is, ast.IsNot))
            and (pure(place, node.left) and pure(place, node.comparators[0]))
        )
    if isinstance(node, ast.Subscript):
        return pure(place, node.value) and all(_plain_index(n) for n in _index_parts(node.slice))
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(pure(place, e) for e in node.elts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        # `float("-inf")`: a number that Python has no literal for.
        return len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and not node.keywords
    if isinstance(node, ast.Call):
        return (
            _pure_callee(place, node.func)
            and all(pure(place, a) or _plain(a) for a in (*node.args, *(k.value for k in node.keywords)))
            and all(k.arg is not None for k in node.keywords)
        )
    return False


def _plain(node: ast.AST) -> bool:
    """`dim=None`, `torch.float32`, `"mean"`."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))


def _plain_index(node: ast.AST) -> bool:
    if isinstance(node, ast.Slice):
        return all(p is None or _plain_index(p) for p in (node.lower, node.upper, node.step))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant)


def _index_parts(node: ast.AST) -> list[ast.AST]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _pure_callee(place: Place, func: ast.AST) -> bool:
    if not isinstance(func, ast.Attribute):
        return False
    owner = func.value
    if isinstance(owner, ast.Name) and owner.id == "self":
        held = _held(place, func.attr)
        return (
            isinstance(held, Object)
            and held.name.startswith("torch.nn.")
            and (held.name.rpartition(".")[2] in PURE_MODULES)
        )
    if func.attr not in PURE:
        return False
    return isinstance(owner, ast.Name) or pure(place, owner)


def _held(place: Place, attribute: str) -> object:
    """What `self.attribute` is, as far as the interpreter knows."""
    frame = place.event.frame
    owner = frame.env.get("self")
    return frame.interp.instance_attributes.of(owner).get(attribute) if isinstance(owner, Instance) else None


def has_effects(node: ast.AST, top: bool = False) -> bool:
    """Whether leaving the arguments of a call out would leave out more than the call."""
    return any(
        isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
        or (
            isinstance(n, ast.Attribute) and n.attr in ("pop", "popleft", "popitem", "append", "update", "add_", "step")
        )
        or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in ("next", "setattr", "exec"))
        for n in ast.walk(node)
        if not (top and n is node)
    )


def names_read(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def reads_of(root: ast.AST, name: str) -> Iterator[tuple[ast.Name, list[ast.AST]]]:
    """Every read of a name in a function, with what encloses it."""
    stack: list[tuple[ast.AST, list[ast.AST]]] = [(root, [])]
    while stack:
        node, above = stack.pop()
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node, above
        for child in ast.iter_child_nodes(node):
            stack.append((child, [*above, node]))


def stores_of(root: ast.AST, name: str) -> list[ast.AST]:
    """The nodes that bind a name in a function: names in store context, and arguments."""
    found: list[ast.AST] = [
        n for n in ast.walk(root) if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    return [*found, *(n for n in ast.walk(root) if isinstance(n, ast.arg) and n.arg == name)]


def _bound_in(function: ast.AST | None) -> set[str]:
    if function is None:
        return set()
    names: set[str] = set()
    for node in nodes(function):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(a.asname or a.name).partition(".")[0] for a in node.names}
    return names


def _imports(function: ast.AST | None, module: str) -> bool:
    return function is not None and any(
        isinstance(n, ast.Import) and any(a.asname is None and a.name.partition(".")[0] == module for a in n.names)
        for n in ast.walk(function)
    )


def _attributes_read(node: ast.AST, me: str) -> set[str] | None:
    """The attributes of self that an expression reads; None where it uses self in another way."""
    attributes: set[str] = set()
    owners = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == me:
            attributes.add(each.attr)
        elif isinstance(each, ast.Name) and each.id == me and id(each) not in owners:
            return None
    return attributes


def _only_reads(node: ast.AST, me: str, known: set[str]) -> bool:
    if any(
        isinstance(n, (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.comprehension))
        for n in ast.walk(node)
    ):
        return False
    import builtins

    names = names_read([node])
    return not names & _NOT_ONCE and all(n == me or n in known or hasattr(builtins, n) for n in names)


# Builtins whose answer depends on where or when they are called, or that hand out what is used up.
_NOT_ONCE: Final = frozenset(
    "super locals globals vars dir print input open id eval exec next iter map filter zip enumerate reversed".split()
)


def _assigned_in_init(cls: ast.ClassDef, init: FunctionNode, me: str, wanted: set[str]) -> ast.stmt | None:
    """The statement of `__init__` after which all attributes are there, if they are set there and only there, once."""
    last: ast.stmt | None = None
    for name in wanted:
        stores = [
            n
            for n in ast.walk(cls)
            if isinstance(n, ast.Attribute) and n.attr == name and not isinstance(n.ctx, ast.Load)
        ]
        at = [
            s
            for s in init.body
            if isinstance(s, (ast.Assign, ast.AnnAssign))
            and any(
                isinstance(t, ast.Attribute) and t.attr == name and isinstance(t.value, ast.Name) and t.value.id == me
                for t in (s.targets if isinstance(s, ast.Assign) else [s.target])
            )
        ]
        if len(stores) != 1 or len(at) != 1:
            return None
        if last is None or at[0].lineno > last.lineno:
            last = at[0]
    return last


def _slug(node: ast.AST) -> str:
    """A name for the value of an expression: `image_token_id` for `self.tokenizer.image_token_id`."""
    inner = node.func if isinstance(node, ast.Call) else node
    parts = [n.attr for n in ast.walk(inner) if isinstance(n, ast.Attribute)][:1]
    if isinstance(node, ast.Call) and isinstance(inner, ast.Name):
        rest = f"_{_slug(node.args[0])}" if node.args and isinstance(node.args[0], (ast.Call, ast.Attribute)) else ""
        text = f"{inner.id}{rest}"
    elif isinstance(node, ast.Call):
        text = parts[0] if parts else "value"
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        text = node.attr
    else:
        text = parts[0] if parts else "value"
    return re.sub(r"\W+", "_", text).strip("_")


def _is_literal(node: ast.AST) -> bool:
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_is_literal(e) for e in node.elts)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _is_atom(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.JoinedStr))


def _parsed_atom(text: str) -> bool:
    try:
        return _is_atom(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return False


def quoted(text: str) -> str:
    """A string literal, in double quotes where it can be."""
    plain = text.isprintable() and not set(text) & {'"', "\\"}
    return f'"{text}"' if plain else repr(text)


def _first_operand(test: ast.AST, node: ast.AST) -> bool:
    """Whether a call is what a test asks first: `log.isEnabledFor(x)`, `log.isEnabledFor(x) and y`."""
    if _same(test, node):
        return True
    if isinstance(test, ast.BoolOp):
        return _first_operand(test.values[0], node) or (isinstance(test.op, ast.And) and _within(node, test))
    return isinstance(test, ast.UnaryOp) and _same(test.operand, node) and False


# --- positions ------------------------------------------------------------------------------------------------------


def position(node: ast.AST) -> tuple[int, int, int, int]:
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )


def _same(a: ast.AST, b: ast.AST) -> bool:
    """Whether two nodes stand at the same place: a file may have been parsed again in between."""
    return a is b or (type(a) is type(b) and position(a) == position(b))


same = _same


def _within(inner: ast.AST, outer: ast.AST) -> bool:
    a, b = position(inner), position(outer)
    return b[:2] <= a[:2] and a[2:] <= b[2:]


within = _within


def _ancestors(root: ast.AST, node: ast.AST) -> list[ast.AST]:
    here = position(node)
    line, last = here[0], here[2]
    for child in ast.iter_child_nodes(root):
        first: int | None = getattr(child, "lineno", None)
        if first is not None:
            # Most siblings stand on other lines.
            if first > line or child.end_lineno < last:  # type: ignore[attr-defined]
                continue
            if _same(child, node):
                return [root]
            if not _within(node, child):
                continue
        found = _ancestors(child, node)
        if found:
            return [root, *found]
    return []


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    for handler in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield handler.body


def _leading(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements at the top of a file up to the first that is neither docstring nor import."""
    for statement in body:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)) and not _is_docstring(statement):
            return
        yield statement


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _top(statement: ast.stmt) -> str:
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").partition(".")[0] if not statement.level else ""
    return statement.names[0].name.partition(".")[0] if isinstance(statement, ast.Import) else ""


def _first_line(node: ast.AST) -> int:
    return min(position(each)[0] for each in (node, *getattr(node, "decorator_list", ())))


def node_at(event: Event, span: Span, kind: type[Any] | tuple[type[Any], ...]) -> Any:
    """The node of a kind that a finding points at: the finding may stand elsewhere than its event."""
    place = Place(event, event.module.tree)
    for node in ast.walk(event.module.tree):
        if isinstance(node, kind) and getattr(node, "lineno", 0) == span.line and place.span(node) == span:
            return node
    return None


def once(event: Event, note: str) -> Fix | None:
    """A constant expression around a call, computed at start-up: on the module or at the top of the file."""
    place = Place(event)
    best: Fix | None = None
    for node in (place.node, *reversed(place.chain)):
        if not (isinstance(node, (ast.Call, ast.Attribute)) or node is place.node):
            break
        found = cached(event, node, Applicability.UNSAFE, note) or hoisted(event, node, note)
        if found is None:
            if best is not None:
                break
            continue
        best = found
    return best


def noted(event: Event, node: ast.AST) -> Fix | None:
    """`self.stamp = now()`, where nobody in the file reads the attribute: it is left out of compiled runs."""
    place = Place(event, node)
    statement = place.statement
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    else:
        return None
    torch = place.importing("torch")
    if torch is None or has_effects(statement.value) or _is_read(place, target):
        return None
    rebuilt = _guarded(place, statement, torch[0])
    if rebuilt is None:
        return None
    note = f"compiled runs no longer set `{place.source(target)}`"
    return Fix("guard it with torch.compiler.is_compiling()", Applicability.UNSAFE, (*torch[1], rebuilt), note)


def _is_read(place: Place, target: ast.AST) -> bool:
    """Whether somebody reads what a statement notes down: an attribute anywhere in the file, a name in the function."""
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        return any(
            isinstance(n, ast.Attribute) and n.attr == target.attr and isinstance(n.ctx, ast.Load)
            for n in ast.walk(place.module.tree)
        )
    function = place.function
    if not isinstance(target, ast.Name) or function is None or len(stores_of(function, target.id)) != 1:
        return True
    # A name may be read where compiled runs do not come.
    return not all(
        any(isinstance(n, ast.If) and ast.unparse(n.test).endswith("not torch.compiler.is_compiling()") for n in above)
        for _, above in reads_of(function, target.id)
    )


def _guarded(place: Place, statement: ast.stmt, torch: str) -> Edit | None:
    def change(statements: list[cst.BaseStatement]) -> Sequence[cst.BaseStatement]:
        import libcst as cst

        test = cst.parse_expression(f"not {torch}.compiler.is_compiling()")
        return [cst.If(test=test, body=cst.IndentedBlock(body=statements))]

    return place.rebuild(statement, statement, change)


def out_of_place(event: Event) -> Fix | None:
    """`x = x.add(1)` for the statement `x.add_(1)`, `x = x + 1` for `x += 1`."""
    place = Place(event)
    node = place.node
    note = "the caller no longer sees the change"
    title = "use the functional form"
    if isinstance(node, ast.AugAssign):
        if not isinstance(node.target, ast.Name) or type(node.op) not in _SIGNS:
            return None
        name = node.target.id
        text = f"{name} = {name} {_SIGNS[type(node.op)]} {place.operand(node.value)}"
        return Fix(title, Applicability.UNSAFE, (place.replace(node, text),), note)
    statement = place.statement
    if not isinstance(node, ast.Call) or not isinstance(statement, ast.Expr) or not _same(statement.value, node):
        return None
    func = node.func
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.attr in _NO_TWIN:
        return None
    name, method = func.value.id, func.attr.rstrip("_")
    arguments = place.source(node)[len(place.source(func)) :]
    edit = place.replace(node, f"{name} = {name}.{method}{arguments}")
    return Fix(title, Applicability.UNSAFE, (edit,), note)


_SIGNS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.MatMult: "@",
}  # fmt: skip
# In-place methods without a functional method of the same name.
_NO_TWIN: Final = frozenset(
    "copy_ fill_ zero_ normal_ uniform_ random_ bernoulli_ exponential_ set_ resize_ requires_grad_ detach_".split()
)
