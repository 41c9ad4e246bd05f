"""What a file says of objects and their mode, by names alone: who is switched, who is bound to whom, who is handed to what.

Neither flow nor scopes are looked at: that is more than really happens, for those who ask what cannot happen.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

from tclint.program import Module, absolute_name, mentioning
from tclint.sources.tree import nodes
from tclint.torch_facts import facts, modes

TRAINING: Final = "training"
EVALUATION: Final = "evaluation"
EITHER: Final = "either"
"""Nobody knows which."""
OUTSIDE: Final = "outside"
"""The kind of a callee that belongs to a library of which nobody knows what it does with a module."""
HARMLESS: Final = "harmless"
"""That of one that leaves the mode of what it is given as it is."""
OPEN: Final = "open"
"""That of one of the program, as far as it has one of that name."""

_METHODS: Final = [re.compile(rb"%b\b" % name.encode()) for name in sorted(modes.TRAINING)]
_FLAG: Final = re.compile(rb"training(?:(?<=\.training)[ \t]*=(?!=)|[\"'](?<=[\"']training[\"']))")
"""How switches look, before a file is parsed for them. Each begins with a plain text: that is looked for many times as fast."""
_SELF: Final = frozenset(facts.named("gives its module back"))
_OF_MODULES: Final = _SELF | frozenset(facts.named("is a method of every module"))
_WALKS: Final = frozenset(name.rpartition(".")[2] for name in facts.named("walks the modules in a module")) | {
    "get_submodule"
}
_WRAPS: Final = frozenset({"module", "_orig_mod"})
"""Under these names wrappers hold what they wrap."""
_CONTAINERS: Final = frozenset(name for kind in (list, dict, set) for name in vars(kind) if not name.startswith("_"))
_ADDERS: Final = frozenset((*facts.named("registers what its module holds"), "setattr"))
"""What puts a module into another object that is named beside it."""


class Switch(NamedTuple):
    """An object is put into a mode."""

    name: str
    """The last name of what is switched; nothing where it is no dotted name."""
    names: tuple[str, ...]
    """All names in it."""
    mode: str
    function: str
    """Around it, by its bare name."""
    cls: str
    given: bool
    """Whether it is a parameter of that function."""


class Told(NamedTuple):
    """What a file says of who is who."""

    same: tuple[tuple[str, str], ...]
    """Two names of one object."""
    into: tuple[tuple[str, str], ...]
    """A name, and what it becomes a part of or is wrapped in."""
    passed: tuple[tuple[str, str, str, str], ...]
    """What is called, which kind of callee that is, the parameter (by number or name) and the name that is passed."""
    takes: tuple[tuple[str, tuple[str, ...]], ...]
    """What functions are called by, and their parameters."""
    gives: tuple[tuple[str, str], ...]
    """What is returned by which function."""
    made: tuple[tuple[str, str], ...]
    """What the result of a call is bound to, and what is called."""
    keeps: tuple[tuple[str, str], ...]
    """By class, the attributes that its methods set."""


def switches(module: Module) -> tuple[tuple[object, ...], ...]:
    """The switches of a file, as rows: for `Program.answers`."""
    if not _may_switch(module.data):
        return ()
    return tuple(sorted({tuple(each) for _, each in _switches(module.tree, "", "", frozenset())}))


def before(module: Module, path: str, line: int) -> tuple[tuple[object, ...], ...]:
    """Those of them that stand in the function around a line of one file, above it, and nowhere else in the file."""
    if module.path != path or not _may_switch(module.data):
        return ()
    first = scope(module.tree, line)
    rows = [(at, tuple(each)) for at, each in _switches(module.tree, "", "", frozenset())]
    elsewhere = {row for at, row in rows if not first <= at <= line}
    return tuple(sorted({row for _, row in rows} - elsewhere))


def _may_switch(data: bytes) -> bool:
    if _FLAG.search(data):
        return True
    found = (word.start() for each in _METHODS for word in each.finditer(data))
    return any(data[data.rfind(b"\n", 0, at) + 1 : at].rstrip(b" \t").endswith(b".") for at in found)


def told(module: Module, paths: tuple[str, ...]) -> tuple[object, ...]:
    """What the files of these paths say."""
    return tuple(_Reader(module).told()) if module.path in paths else ()


@mentioning(0)
def defines(module: Module, name: str, kind: str = "def|class") -> bool:
    """Whether a file defines a function or a class of a name."""
    text, data = name.encode(), module.data
    # What begins with a word is found fast: that nothing stands before the word is asked behind it.
    return any(
        re.search(rb"%b(?<!\w%b)[ \t]+%b\b" % (word, word, text), data) is not None
        for word in kind.encode().split(b"|")
    )


def keeping(module: Module, name: str) -> tuple[str, ...]:
    """The classes of a file whose methods set an attribute of a name."""
    if re.search(rb"\bself[ \t]*\.[ \t]*%b\b" % re.escape(name.encode()), module.data) is None:
        return ()
    return tuple(
        sorted(
            cls.address
            for cls in module.classes
            for node in nodes(cls.node)
            if isinstance(node, ast.Attribute)
            and node.attr == name
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        )
    )


def _switches(root: ast.AST, function: str, cls: str, parameters: frozenset[str]) -> Iterator[tuple[int, Switch]]:
    called = {id(node.func): node for node in _own(root) if isinstance(node, ast.Call)}
    for node in _own(root):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            name = function if isinstance(node, ast.Lambda) else node.name
            yield from _switches(node, name, cls, frozenset(each.arg for each in _parameters(node)))
        elif isinstance(node, ast.ClassDef):
            yield from _switches(node, "", node.name, frozenset())
        owner, mode = _switched(node, called)
        if owner is not None:
            name = last_name(owner)
            names = tuple(sorted(names_in(owner)))
            given = isinstance(owner, ast.Name) and owner.id in parameters and owner.id != "self"
            yield getattr(node, "lineno", 0), Switch(name, names, mode, function, cls, given)


def _switched(node: ast.AST, called: dict[int, ast.Call]) -> tuple[ast.expr | None, str]:
    """What a node switches, if anything, and to which mode."""
    if isinstance(node, ast.Attribute) and node.attr in modes.TRAINING:
        call = called.get(id(node))
        if call is not None and call.args and last_name(node.value) == "Module":
            return call.args[0], EITHER  # `nn.Module.eval(model)`
        if call is None:
            return node.value, EITHER  # kept, or handed to somebody who calls it
        if node.attr == "eval":
            return node.value, EVALUATION
        wanted = next(iter([*call.args, *(each.value for each in call.keywords)]), None)
        return node.value, TRAINING if wanted is None else _mode(wanted)
    if isinstance(node, ast.Attribute) and node.attr == "training" and isinstance(node.ctx, ast.Store):
        return node.value, EITHER
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "getattr"):
        what = node.args[1] if len(node.args) > 1 else None
        if isinstance(what, ast.Constant) and what.value in (
            {"training"} if node.func.id == "setattr" else modes.TRAINING
        ):
            return node.args[0], EITHER
    return None, EITHER


def _mode(wanted: ast.expr) -> str:
    known = wanted.value if isinstance(wanted, ast.Constant) else None
    return EITHER if not isinstance(known, bool) else TRAINING if known else EVALUATION


def _own(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, without what stands in the functions and classes there."""
    stack = list(ast.iter_child_nodes(root))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    held = node.args
    return [*held.posonlyargs, *held.args, *held.kwonlyargs, *filter(None, (held.vararg, held.kwarg))]


