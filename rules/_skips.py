"""Statements that a tensor skips, such as the layers of a layer drop: run in every turn, with the old values kept where they were skipped."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import Place
from tclint.fixes.purity import has_effects
from tclint.fixes.uses import uses_in
from tclint.model.finding import Applicability, Edit, Fix
from tclint.rules._chains import commented
from tclint.rules._conditions import Tests, condition, split
from tclint.sources.tree import names_read, same
from tclint.values import Tensor

if TYPE_CHECKING:
    import libcst as cst

_NOTE: Final = (
    "what was skipped is computed in every turn, with all that it draws or keeps, and the old value is selected after it: wrong where it "
    "changes its arguments, fills a cache, or gives another shape or dtype; parameters get zeros as gradients instead of none"
)


def fix_skip(place: Place, node: ast.If, tests: Tests) -> Fix | None:
    """A repair for an `if` on a tensor that only says whether other statements are run."""
    torch = place.importing("torch")
    if torch is None or node.orelse or place.function is None:
        return None
    made = _turned(place, node, tests) or _flagged(place, node, tests) or _asked(place, node)
    edits = made.edits(torch[0]) if made is not None else None
    if edits is None:
        return None
    return Fix("compute it always, and select", Applicability.UNSAFE, (*torch[1], *edits), _NOTE)


@dataclass(frozen=True, slots=True)
class _Skipped:
    """Neighbouring statements that are run or not."""

    place: Place
    when: tuple[str, ...]
    """What Python knows and is asked first: only then may they be skipped."""
    reads: frozenset[str]
    """The names in that."""
    tensor: str
    """The name of the boolean tensor that skips them then."""
    body: Sequence[ast.stmt]
    owner: ast.If | None
    """The `if` around them that goes; None where they follow a `continue`."""
    before: tuple[Edit, ...]
    """What gives the tensor its name."""

    def edits(self, torch: str) -> tuple[Edit, ...] | None:
        carried = self._carried()
        if not carried or self.reads & set(carried):
            return None
        place = self.place
        bound = uses_in(place.function).bound
        first = [f"{free(f'old_{name}', bound)} = {name}" for name in carried]
        last = [f"{name} = {torch}.where({self.tensor}, {free(f'old_{name}', bound)}, {name})" for name in carried]
        if self.owner is None:
            indent = place.indent(self.body[0])
            inner = indent + "    " if self.when else indent
            head = [f"{indent}if {' and '.join(self.when)}:"] if self.when else []
            end = self.body[-1].end_lineno or self.body[-1].lineno
            above = place.insert_line(self.body[0].lineno, "\n".join(indent + line for line in first))
            below = place.insert_line(end + 1, "\n".join([*head, *(inner + line for line in last)]))
            owned = all(map(place.owns_its_lines, (self.body[0], self.body[-1])))
            return (*self.before, above, below) if owned else None
        edit = place.rebuild(self.owner, self.owner, lambda old: self._rebuilt(old, first, last))
        return (*self.before, edit) if edit is not None else None

    def _rebuilt(
        self, statements: list[cst.BaseStatement], first: list[str], last: list[str]
    ) -> Sequence[cst.BaseStatement] | None:
        import libcst as cst

        old = statements[0]
        if not isinstance(old, cst.If) or not isinstance(old.body, cst.IndentedBlock):
            return None
        if old.body.header.comment is not None or any(line.comment is not None for line in old.body.footer):
            return None
        chosen: list[cst.BaseStatement] = [cst.parse_statement(line) for line in last]
        if self.when:
            test = cst.parse_expression(" and ".join(self.when))
            chosen = [cst.If(test=test, body=cst.IndentedBlock(body=chosen))]
        return [*(cst.parse_statement(line) for line in first), *old.body.body, *chosen]

    def _carried(self) -> list[str] | None:
        """The names that hold something else where the statements were run; None where these do more than compute."""
        place = self.place
        uses = uses_in(place.function)
        first: dict[str, ast.stmt] = {}
        for statement in self.body:
            targets = _targets(statement)
            value = getattr(statement, "value", None)
            if targets is None or value is None or has_effects(value):
                return None
            first.update({target.id: statement for target in targets if target.id not in first})
        found = []
        for name, store in first.items():
            inside = all(_is_after(read, store) and _stands_in(above, self.body) for read, above in uses.reads(name))
            if inside:
                continue  # for themselves alone
            if name in uses.may_be_none or not isinstance(place.event.ask.local(name), Tensor):
                return None
            found.append(name)
        return found


def _turned(place: Place, node: ast.If, tests: Tests) -> _Skipped | None:
    """`if t: continue`, and the rest of the turn."""
    if len(node.body) != 1 or not isinstance(node.body[0], ast.Continue):
        return None
    around = _around(place, node)
    if around is None:
        return None
    top, when = around
    found = place.index(top)
    if found is None or not any(isinstance(n, ast.For) and n.body is found[0] and not n.orelse for n in place.chain):
        return None
    rest = found[0][found[1] + 1 :]
    name = free("skipped", uses_in(place.function).bound)
    named = _named(place, node, tests, name)
    if named is None or not rest:
        return None
    python, edit = named
    texts = tuple(place.source(test) for test in when)
    return _Skipped(place, (*texts, *python), _names(when, node.test if python else None), name, rest, None, (edit,))


def _flagged(place: Place, node: ast.If, tests: Tests) -> _Skipped | None:
    """`if t: skip = True`, and further down `if not skip:`."""
    store = node.body[0] if len(node.body) == 1 else None
    target = store.targets[0] if isinstance(store, ast.Assign) and len(store.targets) == 1 else None
    around = _around(place, node)
    if not isinstance(store, ast.Assign) or not isinstance(target, ast.Name) or around is None or not _is(store, True):
        return None
    top, when = around
    found = place.index(top)
    owner = _only_test(place, target.id)
    if found is None or owner is None or not (isinstance(owner.test, ast.UnaryOp) and _reads(owner.test.operand)):
        return None
    block, at = found
    preset = [s for s in block[:at] if isinstance(s, ast.Assign) and _is(s, False) and _binds(s, target.id)]
    stores = uses_in(place.function).stores(target.id)
    if len(preset) != 1 or len(stores) != 2 or not any(same(s, owner) for s in block[at + 1 :]):
        return None
    named = _named(place, node, tests, target.id)
    if named is None:
        return None
    python, edit = named
    texts = tuple(place.source(test) for test in when)
    reads = _names(when, node.test if python else None)
    return _Skipped(place, (*texts, *python), reads, target.id, owner.body, owner, (edit,))


def _asked(place: Place, node: ast.If) -> _Skipped | None:
    """`skip = t` or `skip = flag and t`, and then `if not skip:` or `if not skip or other:`."""
    options = (
        node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or) else [node.test]
    )
    first = options[0]
    if not isinstance(first, ast.UnaryOp) or not isinstance(first.op, ast.Not) or not _reads(first.operand):
        return None
    assert isinstance(first.operand, ast.Name)
    name, others = first.operand.id, options[1:]
    if _only_test(place, name) is None or len(uses_in(place.function).stores(name)) != 1:
        return None
    found = place.index(node)
    stores = [s for s in found[0][: found[1]] if isinstance(s, ast.Assign) and _binds(s, name)] if found else []
    value = stores[0].value if len(stores) == 1 else None
    if value is None:
        return None
    *when, last = value.values if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And) else [value]
    known = all(map(is_steady, (*when, *others)))
    if not known or not isinstance(last, ast.Compare) or not isinstance(place.event.ask.evaluate(last), Tensor):
        return None
    unless = tuple(f"not {place.operand(other)}" for other in others)
    texts = (*(place.operand(w) if isinstance(w, ast.BoolOp) else place.source(w) for w in when), *unless)
    return _Skipped(place, texts, _names([*when, *others], None), name, node.body, node, ())


def _named(place: Place, node: ast.If, tests: Tests, name: str) -> tuple[tuple[str, ...], Edit] | None:
    """What Python asks before the tensor, and the tensor under a name, in the place of the `if`."""
    test = condition(place, node.test, tests)
    python: tuple[str, ...] = ()
    if test is None:
        parts = split(place, node.test, tests)
        if parts is None or not _is_steady_but(node.test, tests, place):
            return None
        python, test = (parts[0],), parts[1]
    line = f"{name} = {test}"

    def change(statements: list[cst.BaseStatement]) -> Sequence[cst.BaseStatement] | None:
        import libcst as cst

        old = statements[0]
        assert isinstance(old, cst.If)
        new = commented(old, [line])
        if python:
            return [cst.If(test=cst.parse_expression(python[0]), body=cst.IndentedBlock(body=new))]
        return new

    edit = place.rebuild(node, node, change)
    return (python, edit) if edit is not None else None


def _is_steady_but(test: ast.expr, tests: Tests, place: Place) -> bool:
    """Whether the parts of a condition that are no tensors give the same answer a few lines further down."""
    values = test.values if isinstance(test, ast.BoolOp) else [test]
    return all(is_steady(value) for value in values if condition(place, value, tests) is None)


def _around(place: Place, node: ast.If) -> tuple[ast.stmt, list[ast.expr]] | None:
    """The outermost `if` that a statement is the last of, and what those around it ask: what Python knows, and keeps."""
    when: list[ast.expr] = []
    inner: ast.stmt = node
    for outer in reversed(place.chain):
        if same(outer, node) or isinstance(outer, ast.expr):
            continue
        if not isinstance(outer, ast.If):
            break
        if outer.orelse or not same(outer.body[-1], inner) or not is_steady(outer.test):
            return None
        when.insert(0, outer.test)
        inner = outer
    return inner, when


def _only_test(place: Place, name: str) -> ast.If | None:
    """The one `if` without `else` whose condition is the only reader of a name."""
    reads = list(uses_in(place.function).reads(name))
    if len(reads) != 1:
        return None
    read, above = reads[0]
    owner = next((n for n in reversed(above) if isinstance(n, ast.stmt)), None)
    asks = isinstance(owner, ast.If) and any(same(n, read) for n in ast.walk(owner.test))
    return owner if isinstance(owner, ast.If) and asks and not owner.orelse else None


def _targets(statement: ast.stmt) -> list[ast.Name] | None:
    """The names that an assignment binds, if it binds nothing else; `x += y` would change the old value too."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    targets = list(target.elts) if isinstance(target, ast.Tuple) else [target]
    names = [target for target in targets if isinstance(target, ast.Name)]
    return names if names and len(names) == len(targets) else None


def is_steady(test: ast.AST) -> bool:
    """Whether an expression is made of names, attributes and constants."""
    plain = (ast.Name, ast.Attribute, ast.Constant, ast.BoolOp, ast.UnaryOp, ast.Compare)
    return all(isinstance(n, (*plain, ast.boolop, ast.unaryop, ast.cmpop, ast.expr_context)) for n in ast.walk(test))


def _names(tests: Sequence[ast.expr], other: ast.expr | None) -> frozenset[str]:
    return frozenset(names_read([*tests, *([other] if other is not None else [])]))


def _is(statement: ast.Assign, value: bool) -> bool:
    return isinstance(statement.value, ast.Constant) and statement.value.value is value


def _binds(statement: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)


def _reads(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def _is_after(read: ast.Name, statement: ast.stmt) -> bool:
    return (read.lineno, read.col_offset) >= (statement.end_lineno or 0, statement.end_col_offset or 0)


def _stands_in(above: Sequence[ast.AST], body: Sequence[ast.stmt]) -> bool:
    return any(same(outer, statement) for outer in above for statement in body)


def free(name: str, bound: set[str]) -> str:
    return next(n for n in (name, *(f"{name}_{i}" for i in range(2, len(bound) + 3))) if n not in bound)
