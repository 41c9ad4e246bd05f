"""How a program itself makes and calls one of its classes or functions: read from its source, nothing is run."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tclint.verify.docblocks import doc_trees

FILES = 4000
"""Most files of a project that are looked through."""
_LEFT_OUT = frozenset(
    {".git", "__pycache__", "node_modules", "build", "dist", ".venv", "venv", "site-packages", ".tox"}
)
_FENCE = re.compile(r"^[ \t]*```(?:python|py)[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


@dataclass(frozen=True, slots=True)
class Use:
    """One call `Name(...)` (or `Name.from_x(...)`) in the program."""

    path: str
    tree: ast.Module = field(repr=False)
    scopes: tuple[Scope, ...] = field(repr=False)
    """The module and the functions around the call, outermost first."""
    call: ast.Call = field(repr=False)
    shown: bool = False
    """In an example of a docstring: the names of its file are known there."""

    @property
    def line(self) -> int:
        return self.call.lineno

    @property
    def is_shown_to_work(self) -> bool:
        """In a test, an example or a text that explains: it needs nothing that only the whole program has."""
        parts = Path(self.path).parts
        is_test = any("test" in part or "example" in part for part in parts[-3:])
        return is_test or self.path.endswith(".md") or self.shown

    @property
    def named(self) -> set[str]:
        """The parameters that the call gives by name."""
        return {keyword.arg for keyword in self.call.keywords if keyword.arg}


def uses_of(name: str, root: str, nearest: str = "") -> Iterator[Use]:
    """The calls of a name, those that are easiest to repeat first: tests and examples, then `__main__`, then the rest."""
    needle = re.compile(rf"\b{re.escape(name)}\s*(?:\.\s*\w+\s*)?\(")
    found: list[tuple[int, int, Use]] = []
    for path in _files(os.path.realpath(root)):
        text = _text(path)
        if name not in text or not needle.search(text):
            continue
        for use in _calls(path).get(name, ()):
            if not nearest or path == nearest or not _is_own(use, name):
                found.append((_rank(use, nearest), use.line, use))
    for _, _, use in sorted(found, key=lambda item: (item[0], item[2].path, item[1])):
        yield use


def _is_own(use: Use, name: str) -> bool:
    """Whether a call by the bare name means what its own file defines under it: another thing than that of another file."""
    if not isinstance(use.call.func, ast.Name) or use.shown:
        return False
    return any(isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name for node in use.tree.body)


def _rank(use: Use, nearest: str) -> int:
    inner = use.scopes[-1]
    arguments = 0 if isinstance(inner, ast.Module) else len(_required(inner)) * 2
    return (0 if use.is_shown_to_work else 10) + arguments + (0 if use.path == nearest else 1)


def _required(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = function.args
    count = len(given.posonlyargs) + len(given.args) - len(given.defaults)
    return [argument.arg for argument in (*given.posonlyargs, *given.args)[:count]]


@lru_cache(maxsize=8)
def _files(root: str) -> tuple[str, ...]:
    found: list[str] = []
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if name not in _LEFT_OUT and not name.startswith("."))
        found += [os.path.join(folder, name) for name in sorted(names) if name.endswith((".py", ".md"))]
        if len(found) > FILES:
            break
    return tuple(found[:FILES])


def files_with(text: str, root: str) -> Iterator[str]:
    """The Python files of a project that hold a text."""
    for path in _files(os.path.realpath(root)):
        if path.endswith(".py") and text in _text(path):
            yield path


@lru_cache(maxsize=FILES)
def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


@lru_cache(maxsize=64)
def _trees(path: str, text: str) -> tuple[ast.Module, ...]:
    """A file's own tree; for a page, one of each block of Python in it."""
    blocks = _FENCE.findall(text) if path.endswith(".md") else [text]
    found = []
    for block in blocks:
        try:
            found.append(ast.parse(block))
        except (SyntaxError, ValueError, RecursionError):
            continue
    return tuple(found)