def last_name(node: ast.expr) -> str:
    """`model` of `self.model`, of `model.module` and of `model.to(device)`; nothing where there is no such name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return last_name(node.value) if node.attr in _WRAPS else node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SELF:
        return last_name(node.func.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        return "self"
    return ""


def names_in(node: ast.AST) -> set[str]:
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in nodes(node)
        if isinstance(each, (ast.Name, ast.Attribute))
    }


def meant(node: ast.AST | None) -> Iterator[str]:
    """The names of what an expression may give as it is, or in a container."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = last_name(node)
        if name and name != "self":
            yield name
    elif isinstance(node, (ast.Starred, ast.Await, ast.NamedExpr, ast.Subscript)):
        yield from meant(node.value)
    elif isinstance(node, ast.IfExp):
        yield from (*meant(node.body), *meant(node.orelse))
    elif isinstance(node, ast.BoolOp):
        yield from (name for each in node.values for name in meant(each))
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        yield from (name for each in node.elts for name in meant(each))
    elif isinstance(node, ast.Dict):
        yield from (name for each in node.values for name in meant(each))
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        element = node.value if isinstance(node, ast.DictComp) else node.elt
        yield from (*meant(element), *(name for each in node.generators for name in meant(each.iter)))
    elif isinstance(node, ast.Lambda):
        yield from meant(node.body)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _SELF | _CONTAINERS | _WALKS:
            yield from meant(node.func.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "vars"):
        yield from (name for each in node.args for name in meant(each))


