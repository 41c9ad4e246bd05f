"""Branches on tensors, rewritten without the branch: what TCL101 offers."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import Place
from tclint.fixes.purity import has_effects, only_logs, pure
from tclint.fixes.recipes import quoted
from tclint.fixes.uses import uses_in
from tclint.model.finding import Applicability, Edit, Fix
from tclint.rules._buffers import NOTE
from tclint.rules._chains import commented, with_else
from tclint.rules._checks import is_caught
from tclint.rules._conditions import DRAWN, Tests, condition, handed, negated, on_one_line, split
from tclint.rules._emptiness import fix_empty
from tclint.rules._messages import has_values, message_of
from tclint.rules._noted import fix_noted
from tclint.rules._skips import fix_skip
from tclint.rules._stops import fix_stop, fix_while
from tclint.rules._straight import Straight
from tclint.rules._writes import Writes, selected
from tclint.sources.tree import names_read, position, same

if TYPE_CHECKING:
    import libcst as cst

    from tclint.events import Event

_BOTH: Final = (
    "both sides are computed: wrong where one of them fails or is expensive, or where they differ in shape or dtype; "
    "even where it is not taken, a side that is not finite gives NaN as gradient, and parameters get zeros instead of none"
)
_LONGEST: Final = 16
"""Branches of one `if`: nobody reads more `torch.where` in each other, and each would hold all that follow. For links of
one condition it is the same: each link is a finding, and its repair all of the condition."""


def fix_branch(event: Event, tests: Tests) -> Fix | None:
    """A repair for Python's question about the truth of `event.node`."""
    place = Place(event)
    asked: ast.AST = event.node
    owner: ast.AST | None = None
    for outer in reversed(place.chain):
        if isinstance(outer, ast.BoolOp) or (isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.Not)):
            asked = outer
            continue
        owner = outer
        break
    if _links(asked) > _LONGEST:
        return None
    if isinstance(owner, ast.IfExp) and same(owner.test, asked):
        return _conditional(place, owner, tests)
    if isinstance(owner, ast.Assert) and same(owner.test, asked):
        return _assert(place, owner, tests)
    if isinstance(owner, ast.If) and same(owner.test, asked):
        skipped = fix_empty(place, owner) or fix_skip(place, owner, tests) or fix_stop(place, owner, tests)
        return skipped or fix_noted(place, owner) or _If(place, owner, tests).fix()
    if isinstance(owner, ast.While):
        return fix_while(place, owner, tests)
    return None


def _links(test: ast.AST) -> int:
    """How many parts a condition has, no further than it matters."""
    links = 0
    stack = [test]
    while stack and links <= _LONGEST:
        node = stack.pop()
        if isinstance(node, ast.BoolOp):
            stack.extend(node.values[: _LONGEST + 1])
        elif isinstance(node, ast.UnaryOp):
            stack.append(node.operand)
        else:
            links += len(node.ops) if isinstance(node, ast.Compare) else 1
    return links


# --- conditional expressions and asserts ----------------------------------------------------------------------------


def _conditional(place: Place, node: ast.IfExp, tests: Tests) -> Fix | None:
    torch = place.importing("torch")
    test = condition(place, node.test, tests)
    if torch is None or test is None or not (pure(place, node.body) and pure(place, node.orelse)):
        return None
    name, imports = torch
    text = f"{name}.where({test}, {place.argument(node.body)}, {place.argument(node.orelse)})"
    return Fix("select with torch.where", Applicability.UNSAFE, (*imports, place.replace(node, text)), _BOTH)


def _assert(place: Place, node: ast.Assert, tests: Tests) -> Fix | None:
    test = condition(place, node.test, tests)
    if test is None or isinstance(node.test, (ast.Compare, ast.Call)):
        return None
    note = "every part is computed: wrong where a later one relies on an earlier one"
    return Fix("ask one tensor", Applicability.UNSAFE, (place.replace(node.test, test),), note)


# --- if -------------------------------------------------------------------------------------------------------------