def parsed(path: str) -> Iterator[tuple[ast.Module, str]]:
    """The tree of a Python file and its text; nothing where it cannot be read."""
    text = _text(path)
    yield from ((tree, text) for tree in _trees(path, text))


@lru_cache(maxsize=FILES)
def _calls(path: str) -> dict[str, tuple[Use, ...]]:
    """Every call of a file by the name that it calls: a target asks for several names, and each by several sources."""
    found: dict[str, list[Use]] = {}
    text = _text(path)
    trees = _trees(path, text)
    shown = [one for tree in trees for one in doc_trees(tree, text)] if path.endswith(".py") else []
    for tree in (*trees, *shown):
        waiting: list[tuple[ast.AST, tuple[Scope, ...]]] = [(tree, (tree,))]
        while waiting:
            node, scopes = waiting.pop()
            if isinstance(node, ast.Call) and (name := _called(node.func)):
                found.setdefault(name, []).append(Use(path, tree, scopes, node, tree not in trees))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                scopes = (*scopes, node)
            waiting += [(child, scopes) for child in ast.iter_child_nodes(node)]
    return {name: tuple(uses) for name, uses in found.items()}


def read_ahead(root: str) -> None:
    """Index every file now: for a process that forks for many targets of one project."""
    for path in _files(os.path.realpath(root)):
        _calls(path)


def class_around(use: Use) -> str:
    """The class at the top of its file that makes the call in one of its methods; empty where there is none."""
    if use.shown:
        return ""
    for node in use.tree.body:
        if isinstance(node, ast.ClassDef) and node.lineno <= use.line <= (node.end_lineno or node.lineno):
            return node.name
    return ""


def _called(function: ast.expr) -> str:
    """The class or function that a call names: `Model(…)`, `models.Model(…)`, `Model.from_name(…)`."""
    if isinstance(function, ast.Name):
        return function.id
    if isinstance(function, ast.Attribute):
        owner = function.value
        if function.attr.startswith("from_"):
            return owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
        return function.attr
    return ""


def literals_of(name: str, parameters: Sequence[str], root: str) -> dict[str, list[object]]:
    """The constants that the program passes for each parameter of a callable, the most frequent first."""
    found = _literals(name, tuple(parameters), os.path.realpath(root))
    return {parameter: list(values) for parameter, values in found.items()}


@lru_cache(maxsize=64)
def _literals(name: str, parameters: tuple[str, ...], root: str) -> dict[str, list[object]]:
    counts: dict[str, dict[str, int]] = {}
    values: dict[str, dict[str, object]] = {}
    for use in uses_of(name, root):
        if isinstance(use.call.func, ast.Attribute) and use.call.func.attr.startswith("from_"):
            continue
        pairs = [*zip(parameters, use.call.args, strict=False), *((k.arg or "", k.value) for k in use.call.keywords)]
        for parameter, expression in pairs:
            for value in _constants(expression, use.scopes[-1]):
                counts.setdefault(parameter, {}).setdefault(repr(value), 0)
                counts[parameter][repr(value)] += 1
                values.setdefault(parameter, {})[repr(value)] = value
    return {
        parameter: [values[parameter][text] for text in sorted(found, key=lambda text: -found[text])]
        for parameter, found in counts.items()
    }


def _constants(expression: ast.expr, scope: Scope, depth: int = 0) -> Iterator[object]:
    try:
        yield ast.literal_eval(expression)
        return
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        if depth > 3:
            return
    if isinstance(expression, ast.IfExp):
        yield from _constants(expression.body, scope, depth + 1)
        yield from _constants(expression.orelse, scope, depth + 1)
    elif isinstance(expression, ast.Name):
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == expression.id for target in node.targets
            ):
                yield from _constants(node.value, scope, depth + 1)