class _Reader:
    """Reads what one file says."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._imported: dict[str, str] = {}
        self._same: set[tuple[str, str]] = set()
        self._into: set[tuple[str, str]] = set()
        self._passed: set[tuple[str, str, str, str]] = set()
        self._takes: set[tuple[str, tuple[str, ...]]] = set()
        self._gives: set[tuple[str, str]] = set()
        self._made: set[tuple[str, str]] = set()
        self._keeps: set[tuple[str, str]] = set()
        self._read: set[str] = set()
        """The functions whose result is read as an attribute is."""

    def told(self) -> Told:
        for node in nodes(self._module.tree):
            self._import(node)
        self._block(self._module.tree, "", "")
        parts = (self._same, self._into, self._passed, self._takes, self._gives, self._made, self._keeps)
        return Told(*(tuple(sorted(part)) for part in parts))  # type: ignore[arg-type]

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                self._imported[bound] = alias.name if alias.asname else bound
        elif isinstance(node, ast.ImportFrom):
            target = absolute_name(self._module, node.module, node.level)
            for alias in node.names:
                self._imported[alias.asname or alias.name] = f"{target}.{alias.name}"
                if alias.asname:
                    self._same.add((alias.asname, alias.name))

    def _block(self, root: ast.AST, function: str, cls: str) -> None:
        for node in _own(root):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names = [each.arg for each in _parameters(node)]
                inside = isinstance(root, ast.ClassDef)
                if (
                    inside
                    and names
                    and not any(getattr(each, "id", "") == "staticmethod" for each in node.decorator_list)
                ):
                    names = names[1:]
                if any(
                    getattr(each, "id", getattr(each, "attr", "")).endswith("property") for each in node.decorator_list
                ):
                    self._read.add(node.name)
                called = cls if inside and node.name == "__init__" else node.name
                self._takes.add((called, tuple(names)))
                self._block(node, node.name, cls)
            elif isinstance(node, ast.Lambda):
                self._block(node, function, cls)
            elif isinstance(node, ast.ClassDef):
                fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
                self._takes.add((node.name, tuple(each.id for each in fields if isinstance(each, ast.Name))))
                self._block(node, "", node.name)
            else:
                self._statement(node, function, cls)

    def _statement(self, node: ast.AST, function: str, cls: str) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value, cls)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr, ast.AugAssign)):
            self._bind(node.target, node.value, cls)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._bind(node.target, node.iter, cls)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind(node.optional_vars, node.context_expr, cls)
        elif isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
            given = {*meant(node.value), *_wrapped(node.value)}
            self._gives.update((function, name) for name in given)
            self._same.update((function, name) for name in given if function in self._read)
            self._gives.update((function, f"{name}()") for name in _calls(node.value))
        elif isinstance(node, ast.Call):
            self._call(node, cls)

    def _bind(self, target: ast.expr, value: ast.expr | None, cls: str) -> None:
        bound = [*meant(target)]
        for each in bound:
            self._same.update((each, name) for name in meant(value) if name != each)
            self._into.update((name, each) for name in _wrapped(value))
            self._made.update((each, name) for name in _calls(value))
        for node in nodes(target):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                self._keeps.add((cls, node.attr))

    def _call(self, node: ast.Call, cls: str) -> None:
        given = [(str(i), value) for i, value in enumerate(node.args)]
        given += [(each.arg or "**", each.value) for each in node.keywords]
        named = [(key, name) for key, value in given for name in meant(value)]
        if not named:
            return
        callee = last_name(node.func) if not isinstance(node.func, ast.Call) else ""
        keeper = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
        if keeper is not None and callee in _CONTAINERS | _ADDERS:
            self._into.update((name, holder) for _, name in named for holder in meant(keeper))
            if isinstance(keeper, ast.Name) and keeper.id == "self":
                self._keeps.update((cls, name) for _, name in named)
        self._into.update((name, key) for key, name in named if key.isidentifier())  # under which others may keep it
        kind = self._kind(node.func)
        if kind != HARMLESS:
            self._passed.update((callee, kind, key, name) for key, name in named)
        elif not isinstance(node.func, ast.Attribute) or node.func.attr not in _OF_MODULES:
            # `partial(evaluate, model)`, `Thread(target=evaluate, args=(model,))`
            called = {
                name for _, value in given if isinstance(value, (ast.Name, ast.Attribute)) for name in meant(value)
            }
            self._passed.update((each, HARMLESS, "*", name) for each in called for _, name in named if each != name)

    def _kind(self, func: ast.expr) -> str:
        """Whose a callee is."""
        parts = []
        while isinstance(func, ast.Attribute):
            parts.append(func.attr)
            func = func.value
        if not isinstance(func, ast.Name):
            return HARMLESS if parts and parts[0] in _OF_MODULES | _CONTAINERS else OPEN
        root = self._imported.get(func.id)
        if root is None:
            if not parts:
                return HARMLESS if hasattr(builtins, func.id) else OPEN
            return HARMLESS if parts[0] in _OF_MODULES | _CONTAINERS else OPEN
        package = root.partition(".")[0]
        if self._module.program.find(self._module, root) or self._module.program.find(
            self._module, root.rpartition(".")[0]
        ):
            return OPEN
        return HARMLESS if package in sys.stdlib_module_names or facts.speaks_for(package) else OUTSIDE


def _wrapped(value: ast.expr | None) -> Iterator[str]:
    """The names of what an expression hands to somebody who may keep it in what he gives: `DDP(model)`."""
    if isinstance(value, ast.Call):
        for each in (*value.args, *(keyword.value for keyword in value.keywords)):
            yield from (*meant(each), *_wrapped(each))
        if isinstance(value.func, ast.Attribute):
            yield from _wrapped(value.func.value)
    elif value is not None and not isinstance(value, (ast.Name, ast.Constant, ast.Lambda)):
        for child in ast.iter_child_nodes(value):
            if isinstance(child, ast.expr):
                yield from _wrapped(child)


def _calls(value: ast.expr | None) -> Iterator[str]:
    """What is called by an expression, by name."""
    for node in nodes(value) if value is not None else ():
        if isinstance(node, ast.Call) and (name := last_name(node.func)):
            yield name


def around(tree: ast.AST, line: int) -> tuple[str, ...]:
    """What something is called that is compiled on a line, before and after."""
    found: set[str] = set()
    for node in nodes(tree):
        if not isinstance(node, (ast.stmt, ast.NamedExpr)) or not hasattr(node, "lineno"):
            continue
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and _holds(node, line):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(name for each in targets for name in meant(each))
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)) and _holds(node, line):
            for call in nodes(node):
                if isinstance(call, ast.Call) and call.lineno == line:
                    found.update(name for each in call.args[:1] for name in _of_method(each))
                    if not call.args and isinstance(call.func, ast.Attribute):
                        found.update(meant(call.func.value))  # `model.compile()`
    return tuple(sorted(found))


def _of_method(node: ast.expr) -> Iterator[str]:
    """Of `model.forward` that is compiled, too, the model."""
    yield from meant(node)
    if isinstance(node, ast.Attribute):
        yield from meant(node.value)


def _holds(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", 0) <= line <= getattr(node, "end_lineno", 0)


def scope(tree: ast.AST, line: int) -> int:
    """The first line of the innermost function around a line; of the file, where there is none."""
    around_it = [
        n.lineno for n in nodes(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and _holds(n, line)
    ]
    return max(around_it, default=1)
