"""Loops that a tensor ends: all turns are made, and what comes after the end is not kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import Place
from tclint.fixes.purity import has_effects
from tclint.fixes.recipes import SIGNS
from tclint.fixes.uses import uses_in
from tclint.model.finding import Applicability, Edit, Fix
from tclint.rules._chains import commented
from tclint.rules._conditions import Tests, bracketed, condition, handed, negated, on_one_line, split
from tclint.rules._skips import free, is_steady
from tclint.rules._turns import MOST, draws, is_endless
from tclint.sources.tree import names_read, position, same
from tclint.torch_facts import facts
from tclint.values import Const, External, Scalar, Tensor

if TYPE_CHECKING:
    import libcst as cst

_NOTE: Final = (
    "all turns are made, and what comes after the end is thrown away: wrong where a later turn fails, draws, keeps something, or gives "
    "another shape or dtype, and slower where the loop ends early; numbers become 0-d tensors, what is not finite in a later turn gives "
    "NaN as gradient, and parameters get zeros instead of none"
)
_JOINS: Final = frozenset(facts.named("joins the tensors of a list"))
_TITLE: Final = "make all turns, and keep what was there at the end"


def fix_stop(place: Place, node: ast.If, tests: Tests) -> Fix | None:
    """A repair for `if t: break` and `if t: return x` in a loop of known turns."""
    torch, found = place.importing("torch"), place.index(node)
    last = node.body[0] if len(node.body) == 1 and not node.orelse else None
    if torch is None or found is None or not isinstance(last, (ast.Break, ast.Return)):
        return None
    block, at = found
    loop = next((n for n in place.chain if isinstance(n, ast.For) and n.body is block and not n.orelse), None)
    text = condition(place, node.test, tests)
    parts = ("", text) if text is not None else split(place, node.test, tests)
    if loop is None or parts is None or _leaves(loop, node) or is_endless(place, loop.iter) or draws(place, loop):
        return None
    ends = _Ends(place, loop, loop.body[:at], loop.body[at + 1 :], torch[0], *parts)
    edits = ends.returned(last.value) if isinstance(last, ast.Return) else ends.broken()
    return Fix(_TITLE, Applicability.UNSAFE, (*torch[1], *edits), _NOTE) if edits is not None else None


def fix_while(place: Place, node: ast.While, tests: Tests) -> Fix | None:
    """A repair for `while t and n < most:`, and for `while t:` that ends with `if n >= most: break`."""
    torch = place.importing("torch")
    counted = _counted(place, node)
    if torch is None or node.orelse or counted is None:
        return None
    test, body, name, turns = counted
    text = condition(place, test, tests)
    if text is None or _leaves(node, body) or draws(place, node):
        return None
    ends = _Ends(place, node, (), node.body[: len(node.body) - body], torch[0], "", negated(place, test, text))
    edits = ends.counted(name, turns)
    return Fix(_TITLE, Applicability.UNSAFE, (*torch[1], *edits), _NOTE) if edits is not None else None


def _leaves(loop: ast.For | ast.While, known: ast.If | int) -> bool:
    """Whether there is another way out of a turn than the one that is known: an `if`, or the last statements."""
    own = [known] if isinstance(known, ast.If) else loop.body[len(loop.body) - known :]
    ways = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)
    others = [s for s in loop.body if not any(same(s, o) for o in own)]
    return any(isinstance(n, ways) for s in others for n in ast.walk(s))


def _counted(place: Place, loop: ast.While) -> tuple[ast.expr, int, str, str] | None:
    """What else a loop asks than its count, how many of its last statements ask for the count, the counter and the turns."""
    test = loop.test
    last = loop.body[-1]
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and len(test.values) == 2:
        pairs = [(test.values[0], test.values[1]), (test.values[1], test.values[0])]
        for asked, count in pairs:
            found = _bound(place, loop, count, {ast.Lt: 0, ast.LtE: 1})
            if found is not None:
                return asked, 0, *found
        return None
    if isinstance(last, ast.If) and not last.orelse and len(last.body) == 1 and isinstance(last.body[0], ast.Break):
        found = _bound(place, loop, last.test, {ast.GtE: 0, ast.Eq: 0, ast.Gt: 1})
        if found is not None:
            return test, 1, *found
    return None


def _bound(place: Place, loop: ast.While, test: ast.expr, more: dict[type[ast.cmpop], int]) -> tuple[str, str] | None:
    """The counter of `n < most`, which begins with a number and grows by one in each turn, and how many turns that makes."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in more:
        return None
    left, right = test.left, test.comparators[0]
    found = place.index(loop)
    if not isinstance(left, ast.Name) or not is_steady(right) or found is None:
        return None
    grows = [s for s in loop.body if isinstance(s, ast.AugAssign) and _names_of(s.target) == [left.id]]
    starts = [s for s in found[0][: found[1]] if isinstance(s, ast.Assign) and _names_of(s.targets[0]) == [left.id]]
    first = starts[-1].value if starts else None
    one = grows[0].value if len(grows) == 1 and isinstance(grows[0].op, ast.Add) else None
    known = isinstance(one, ast.Constant) and one.value == 1 and isinstance(first, ast.Constant)
    stored = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    if not known or len([n for n in stored if n.id == left.id]) != 1 or names_read([right]) & {n.id for n in stored}:
        return None
    assert isinstance(first, ast.Constant)
    most = place.event.ask.evaluate(right)
    if type(first.value) is not int or (isinstance(most, Const) and type(most.value) is int and most.value > MOST):
        return None
    end = on_one_line(place.source(right)) + (f" + {more[type(test.ops[0])]}" if more[type(test.ops[0])] else "")
    return left.id, end if first.value == 0 else f"{first.value}, {end}"


