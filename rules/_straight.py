"""The statements of a branch as values: what each name would hold after them, computed without touching any name."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from tclint.fixes.notes import Notes
from tclint.fixes.places import Place
from tclint.fixes.purity import only_logs, pure
from tclint.fixes.recipes import SIGNS
from tclint.fixes.uses import uses_in
from tclint.rules._conditions import on_one_line
from tclint.sources.tree import names_read, same
from tclint.values import Seq, Tensor


@dataclass(slots=True)
class Straight:
    """The branches of one `if`, taken one after the other."""

    place: Place
    before: list[str] = field(default_factory=list)
    """What the branches compute for themselves, under names of their own: computed whichever way it goes."""
    logs: list[ast.stmt] = field(default_factory=list)
    """What the branches say."""
    made: set[str] = field(default_factory=set)
    """Names that were made up."""
    elements: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Of lists that a branch makes of themselves: the text, what an element becomes, and the element's name."""

    def values(self, body: Sequence[ast.stmt]) -> dict[str, str] | None:
        """By name, what a branch assigns, as an expression of what was there before it; None where it does more."""
        result: dict[str, str] = {}
        for statement in body:
            if isinstance(statement, ast.Pass):
                continue
            aside = only_logs(statement) or Notes(self.place.event, statement).is_aside(statement)
            if aside and not names_read([statement]) & result.keys():
                self.logs.append(statement)
                continue
            pairs = _pairs(statement)
            if pairs is not None:
                texts = [self._several(value, result) for _, value in pairs]
                names = [target.id for target, _ in pairs]
                if len(set(names)) < len(names):
                    return None
                for name, text in zip(names, texts, strict=True):
                    if text is None:
                        return None
                    result[name] = text
                continue
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target, value = statement.targets[0], statement.value
            elif isinstance(statement, ast.AugAssign) and type(statement.op) in SIGNS:
                target, value = statement.target, statement.value
            else:
                return None
            if not isinstance(target, ast.Name) or isinstance(value, (ast.Tuple, ast.List)):
                return None
            augmented = isinstance(statement, ast.AugAssign)
            if isinstance(value, ast.ListComp) and not augmented and not self._is_of_itself(target.id, value, result):
                return None
            if not isinstance(value, ast.ListComp) and not pure(self.place, value):
                return None
            needed = (names_read([value]) | ({target.id} if augmented else set())) & result.keys()
            named = {name: self._named(name, result) for name in sorted(needed)}
            text = self._text(value, named, operand=augmented)
            if text is None or "#" in text:
                return None
            if isinstance(statement, ast.AugAssign):
                text = f"{named.get(target.id, target.id)} {SIGNS[type(statement.op)]} {text}"
            elif self.own(target.id, body):
                self.before.append(f"{target.id} = {text}")
                continue
            result[target.id] = text
        return result

    def note(self) -> str:
        """What compiled runs no longer do."""
        return "; compiled runs no longer note down what only the branch reads" if self.logs else ""

    def _several(self, value: ast.expr, result: dict[str, str]) -> str | None:
        """One of the values that `a, b = x, y` assigns at once, each made of what was there before."""
        if isinstance(value, (ast.Tuple, ast.List, ast.ListComp)) or not pure(self.place, value):
            return None
        named = {name: self._named(name, result) for name in sorted(names_read([value]) & result.keys())}
        text = self._text(value, named, operand=False)
        return text if text is not None and "#" not in text else None

    def _is_of_itself(self, name: str, value: ast.ListComp, result: dict[str, str]) -> bool:
        """`grads = [g * scale for g in grads]`: a list of as many elements, each made of the one that was there."""
        loop = value.generators[0]
        element = loop.target.id if isinstance(loop.target, ast.Name) else ""
        plain = len(value.generators) == 1 and not loop.ifs and not loop.is_async and bool(element)
        source = loop.iter.id if isinstance(loop.iter, ast.Name) else ""
        if not plain or source != name or name in self.elements or names_read([value]) & result.keys():
            return False
        known = self.place.event.ask.local(name)
        if not isinstance(known, Seq) or not isinstance(known.element(), Tensor) or not pure(self.place, value.elt):
            return False
        texts = (self.place.source(value), self.place.argument(value.elt))
        self.elements[name] = (on_one_line(texts[0]), on_one_line(texts[1]), element)
        return True

    def chosen(self, name: str, torch: str, test: str, a: str, b: str) -> str:
        """One value or the other; for lists of as many elements, one element or the other."""
        each = self.elements.get(name)
        if each is None or name not in (a, b):
            return f"{torch}.where({test}, {a}, {b})"
        changed, element, target = each
        x, y = (element, target) if a == changed else (target, element)
        return f"[{torch}.where({test}, {x}, {y}) for {target} in {name}]"

    def _named(self, name: str, result: dict[str, str]) -> str:
        """A name of its own for what the branch has given `name` so far."""
        if result[name] in self.made:
            return result[name]
        taken = uses_in(self.place.function).bound | self.made
        new = next(n for n in (f"new_{name}", *(f"new_{name}_{i}" for i in range(2, len(taken) + 3))) if n not in taken)
        self.made.add(new)
        self.before.append(f"{new} = {result[name]}")
        result[name] = new
        return new

    def _text(self, value: ast.expr, named: dict[str, str], *, operand: bool) -> str | None:
        """The source of an expression with other names."""
        place = self.place
        text = place.source(value)
        if named and "\n" in text:
            return None
        first = place.span(value).column
        inner = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in named]
        for node in sorted(inner, key=lambda n: n.col_offset, reverse=True):
            at = place.span(node).column - first
            text = f"{text[:at]}{named[node.id]}{text[at + len(node.id) :]}"
        plain = place.operand(value) if operand else place.argument(value)
        return on_one_line(f"({text})" if plain != place.source(value) else text)

    def own(self, name: str, body: Sequence[ast.stmt]) -> bool:
        """Whether a branch binds a name for itself: nobody else binds or reads it."""
        uses = uses_in(self.place.function)
        inside = [*uses.reads(name)]
        if len(uses.stores(name)) != 1 or not inside:
            return False
        return all(any(any(same(n, s) for n in (*above, read)) for s in body) for read, above in inside)


def _pairs(statement: ast.stmt) -> list[tuple[ast.Name, ast.expr]] | None:
    """The names and values of `a, b = x, y`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return None
    pairs = [(t, v) for t, v in zip(target.elts, value.elts, strict=True) if isinstance(t, ast.Name)]
    return pairs if len(pairs) == len(target.elts) else None