def classes_with(attributes: set[str], root: str) -> list[tuple[str, str]]:
    """Classes of the project (path, name) that have all these fields, those with the fewest others first."""
    if not attributes:
        return []
    rare = max(attributes, key=len)
    found: list[tuple[int, str, str]] = []
    for path in files_with(rare, root):
        for tree in _trees(path, _text(path)):
            for node in tree.body:
                fields = _fields(node) if isinstance(node, ast.ClassDef) else set()
                if isinstance(node, ast.ClassDef) and attributes <= fields:
                    found.append((len(fields), path, node.name))
    return [(path, name) for _, path, name in sorted(found)]


def _fields(node: ast.ClassDef) -> set[str]:
    """Names that an instance has: fields of the class, properties, and what `__init__` sets."""
    own: set[str] = set()
    for statement in node.body:
        if isinstance(statement, (ast.AnnAssign, ast.Assign)):
            own |= _bound(statement)
        elif isinstance(statement, ast.FunctionDef):
            own.add(statement.name)
            own |= {
                inner.attr
                for inner in ast.walk(statement)
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store)
            }
    return own


@dataclass(frozen=True, slots=True)
class Slice:
    """The statements of a program that one expression needs, in order."""

    statements: tuple[ast.stmt, ...]
    unbound: frozenset[str]
    """Names that nothing in the slice binds: builtins, parameters, names from elsewhere."""


def slice_for(use: Use, wanted: Sequence[ast.expr], before: int | None = None) -> Slice:
    """What must run so that the expressions can be computed; statements after line `before` are not looked at."""
    last = before if before is not None else max(node.lineno for node in wanted)
    return slice_at(use.scopes, wanted, last, use.call.lineno)


def slice_at(scopes: Sequence[Scope], wanted: Sequence[ast.AST], last: int, line: int, narrow: bool = False) -> Slice:
    """What must run so that something at a line can be computed; of the innermost function nothing after `last`.

    `narrow`: of statements that only set something up on an object, those that need nothing else.
    """
    needed = {name for node in wanted for name in _loaded(node)}
    chosen: list[ast.stmt] = []
    for scope in reversed(scopes):
        inside = scope is not scopes[0] or len(scopes) == 1
        statements = [s for s in _flat(scope.body, last if inside else None, line) if s not in wanted]
        taken: list[ast.stmt] = []
        while True:
            fresh = [s for s in statements if s not in taken and (_bound(s) & needed or _changes(s, needed))]
            if narrow:
                fresh = [s for s in fresh if _bound(s) & needed or _loaded(s) <= needed]
            if not fresh:
                break
            for statement in fresh:
                taken.append(statement)
                needed |= _loaded(statement)
        chosen = [*(s for s in statements if s in taken), *chosen]
        if not isinstance(scope, ast.Module):
            chosen = [*_parameters(scope, needed), *chosen]
    bound = {name for statement in chosen for name in _bound(statement)}
    return Slice(tuple(chosen), frozenset(needed - bound))