@dataclass(frozen=True, slots=True)
class _Ends:
    """A loop, and where in a turn it may end."""

    place: Place
    loop: ast.For | ast.While
    before: Sequence[ast.stmt]
    """The statements of a turn before it is asked."""
    after: Sequence[ast.stmt]
    torch: str
    python: str
    """What Python knows and is asked first; else empty."""
    test: str
    """The boolean tensor that ends the loop."""

    # -- the three forms --------------------------------------------------------------------------------------

    def broken(self) -> tuple[Edit, ...] | None:
        """`if t: break`"""
        assert isinstance(self.loop, ast.For)
        carried = self._carried()
        last = self._last_turn()
        if carried is None or last is None or not (carried or last):
            return None
        first, second = self._stored_in(self.before, carried), self._stored_in(self.after, carried)
        done = free("done", self._bound)
        where = self._device([*carried, *self._tensors()])
        if where is None:
            return None
        renamed = {name: free(f"last_{name}", self._bound) for name in last}
        kept = [f"{new} = {self.torch}.where({done}, {new}, {name})" for name, new in renamed.items()]
        asked = [*self._selected(done, first), *kept]
        stop = self._asked(f"{done} = {done} | {bracketed(self.test)}")
        head = [f"{done} = {where}", *(f"{new} = 0" for new in renamed.values())]
        at = len(self.before)
        end = self._selected(done, second)
        edit = self._rebuilt(at, head, self._saved(first), [*asked, stop, *self._saved(second)], end, carried)
        reads = [
            self.place.replace(read, renamed[name])
            for name in renamed
            for read, _ in uses_in(self.place.function).reads(name)
            if self._is_behind(read)
        ]
        return (edit, *reads) if edit is not None else None

    def returned(self, value: ast.expr | None) -> tuple[Edit, ...] | None:
        """`if t: return x`, and `return y` behind the loop."""
        place = self.place
        found = place.index(self.loop)
        rest = found[0][found[1] + 1 :] if found is not None else []
        final = rest[-1] if rest else None
        plain = [s for s in rest[:-1] if isinstance(s, ast.Assign) and not has_effects(s)]
        if value is None or not isinstance(final, ast.Return) or final.value is None or len(plain) != len(rest) - 1:
            return None
        early, late = _parts(value), _parts(final.value)
        if len(early) != len(late) or any(map(has_effects, (*early, *late))) or not self._may_go_on(early):
            return None
        if not any(isinstance(place.event.ask.evaluate(part), Tensor) for part in early):
            return None
        done = free("done", self._bound)
        where = self._device(self._tensors())
        if where is None:
            return None
        names = [free("answer" if i == 0 else f"answer_{i + 1}", self._bound) for i in range(len(early))]
        texts = [on_one_line(place.argument(part)) for part in early]
        kept = [
            f"{name} = {text} if {name} is None else {self.torch}.where({done}, {name}, {text})"
            for name, text in zip(names, texts, strict=True)
        ]
        stop = self._asked(*kept, f"{done} = {done} | {bracketed(self.test)}")
        given = ", ".join(
            f"{text if plain else f'({text})'} if {name} is None else {self.torch}.where({done}, {name}, {text})"
            for name, part in zip(names, late, strict=True)
            for text, plain in [(on_one_line(place.argument(part)), not isinstance(part, ast.IfExp))]
        )
        edit = self._rebuilt(
            len(self.before), [f"{done} = {where}", *(f"{n} = None" for n in names)], [], [stop], [], []
        )
        return (edit, place.replace(final.value, given)) if edit is not None and "#" not in given else None

    def counted(self, counter: str, turns: str) -> tuple[Edit, ...] | None:
        """`while t and n < most:`"""
        carried = self._carried()
        done = free("done", self._bound)
        where = self._device([*(carried or ()), *self._tensors()])
        if not carried or where is None:
            return None
        stop = self._asked(f"{done} = {done} | {bracketed(self.test)}")
        carried = [*carried] if self._counts_for_others(counter) else [name for name in carried if name != counter]
        head, end = [f"{done} = {where}"], self._selected(done, carried)
        first = [stop, *self._saved(carried)]
        edit = self._rebuilt(-1, head, first, [], end, carried, turns)
        return (edit,) if edit is not None else None

    # -- what is carried --------------------------------------------------------------------------------------

    @property
    def _bound(self) -> set[str]:
        return uses_in(self.place.function).bound

    def _carried(self) -> list[str] | None:
        """The names that another turn, or what follows the loop, reads; None where a turn does more than bind names, or where
        there is nothing to keep in the first turn."""
        uses = uses_in(self.place.function)
        first: dict[str, ast.stmt] = {}
        for statement in (*self.before, *self.after):
            names = _bound_by(statement)
            value = getattr(statement, "value", None)
            if names is None or value is None or has_effects(value):
                return None
            if isinstance(statement, ast.AugAssign):
                first.setdefault(names[0], self.loop)  # what it had is read
            for name in names:
                first.setdefault(name, statement)
        found = []
        for name, store in first.items():
            own = store is not self.loop and all(
                _is_after(read, store) and any(same(n, self.loop) for n in above) for read, above in uses.reads(name)
            )
            if own:
                continue
            above = [n for n in uses.stores(name) if position(n)[0] < self.loop.lineno]
            if not above or name in uses.may_be_none or not self._is_kept(name):
                return None
            found.append(name)
        return found if not self._resized() & set(found) else None

    def _resized(self) -> set[str]:
        """The names that hold a longer or a shorter tensor after a turn: there is no selecting between two shapes."""
        found: set[str] = set()
        turned = {name for statement in (*self.before, *self.after) for name in _bound_by(statement) or ()}
        for statement in (*self.before, *self.after):
            value = getattr(statement, "value", None)
            names = set(_bound_by(statement) or ())
            assert value is not None
            func = self.place.event.ask.evaluate(value.func) if isinstance(value, ast.Call) else None
            joined = isinstance(func, External) and func.name in _JOINS and bool(names_read(value.args) & turned)
            cut = isinstance(value, ast.Subscript) and any(isinstance(n, ast.Slice) for n in ast.walk(value.slice))
            passed = isinstance(value, ast.Name) and value.id in found
            if passed or joined or (cut and names_read([value]) & names):
                found |= names
            elif isinstance(statement, ast.Assign):
                found -= names
        return found

    def _is_kept(self, name: str) -> bool:
        """Whether a name holds a tensor, or a number that may become one."""
        known = self.place.event.ask.local(name)
        number = isinstance(known, Const) and type(known.value) in (int, float)
        return isinstance(known, (Tensor, Scalar)) or number

    def _last_turn(self) -> list[str] | None:
        """The names of the loop itself that are read behind it; None where they are no numbers."""
        assert isinstance(self.loop, ast.For)
        found = []
        for name in _names_of(self.loop.target) or ():
            outside = [
                read
                for read, above in uses_in(self.place.function).reads(name)
                if not any(same(n, self.loop) for n in above)
            ]
            if not outside:
                continue
            known = self.place.event.ask.local(name)
            if isinstance(known, Tensor) or not self._is_kept(name) or not all(map(self._is_behind, outside)):
                return None
            found.append(name)
        return found

    def _counts_for_others(self, counter: str) -> bool:
        """Whether a counter is read for more than the question whether there is another turn."""
        asked = [self.loop.test] if isinstance(self.loop, ast.While) else []
        last = self.loop.body[-1]
        around = [*asked, *([last.test] if isinstance(last, ast.If) else [])]
        inside = {id(n) for test in around for n in ast.walk(test)}
        return any(id(read) not in inside for read, _ in uses_in(self.place.function).reads(counter))

    def _is_behind(self, node: ast.AST) -> bool:
        return position(node)[0] > (self.loop.end_lineno or 0)

    def _stored_in(self, body: Sequence[ast.stmt], carried: Sequence[str]) -> list[str]:
        stored = {name for statement in body for name in _bound_by(statement) or ()}
        return [name for name in carried if name in stored]

    def _may_go_on(self, early: Sequence[ast.expr]) -> bool:
        """Whether nobody sees the turns after the end: they bind names, fill lists that the early answer does not read, and
        write into tensors that the function made."""
        read = names_read(early)
        changed: set[str] = set()
        for statement in (*self.before, *self.after):
            if _bound_by(statement) is not None:
                if has_effects(getattr(statement, "value", statement)):
                    return False
                changed |= {n for n in _bound_by(statement) or () if isinstance(statement, ast.AugAssign)}
                continue
            call = handed([statement])
            owner = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
            if call is not None and isinstance(owner, ast.Name) and isinstance(call.func, ast.Attribute):
                puts = call.func.attr in facts.methods("puts a value into a container")
                if not puts or owner.id in read or not self._is_made(owner.id) or has_effects(call.args[0]):
                    return False
                continue
            target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
            if not isinstance(target, ast.Subscript) or has_effects(statement):
                return False
            if not isinstance(target.value, ast.Name) or not self._is_made(target.value.id):
                return False
            changed.add(target.value.id)
        return not any(isinstance(part, ast.Name) and part.id in changed for part in early)

    def _is_made(self, name: str) -> bool:
        """Whether all that a name may hold was made in the function."""
        function = self.place.function
        given = {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)} if function is not None else {name}
        values = [
            n.value
            for n in (ast.walk(function) if function is not None else ())
            if isinstance(n, ast.Assign) and any(name in (_names_of(t) or ()) for t in n.targets)
        ]
        return (
            name not in given and all(isinstance(v, (ast.Call, ast.BinOp, ast.List)) for v in values) and bool(values)
        )

    def _tensors(self) -> Iterator[str]:
        """The names of tensors that are there before the loop."""
        uses = uses_in(self.place.function)
        for name in sorted(names_read([self.loop])):
            if any(position(n)[0] < self.loop.lineno for n in uses.stores(name)) and name not in uses.may_be_none:
                yield name

    def _device(self, names: Sequence[str] | Iterator[str]) -> str | None:
        """`False` as a tensor where the others are."""
        tensors = (name for name in names if isinstance(self.place.event.ask.local(name), Tensor))
        one = next(tensors, None)
        return f"{self.torch}.zeros((), dtype={self.torch}.bool, device={one}.device)" if one is not None else None

    # -- text -------------------------------------------------------------------------------------------------

    def _saved(self, names: Sequence[str]) -> list[str]:
        return [f"{free(f'old_{name}', self._bound)} = {name}" for name in names]

    def _selected(self, done: str, names: Sequence[str]) -> list[str]:
        olds = [(name, free(f"old_{name}", self._bound)) for name in names]
        return [f"{name} = {self.torch}.where({done}, {old}, {name})" for name, old in olds]

    def _asked(self, *lines: str) -> str:
        if not self.python:
            return "\n".join(lines)
        return f"if {self.python}:\n" + "".join(f"    {line}\n" for line in lines)

    def _rebuilt(
        self,
        at: int,
        head: Sequence[str],
        first: Sequence[str],
        middle: Sequence[str],
        end: Sequence[str],
        carried: Sequence[str],
        turns: str = "",
    ) -> Edit | None:
        """The loop with other statements at its beginning, in the place of the one numbered `at`, and at its end."""
        if any("#" in line for line in (*head, *first, *middle, *end)):
            return None
        wanted = len(self.before) + len(self.after)
        # `x += y` would change the old value too.
        grown = {
            number
            for number, statement in enumerate(self.loop.body)
            if isinstance(statement, ast.AugAssign) and set(_names_of(statement.target) or ()) & set(carried)
        }
        texts = {n: self._functional(self.loop.body[n]) for n in grown}
        dropped = {
            number
            for number, statement in enumerate(self.loop.body)
            if turns
            and isinstance(statement, ast.AugAssign)
            and not set(_names_of(statement.target) or ()) & set(carried)
        }
        if not all(texts.values()) or len(dropped) > 1:
            return None

        def change(statements: list[cst.BaseStatement]) -> Sequence[cst.BaseStatement] | None:
            import libcst as cst

            old = statements[0]
            if not isinstance(old, (cst.For, cst.While)) or not isinstance(old.body, cst.IndentedBlock):
                return None
            if len(old.body.body) != len(self.loop.body):
                return None  # `a; b` on one line
            body: list[cst.BaseStatement] = [*_parsed(first)]
            for number, statement in enumerate(old.body.body):
                text = texts.get(number)
                if number == at:
                    if not isinstance(statement, cst.If):
                        return None
                    body += commented(statement, _lines(middle))
                elif text and isinstance(statement, cst.SimpleStatementLine):
                    new = cst.parse_statement(text)
                    assert isinstance(new, cst.SimpleStatementLine)
                    body.append(statement.with_changes(body=new.body))
                elif number not in dropped and (number < wanted or at >= 0):
                    body.append(statement)
            body += _parsed(end)
            block = old.body.with_changes(body=body)
            lead = old.leading_lines
            if turns:
                new_loop: cst.BaseStatement = cst.For(
                    target=cst.Name("_"), iter=cst.parse_expression(f"range({turns})"), body=block
                )
            else:
                new_loop = old.with_changes(body=block, leading_lines=())
            made = _parsed(head)
            return [made[0].with_changes(leading_lines=lead), *made[1:], new_loop]

        return self.place.rebuild(self.loop, self.loop, change)

    def _functional(self, statement: ast.stmt) -> str:
        """`x = x + y` for `x += y`; empty where that has no sign of its own."""
        assert isinstance(statement, ast.AugAssign)
        assert isinstance(statement.target, ast.Name)
        sign = SIGNS.get(type(statement.op))
        name, value = statement.target.id, on_one_line(self.place.operand(statement.value))
        return f"{name} = {name} {sign} {value}" if sign is not None and "#" not in value else ""


def _lines(texts: Sequence[str]) -> list[str]:
    """Each statement by itself."""
    return [line for text in texts for line in ([text] if text.startswith("if ") else text.split("\n"))]


def _parsed(texts: Sequence[str]) -> list[cst.BaseStatement]:
    import libcst as cst

    return [cst.parse_statement(line) for line in _lines(texts)]


def _parts(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, ast.Tuple) else [value]


def _names_of(target: ast.expr) -> list[str] | None:
    """The names that a target binds, if it binds nothing else."""
    if isinstance(target, ast.Name):
        return [target.id]
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    inner = [_names_of(each) for each in target.elts]
    return [name for names in inner if names is not None for name in names] if None not in inner else None


def _bound_by(statement: ast.stmt) -> list[str] | None:
    """The names that an assignment binds, if it binds nothing else."""
    if isinstance(statement, ast.AugAssign):
        return _names_of(statement.target)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return _names_of(statement.targets[0])
    return None


def _is_after(read: ast.Name, statement: ast.stmt) -> bool:
    return (read.lineno, read.col_offset) >= (statement.end_lineno or 0, statement.end_col_offset or 0)