class _If:
    """One `if` on a tensor, and what it can be turned into."""

    def __init__(self, place: Place, node: ast.If, tests: Tests) -> None:
        self.place = place
        self.node = node
        self.tests = tests
        self.python = ""
        self.torch = "torch"
        self.buffers: dict[str, Edit] = {}
        """Numbers on the module that must become buffers."""
        self.straight = Straight(place)
        self.before = self.straight.before
        """What a branch computes for itself alone: computed before, whichever way it goes."""
        # The `if` whose `elif` this one is, outermost first.
        self.above: list[ast.If] = []
        inner: ast.AST = node
        for outer in reversed(place.chain):
            if isinstance(outer, ast.If) and outer.orelse and same(outer.orelse[0], inner):
                if not place.lines[inner.lineno - 1].lstrip().startswith("elif"):  # type: ignore[attr-defined]
                    break
                self.above.insert(0, outer)
                inner = outer
                if len(self.above) > _LONGEST:
                    break
            elif isinstance(outer, ast.stmt) and not same(outer, node):
                break

    def fix(self) -> Fix | None:
        place, node = self.place, self.node
        torch = place.importing("torch")
        if torch is None:
            return None
        self.torch, imports = torch
        guarded = self._only_logs()
        if guarded is not None:
            return Fix(
                "guard it with torch.compiler.is_compiling()",
                Applicability.UNSAFE,
                (*imports, guarded),
                "in compiled runs nothing is logged",
            )
        walrus = _named(node.test)
        if walrus is not None:
            return self._unnamed(walrus, imports)
        if self._is_long():
            return None
        test = condition(place, node.test, self.tests)
        if test is None:
            parts = split(place, node.test, self.tests)
            if parts is None or node.orelse or self.above:
                return None
            self.python, test = parts
        made = None
        for attempt in (self._raise, self._written, self._handed, self._assigned, self._returned):
            self._forget()
            made = attempt(test)
            if made is not None:
                break
        if made is None:
            return None
        title, note, edit = made
        return Fix(title, Applicability.UNSAFE, (*imports, *self.buffers.values(), edit), note)

    def _is_long(self) -> bool:
        branches = len(self.above)
        inner: ast.AST | None = self.node
        while isinstance(inner, ast.If) and branches <= _LONGEST:
            branches += 1
            inner = inner.orelse[0] if len(inner.orelse) == 1 else None
        return branches > _LONGEST

    def _unnamed(self, walrus: ast.NamedExpr, imports: tuple[Edit, ...]) -> Fix | None:
        """`if (m := f(x)) > 1:` with the value named before."""
        place, node = self.place, self.node
        values = self.straight.values(node.body)
        if (
            node.orelse
            or self.above
            or self.straight.logs
            or not place.owns_its_lines(node)
            or "\n" in place.source(walrus)
        ):
            return None
        if not values or not all(self._defined(name) for name in values):
            return None
        line = f"{place.indent(node)}{place.source(walrus.target)} = {place.source(walrus.value)}"
        edits = (place.insert_line(node.lineno, line), place.replace(walrus, place.source(walrus.target)))
        return Fix("name the value before the branch", Applicability.UNSAFE, (*imports, *edits), _BOTH)

    # -- the shapes -------------------------------------------------------------------------------------------

    def _only_logs(self) -> Edit | None:
        node = self.node
        if node.orelse or self.above or isinstance(node.test, ast.BoolOp):
            return None
        if not all(only_logs(statement) for statement in node.body) or has_effects(node.test):
            return None
        test = self.place.source(node.test)
        return self.place.replace(node.test, f"not {self.torch}.compiler.is_compiling() and {test}")

    def _raise(self, test: str) -> tuple[str, str, Edit] | None:
        node = self.node
        if node.orelse or len(node.body) != 1 or not isinstance(node.body[0], ast.Raise):
            return None
        if any(isinstance(outer, ast.Try) and outer.handlers for outer in self.place.chain):
            return None  # somebody may wait for this very exception
        if is_caught(self.place, node.body[0]):
            return None
        message = message_of(node.body[0].exc)
        wanted = negated(self.place, node.test, test)
        edit = self._replaced([f"assert {wanted}, {quoted(message)}" if message else f"assert {wanted}"])
        note = "the exception becomes an AssertionError, in compiled code an asynchronous one; `python -O` drops it"
        if has_values(node.body[0].exc):
            note += "; the values in its text are left out"
        return ("assert instead of raising", note, edit) if edit is not None else None

    def _written(self, test: str) -> tuple[str, str, Edit] | None:
        """`self.buffer.fill_(1)` under a condition: always a copy, of the new value or the old one."""
        node = self.node
        if any(isinstance(s, ast.If) for s in node.orelse) or self._draws():
            return None
        sides = [
            Writes(self.place, partial(self.straight.own, body=body), self._defined, self.torch, self._stores)
            for body in (node.body, node.orelse)
        ]
        if not sides[0].take(node.body) or (node.orelse and not sides[1].take(node.orelse)):
            return None
        bound = uses_in(self.place.function).bound
        lines = selected(sides[0], sides[1] if node.orelse else None, self.torch, test, lambda name: name not in bound)
        edit = self._replaced(lines) if lines is not None else None
        self.buffers = {**sides[0].buffers, **sides[1].buffers}
        note = "the tensor is written in every call, and what it may get is computed in every call"
        if self.buffers:
            note += f"; {NOTE}"
        return ("write the old value or the new one", note, edit) if edit is not None else None

    def _stores(self, attribute: str) -> int:
        """How often the branches set an attribute."""
        return sum(
            isinstance(n, ast.Attribute) and n.attr == attribute and isinstance(n.ctx, ast.Store)
            for n in ast.walk(self.node)
        )

    def _handed(self, test: str) -> tuple[str, str, Edit] | None:
        """`out.append(a)` one way, `out.append(b)` the other: one call of what is selected."""
        calls = [handed(body) for body in (self.node.body, self.node.orelse)]
        first, second = calls
        if first is None or second is None or ast.dump(first.func) != ast.dump(second.func):
            return None
        if not all(pure(self.place, call.args[0]) for call in (first, second)):
            return None
        text = f"{self.place.source(first.func)}({self._one(test, first.args[0], second.args[0])})"
        edit = self._replaced([text])
        return ("select with torch.where", _BOTH, edit) if edit is not None else None

    def _assigned(self, test: str) -> tuple[str, str, Edit] | None:
        values = self._values(self.node, test)
        if not values:
            return None
        names = list(values)
        if len(names) > 1 and (self._draws() or not self._is_pure(self.node.test)):
            return None
        line = f"{', '.join(names)} = {', '.join(values[name] for name in names)}"
        said = self._said()
        if said is None:
            return None
        edit = self._replaced([*said, *self.before, line])
        return ("select with torch.where", _BOTH + self.straight.note(), edit) if edit is not None else None

    def _said(self) -> list[str] | None:
        """What the branch says, under a condition that only eager runs ask; None where it cannot be said before."""
        logs = self.straight.logs
        if not logs:
            return []
        plain = not (self.node.orelse or self.python) and self._is_pure(self.node.test)
        texts = [on_one_line(self.place.source(statement)) for statement in logs]
        if not plain or self._draws() or any(self.place.source(s).count("\n") for s in logs):
            return None
        test = self.place.source(self.node.test)
        asked = f"({test})" if isinstance(self.node.test, ast.BoolOp) else test
        return [f"if not {self.torch}.compiler.is_compiling() and {asked}:\n" + "".join(f"    {t}\n" for t in texts)]

    def _forget(self) -> None:
        """What an attempt has left behind."""
        self.before.clear()
        self.buffers = {}
        self.straight.logs.clear()
        self.straight.made.clear()
        self.straight.elements.clear()

    def _draws(self) -> bool:
        """Whether the test draws a number: asked once, it may not be asked again for a second name."""
        return any(self.tests.get(position(n)) == DRAWN for n in ast.walk(self.node) if isinstance(n, ast.expr))

    def _values(self, node: ast.If, test: str) -> dict[str, str] | None:
        """By name, what is assigned whichever way the branch goes."""
        place = self.place
        then = self.straight.values(node.body)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            inner = condition(place, node.orelse[0].test, self.tests)
            otherwise = self._values(node.orelse[0], inner) if inner is not None else None
        else:
            otherwise = self.straight.values(node.orelse)
        if then is None or otherwise is None:
            return None
        result: dict[str, str] = {}
        for name in dict.fromkeys([*then, *otherwise]):
            if (name not in then or name not in otherwise) and not self._defined(name):
                return None
            a, b = then.get(name, name), otherwise.get(name, name)
            result[name] = a if a == b else self.straight.chosen(name, self.torch, test, a, b)
        return result

    def _defined(self, name: str) -> bool:
        function = self.place.function
        if function is None:
            return False
        uses = uses_in(function)
        if name in uses.may_be_none:
            return False
        return any(getattr(n, "lineno", 0) < self.node.lineno for n in uses.stores(name))

    def _returned(self, test: str) -> tuple[str, str, Edit] | None:
        place, node = self.place, self.node
        outermost = self.above[0] if self.above else node
        found = place.index(outermost)
        if found is None:
            return None
        block, index = found
        rest = block[index + 1 :]
        value = self._return_value(node, test)
        if value is not None:
            edit = self._replaced([*self.before, f"return {value}"])
            return ("select with torch.where", _BOTH, edit) if edit is not None else None
        self._forget()
        # `if t: return a` and, further down, `return b`.
        if node.orelse or not rest or not all(_ends(above.body) for above in self.above):
            return None
        then, last = self._single_return(node.body), rest[-1]
        if then is None or not isinstance(last, ast.Return) or last.value is None or not pure(place, then):
            return None
        between = rest[:-1]
        if between and (self.python or not self._movable(between, [then, node.test])):
            return None
        if not pure(place, last.value) and not isinstance(last.value, ast.Name):
            return None
        select = self._select(test, then, last.value)
        if select is None:
            return None
        edit = self._joined(outermost, last, len(between), [*self.before, f"return {select}"])
        return ("select with torch.where", _BOTH, edit) if edit is not None else None

    def _return_value(self, node: ast.If, test: str) -> str | None:
        """What is returned, where both ways return."""
        then = self._single_return(node.body)
        if then is None or not node.orelse or not pure(self.place, then):
            return None
        nested = node.orelse[0] if len(node.orelse) == 1 else None
        if isinstance(nested, ast.If):
            inner = condition(self.place, nested.test, self.tests)
            value = self._return_value(nested, inner) if inner is not None else None
            if value is None or isinstance(then, ast.Tuple):
                return None
            return f"{self.torch}.where({test}, {on_one_line(self.place.argument(then))}, {value})"
        otherwise = self._single_return(node.orelse)
        if otherwise is None or not pure(self.place, otherwise):
            return None
        return self._select(test, then, otherwise)

    def _single_return(self, body: Sequence[ast.stmt]) -> ast.expr | None:
        """What a branch returns that does nothing else, but for what it computes for that alone."""
        last = body[-1] if body else None
        if not isinstance(last, ast.Return) or (len(body) > 1 and not self._for_itself(body)):
            return None
        return last.value

    def _for_itself(self, body: Sequence[ast.stmt]) -> bool:
        """Whether all but the last statement bind names that only this branch reads; they are kept to come before."""
        values = [s for s in body[:-1] if isinstance(s, ast.Assign) and len(s.targets) == 1]
        if len(values) != len(body) - 1:
            return False
        lines = []
        for statement in values:
            target, value = statement.targets[0], statement.value
            text = self.place.argument(value)
            if (
                not isinstance(target, ast.Name)
                or not self.straight.own(target.id, body)
                or not pure(self.place, value)
            ):
                return False
            if "#" in text:
                return False
            lines.append(f"{target.id} = {on_one_line(text)}")
        self.before += lines
        return True

    def _select(self, test: str, a: ast.expr, b: ast.expr) -> str | None:
        if isinstance(a, ast.Tuple) != isinstance(b, ast.Tuple):
            return None
        if isinstance(a, ast.Tuple) and isinstance(b, ast.Tuple):
            if len(a.elts) != len(b.elts) or not self._is_pure(self.node.test):
                return None
            return ", ".join(self._one(test, x, y) for x, y in zip(a.elts, b.elts, strict=True))
        return self._one(test, a, b)

    def _one(self, test: str, a: ast.expr, b: ast.expr) -> str:
        x, y = (on_one_line(self.place.argument(n)) for n in (a, b))
        return x if x == y else f"{self.torch}.where({test}, {x}, {y})"

    def _movable(self, between: Sequence[ast.stmt], read: Sequence[ast.expr]) -> bool:
        """Whether the branch may be taken after these statements instead of before them."""
        names = names_read(read)
        for statement in between:
            if not isinstance(statement, ast.Assign) or not pure(self.place, statement.value):
                return False
            bound = [t for target in statement.targets for t in getattr(target, "elts", [target])]
            if not all(isinstance(t, ast.Name) and t.id not in names for t in bound):
                return False
        return self._is_pure(self.node.test)

    def _is_pure(self, test: ast.expr) -> bool:
        """Whether a test may be asked later, or once more."""
        if isinstance(test, ast.BoolOp):
            return all(map(self._is_pure, test.values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._is_pure(test.operand)
        return pure(self.place, test)

    # -- rebuilding -------------------------------------------------------------------------------------------

    def _replaced(self, lines: Sequence[str]) -> Edit | None:
        """The `if` (or the `elif` and what follows it) gives way to plain statements."""
        if any("#" in line for line in lines):
            return None
        outermost = self.above[0] if self.above else self.node

        def change(statements: list[cst.BaseStatement]) -> list[cst.BaseStatement] | None:
            import libcst as cst

            outer = statements[0]
            if not isinstance(outer, cst.If):
                return None
            old: cst.If = outer
            for _ in self.above:
                assert isinstance(old.orelse, cst.If)
                old = old.orelse
            new = commented(old, lines)
            if self.python:
                test = cst.parse_expression(self.python)
                return [cst.If(test=test, body=cst.IndentedBlock(body=new))]
            if not self.above:
                return new
            return [with_else(outer, len(self.above), cst.Else(body=cst.IndentedBlock(body=new)))]

        return self.place.rebuild(outermost, outermost, change)

    def _joined(self, outermost: ast.stmt, last: ast.stmt, between: int, lines: Sequence[str]) -> Edit | None:
        """The `if` goes, and the last `return` takes its place."""
        if any("#" in line for line in lines):
            return None

        def change(statements: list[cst.BaseStatement]) -> list[cst.BaseStatement] | None:
            import libcst as cst

            outer, end = statements[0], statements[-1]
            if not isinstance(outer, cst.If) or len(statements) != between + 2:
                return None
            old: cst.If = outer
            for _ in self.above:
                assert isinstance(old.orelse, cst.If)
                old = old.orelse
            kept: list[cst.BaseStatement] = [*statements[1:-1]]
            if self.python:
                test = cst.parse_expression(self.python)
                branch = cst.If(test=test, body=cst.IndentedBlock(body=commented(old, lines)))
                return [branch, end]
            assert isinstance(end, cst.SimpleStatementLine)
            new = commented(old, lines, end)
            if self.above:
                kept.insert(0, with_else(outer, len(self.above), None))
            return [*kept, *new]

        return self.place.rebuild(outermost, last, change)


def _named(test: ast.expr) -> ast.NamedExpr | None:
    """The walrus that a comparison begins with."""
    left = test.left if isinstance(test, ast.Compare) else None
    return left if isinstance(left, ast.NamedExpr) else None


def _ends(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise))
