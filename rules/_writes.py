"""Tensors that are written under a condition: always written, with what they get or what they had."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tclint.fixes.places import Place
from tclint.fixes.purity import PURE, pure
from tclint.fixes.recipes import SIGNS
from tclint.model.finding import Edit
from tclint.rules._buffers import buffer
from tclint.rules._conditions import on_one_line
from tclint.torch_facts import facts
from tclint.values import External, Instance, Tensor

_SWITCHES: Final = "is a context that switches gradients"
_IN_PLACE: Final = {"add_": "+", "sub_": "-", "mul_": "*", "div_": "/"}


@dataclass(slots=True)
class Writes:
    """What the statements of a branch write."""

    place: Place
    own: Callable[[str], bool]
    """Whether a name is the branch's own."""
    kept: Callable[[str], bool]
    """Whether a name was there before the branch."""
    torch: str
    stores: Callable[[str], int]
    """How often the branches set an attribute."""
    buffers: dict[str, Edit] = field(default_factory=dict)
    """Numbers that must become buffers, and how."""
    before: list[str] = field(default_factory=list)
    written: dict[str, tuple[bool, str]] = field(default_factory=dict)
    """By tensor, whether it is written in place, and what it gets."""
    around: str = ""
    """The context that all of it stands in."""

    def take(self, body: Sequence[ast.stmt]) -> bool:
        """Whether all statements write tensors, each one once; what they get is kept."""
        inner = body[0] if len(body) == 1 else None
        if isinstance(inner, ast.With) and all(map(self._without_gradients, inner.items)):
            self.around = ", ".join(self.place.source(item.context_expr) for item in inner.items)
            body = inner.body
        elif any(isinstance(statement, ast.With) for statement in body):
            body = self._inside(body)
        return bool(body) and all(self._take(statement) for statement in body) and bool(self.written)

    def _inside(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with those of one `with torch.no_grad():` among them; the others may stand in it too where they set
        tensors to constants."""
        contexts = [statement for statement in body if isinstance(statement, ast.With)]
        others = [statement for statement in body if not isinstance(statement, ast.With)]
        if (
            len(contexts) != 1
            or not all(map(self._without_gradients, contexts[0].items))
            or not all(map(_sets, others))
        ):
            return []
        self.around = ", ".join(self.place.source(item.context_expr) for item in contexts[0].items)
        at = body.index(contexts[0])
        return [*body[:at], *contexts[0].body, *body[at + 1 :]]

    def _without_gradients(self, item: ast.withitem) -> bool:
        """`with torch.no_grad():`"""
        call = item.context_expr
        known = self.place.event.ask.evaluate(call.func) if isinstance(call, ast.Call) and not call.args else None
        return item.optional_vars is None and isinstance(known, External) and known.name in facts.named(_SWITCHES)

    def _take(self, statement: ast.stmt) -> bool:
        place = self.place
        if isinstance(statement, ast.Expr):
            return isinstance(statement.value, ast.Call) and self._call(statement.value)
        if isinstance(statement, ast.AugAssign):
            name, sign = place.source(statement.target), SIGNS.get(type(statement.op))
            known = self._is_state(statement.target) or self._is_part(statement.target)
            if sign is None or not known or not pure(place, statement.value):
                return False
            # What was a number is bound anew, as it was: who has used it for a gradient keeps the old one.
            bound = isinstance(statement.target, ast.Subscript) or statement.target.attr in self.buffers  # type: ignore[union-attr]
            return self._write(name, not bound, f"{name} {sign} {on_one_line(place.operand(statement.value))}")
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not pure(place, statement.value):
            return False
        target, value = statement.targets[0], on_one_line(place.argument(statement.value))
        if isinstance(target, ast.Name):
            if not self.own(target.id):
                return self.kept(target.id) and self._write(target.id, False, value)
            self.before.append(f"{target.id} = {value}")
            return not self.written
        if not self._is_state(target) and not self._is_part(target):
            return False
        name = place.source(target)
        return self._write(name, False, value)

    def _is_part(self, target: ast.expr) -> bool:
        """Whether `out[i]` is a part of a tensor that was there before, at a place that Python knows."""
        owner = target.value if isinstance(target, ast.Subscript) else None
        if not isinstance(owner, (ast.Name, ast.Attribute)) or not pure(self.place, target):
            return False
        there = not isinstance(owner, ast.Name) or self.kept(owner.id)
        return there and isinstance(self.place.event.ask.evaluate(owner), Tensor)

    def _call(self, call: ast.Call) -> bool:
        """`self.buffer.fill_(1)`, `self.mean.mul_(0.9).add_(x)`."""
        links: list[tuple[str, ast.Call]] = []
        owner: ast.expr = call
        while isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute):
            links.insert(0, (owner.func.attr, owner))
            owner = owner.func.value
        if not isinstance(owner, (ast.Name, ast.Attribute)):
            return False
        given = [a for _, link in links for a in (*link.args, *(k.value for k in link.keywords))]
        if not all(pure(self.place, a) for a in given):
            return False
        name = self.place.source(owner)
        method, first = links[0]
        values = [on_one_line(self.place.operand(a)) for a in first.args]
        if len(links) == 1 and not first.keywords:
            if method in ("fill_", "copy_") and len(values) == 1:
                return self._copy(name, values[0])
            if method == "zero_" and not values:
                return self._copy(name, "0")
            if method in _IN_PLACE and len(values) == 1:
                return self._copy(name, f"{name} {_IN_PLACE[method]} {values[0]}")
        text = name
        for method, link in links:
            if not method.endswith("_") or method[:-1] not in PURE or any(k.arg is None for k in link.keywords):
                return False
            text += (
                f".{method[:-1]}({', '.join(on_one_line(self.place.source(a)) for a in (*link.args, *link.keywords))})"
            )
        return self._copy(name, text)

    def _copy(self, name: str, new: str) -> bool:
        return self._write(name, True, new)

    def _write(self, name: str, in_place: bool, new: str) -> bool:
        """What is computed of a tensor that was written a line before would be computed of what it had."""
        if any(other == name or _mentions(new, other.partition("[")[0]) for other in self.written):
            return False
        self.written[name] = (in_place, new)
        return True

    def _is_state(self, target: ast.expr) -> bool:
        """Whether `self.name` is a tensor, or a number that can become one."""
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
            return False
        ask = self.place.event.ask
        me = ask.local(target.value.id)
        if isinstance(me, Instance) and isinstance(ask.attributes(me).get(target.attr), Tensor):
            return True
        edit = buffer(self.place, target, self.torch, integers=True, stores=self.stores(target.attr))
        if edit is None:
            return False
        self.buffers[target.attr] = edit
        return True


def selected(
    then: Writes, otherwise: Writes | None, torch: str, test: str, free: Callable[[str], bool]
) -> list[str] | None:
    """The lines that write each tensor whichever way a branch goes; `free` says whether a name may be given."""
    if otherwise is not None and then.around != otherwise.around:
        return None
    names = list(dict.fromkeys([*then.written, *(otherwise.written if otherwise is not None else ())]))
    lines = [*then.before, *(otherwise.before if otherwise is not None else ())]
    if len(names) > 1 and (any(_mentions(test, name) for name in names) or "(" in test):
        # Asked once: what is written first may be what is asked.
        taken = next((name for name in ("taken", "is_taken", "branch_taken") if free(name)), None)
        if taken is None:
            return None
        lines.append(f"{taken} = {test}")
        test = taken
    for name in names:
        in_place, a = then.written.get(name, (None, name))
        other, b = otherwise.written.get(name, (None, name)) if otherwise is not None else (None, name)
        if in_place is not None and other is not None and in_place != other:
            return None
        chosen = f"{torch}.where({test}, {a}, {b})"
        lines.append(f"{name}.copy_({chosen})" if in_place or other else f"{name} = {chosen}")
    if then.around:
        return [f"with {then.around}:\n" + "".join(f"    {line}\n" for line in lines)]
    return lines


def _sets(statement: ast.stmt) -> bool:
    """`self.done.fill_(1)`"""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and all(isinstance(a, ast.Constant) for a in call.args) and not call.keywords


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