def _flat(body: Sequence[ast.stmt], last: int | None, line: int) -> Iterator[ast.stmt]:
    """Statements in order; blocks around the call are opened, as what they hold is what runs."""
    for statement in body:
        if last is not None and statement.lineno > last:
            return
        holds = statement.lineno <= line <= (statement.end_lineno or statement.lineno)
        if holds and isinstance(statement, (ast.With, ast.AsyncWith, ast.If, ast.Try, ast.For, ast.While)):
            if isinstance(statement, ast.With):
                for item in statement.items:
                    if item.optional_vars is not None:
                        value = ast.copy_location(ast.Assign([item.optional_vars], item.context_expr), statement)
                        yield ast.fix_missing_locations(value)
            if isinstance(statement, ast.For):
                first = ast.Call(
                    ast.Name("next", ast.Load()), [ast.Call(ast.Name("iter", ast.Load()), [statement.iter], [])], []
                )
                yield ast.fix_missing_locations(ast.copy_location(ast.Assign([statement.target], first), statement))
            yield from _flat(statement.body, last, line)
            if isinstance(statement, ast.If):
                yield from _flat(statement.orelse, last, line)
        elif not isinstance(statement, (ast.Return, ast.Raise, ast.Assert, ast.Global, ast.Nonlocal)):
            yield statement


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef, needed: set[str]) -> Iterator[ast.stmt]:
    """Parameters as assignments: from a table of cases above the function, else from their defaults."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults: dict[str, ast.expr] = dict(
        zip([a.arg for a in plain[len(plain) - len(given.defaults) :]], given.defaults, strict=True)
    )
    defaults |= {a.arg: d for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None}
    for decorator in function.decorator_list:
        defaults |= _cases(decorator)
    for name, value in defaults.items():
        if name in needed:
            needed |= _loaded(value)
            made = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), function)
            yield ast.fix_missing_locations(made)


def _cases(decorator: ast.expr) -> dict[str, ast.expr]:
    """`@pytest.mark.parametrize("a, b", [(1, 2), …])`, under any name: the first case."""
    if not isinstance(decorator, ast.Call) or len(decorator.args) < 2:
        return {}
    names, cases = decorator.args[:2]
    if not isinstance(cases, (ast.List, ast.Tuple)) or not cases.elts:
        return {}
    if isinstance(names, ast.Constant) and isinstance(names.value, str):
        listed = [name.strip() for name in names.value.split(",") if name.strip()]
    elif isinstance(names, (ast.List, ast.Tuple)):
        listed = [str(getattr(item, "value", "")) for item in names.elts]
    else:
        return {}
    first = cases.elts[0]
    if isinstance(first, ast.Call) and first.args:  # pytest.param(…)
        first = ast.Tuple(first.args, ast.Load()) if len(listed) > 1 else first.args[0]
    if len(listed) == 1:
        return {listed[0]: first}
    if isinstance(first, (ast.Tuple, ast.List)) and len(first.elts) == len(listed):
        return dict(zip(listed, first.elts, strict=True))
    return {}


def _loaded(node: ast.AST) -> set[str]:
    """The names that a piece of program takes from outside of itself."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        own |= {n.name for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n is not node}
        return (found - own) | (_read_first(node.body) if isinstance(node, ast.ClassDef) else set())
    own = {
        n.arg
        for inner in ast.walk(node)
        if isinstance(inner, ast.Lambda)
        for n in ast.walk(inner.args)
        if isinstance(n, ast.arg)
    }
    own |= {
        n.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.comprehension)
        for n in ast.walk(inner.target)
        if isinstance(n, ast.Name)
    }
    return found - own


def _read_first(body: Sequence[ast.stmt]) -> set[str]:
    """What the fields of a class are made of that it has not bound itself by then: `name: str = name`."""
    found: set[str] = set()
    known: set[str] = set()
    for statement in body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            found |= _loaded(statement.value) - known
        known |= _bound(statement)
    return found


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _changes(statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement sets something up on one of these objects: `model.eval()`, `config.depth = 2`."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        return (
            isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id in names
        )
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(
            isinstance(target, (ast.Attribute, ast.Subscript))
            and isinstance(target.value, ast.Name)
            and target.value.id in names
            for target in targets
        )
    return False


def calls_after(use: Use) -> Iterator[ast.Call]:
    """Calls of the object that a use makes, in the same function: `model(x)`, `model.encode(x)`, `Model()(x)`."""
    scope = use.scopes[-1]
    names: set[str] = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and any(inner is use.call for inner in ast.walk(node.value)):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    found = []
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and node is not use.call:
            owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if owner is use.call or (
                isinstance(owner, ast.Name) and owner.id in names and node.lineno > use.call.lineno
            ):
                found.append(node)
    yield from sorted(found, key=lambda node: (node.lineno, node.col_offset))
