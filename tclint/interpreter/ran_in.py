"""In which mode the program runs a module that it compiles, where that is one of the two and never the other.

A module starts in training. Where the program puts it into one mode by itself and nothing that may hold it puts it into the
other, what only the other mode runs is never compiled. Who may hold it is told by names, and by who imports whom: more than
really do. A library of which nobody knows what it does with a module may switch it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tclint.interpreter import mode_switches as said
from tclint.interpreter.mode_switches import EITHER, EVALUATION, HARMLESS, OUTSIDE, TRAINING, Switch, Told
from tclint.program import Class, Module, absolute_name
from tclint.sources import roles
from tclint.sources.import_scan import imports
from tclint.values import (
    UNKNOWN,
    ClassValue,
    CompileSite,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
)
from tclint.values.compiled import code_of
from tclint.values.moments import MAX_MOMENTS, Call, Walk, Write

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_MOST: Final = 48
"""Files that may hold a module, from which on nobody follows it."""
_DEPTH: Final = 8
_MODULE: Final = "torch.nn.Module"
_PLAIN: Final = frozenset({*sys.stdlib_module_names, "builtins"})


class RanIn:
    """Knows in which mode what is compiled is run."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._known: dict[object, bool | None] = {}
        self._links: dict[str, set[str]] | None = None

    def training(self, target: Value, site: CompileSite | None) -> bool | None:
        """Whether something compiled is only ever run in training (True) or in evaluation (False); None where it may be both."""
        whole = target.bound if isinstance(target, FunctionValue) else target
        if site is None or not isinstance(whole, Instance) or not self._interp.account.settled:
            return None
        key = (target.key, site.path, site.line, site.test)
        if key not in self._known:
            self._known[key] = None  # whoever asks on the way
            self._known[key] = self._found(whole, target, site)
        return self._known[key]

    def _found(self, whole: Instance, target: Value, site: CompileSite) -> bool | None:
        if (
            site.own
            or not self._is_plain(whole.cls)
            or self._interp.classes.find_method(whole.cls, "train") is not None
        ):
            return None
        program = self._interp.program
        module = program.by_path.get(site.path)
        if module is None:
            return None
        seeds = frozenset(program.answers(_compiled_names, site.path, site.line).get(site.path, ()))
        every = program.answers(said.switches).items()
        switches = {p: [Switch(*row) for row in rows] for p, rows in every if site.test or not roles.is_test(p)}
        wanted = {row.mode for rows in switches.values() for row in rows if row.name in seeds}
        if not seeds or not wanted - {EITHER}:
            return None  # nobody says so: it may be handed to somebody who does
        holders = self._holders(module, site)
        if holders is None:
            return None
        held = _Names(self._interp, holders, set(seeds), site)
        if not held.follow() or self._is_kept(held):
            return None
        reached = self._reached(held.paths)
        if any(self._is_part(name, whole, reached) for name in sorted(held.names)):
            return None
        parts = held.also_called({*self._part_names(whole)} - held.names)
        return _Verdict(self._interp, whole, target, site, held, parts, switches, reached).mode()

    # -- who may hold it ----------------------------------------------------------------------------------------

    def _holders(self, module: Module, site: CompileSite) -> set[str] | None:
        """The file of a site, and those that import it, over however many steps."""
        links = self._linked()
        users: dict[str, set[str]] = {}
        for path, targets in links.items():
            for each in targets if site.test or not roles.is_test(path) else ():
                users.setdefault(each, set()).add(path)
        found = _closure({module.path}, users)
        return found if len(found) <= _MOST else None

    def _reached(self, paths: Iterable[str]) -> set[str]:
        """What these files import, over however many steps, and they themselves."""
        return _closure(set(paths), self._linked())

    def _linked(self) -> dict[str, set[str]]:
        if self._links is None:
            program = self._interp.program
            self._links = {}
            for path, names in program.answers(_imported).items():
                importer = program.by_path[path]
                found = (program.find(importer, name) for name in names)
                self._links[path] = {each.path for each in found if each is not None}
        return self._links

    def _is_kept(self, held: _Names) -> bool:
        """Whether an object that others may switch keeps it: a module around it, or something of a library."""
        for path in sorted(held.paths):
            kept = {cls for cls, name in held.told(path).keeps if name in held.names}
            for cls in self._interp.program.by_path[path].classes if kept else ():
                if cls.name in kept and (self._interp.classes.is_nn_module(cls) or not self._is_plain(cls)):
                    return True
        return False

    def _is_part(self, name: str, whole: Instance, paths: set[str]) -> bool:
        """Whether a module of these files may have the compiled one for a part, under a name by which that goes."""
        program, classes = self._interp.program, self._interp.classes
        for path, addresses in program.answers(said.keeping, name).items():
            for cls in program.by_path[path].classes if path in paths else ():
                if cls.address in addresses and classes.is_nn_module(cls):
                    held = self._interp.instance_attributes.of(Instance(cls)).get(name, UNKNOWN)
                    options = held.options if isinstance(held, Union) else (held,)
                    if any(
                        each is UNKNOWN or isinstance(each, Instance) and self._akin(each, whole) for each in options
                    ):
                        return True
        return False

    def _akin(self, one: Instance, other: Instance) -> bool:
        mro = self._interp.classes.mro
        return one.cls in mro(other.cls) or other.cls in mro(one.cls)

    def _is_plain(self, cls: Class) -> bool:
        """Whether nothing below a class is of a library of which nobody knows what it does."""
        classes = self._interp.classes
        bases = [base for each in classes.mro(cls) for base in classes.bases(each)]
        return all(
            isinstance(base, ClassValue)
            or isinstance(base, External)
            and (base.name == _MODULE or base.name.partition(".")[0] in _PLAIN)
            for base in bases
        )

    def _part_names(self, whole: Instance) -> Iterator[str]:
        """The attributes under which a module and its parts hold modules."""
        seen: set[object] = set()
        ahead: list[tuple[Value, int]] = [(whole, 0)]
        while ahead:
            value, depth = ahead.pop()
            if isinstance(value, (Seq, Dict, Union)):
                ahead += [(each, depth) for each in value.held_items()]
                ahead += [(each, depth) for each in (value.options if isinstance(value, Union) else ())]
            if not isinstance(value, Instance) or value.key in seen or depth > _DEPTH:
                continue
            seen.add(value.key)
            for name, held in self._interp.instance_attributes.of(value).items():
                if not isinstance(held, (Const, Scalar, Tensor, External)):
                    yield name
                    ahead.append((held, depth + 1))


@dataclass(slots=True)
class _Names:
    """The names that something may go by in some files, and the files to which it is handed."""

    interp: Interpreter
    paths: set[str]
    names: set[str]
    site: CompileSite
    _told: dict[str, Told] = field(default_factory=dict)
    factories: set[str] = field(default_factory=set)
    """The functions that give it."""
    _asked: set[str] = field(default_factory=set)
    """Those that gave something of these names."""

    def told(self, path: str) -> Told:
        if path not in self._told:
            rows = self.interp.program.answers(said.told, (path,)).get(path)
            self._told[path] = Told(*rows) if rows else Told((), (), (), (), (), (), ())
        return self._told[path]

    def follow(self) -> bool:
        """Find all of them; False where somebody gets it of whom nobody knows what he does."""
        self.paths = set(self.paths)
        while True:
            before = len(self.names), len(self.factories), len(self.paths)
            for path in sorted(self.paths):
                if not self._through(self.told(path)):
                    return False
            if before == (len(self.names), len(self.factories), len(self.paths)):
                return True
            if len(self.paths) > _MOST:
                return False

    def also_called(self, names: set[str]) -> set[str]:
        """The names that other things of these names are bound to, too."""
        found = set(names)
        edges = [edge for path in sorted(self.paths) for edge in (*self.told(path).same, *self.told(path).into)]
        while not (new := {each for edge in edges if not found.isdisjoint(edge) for each in edge}) <= found:
            found |= new
        return found

    def _through(self, told: Told) -> bool:
        names = self.names
        for one, other in told.same:
            if one in names or other in names:
                names |= {one, other}
        names.update(holder for name, holder in told.into if name in names)
        self.factories.update(function for function, name in told.gives if self._has(name))
        names.update(bound for bound, callee in told.made if callee in self.factories)
        for callee in {callee for bound, callee in told.made if bound in names} - self._asked:
            # What gives it to us may have put it into a mode before.
            self._asked.add(callee)
            self.paths |= self._defining(callee, "def")
        for path in sorted(self.paths):
            names.update(name for function, name in self.told(path).gives if function in self._asked)
        return all(self._handed(*row) for row in told.passed)

    def _defining(self, name: str, kind: str = "def|class") -> set[str]:
        """The files that define something of a name."""
        found = self.interp.program.answers(said.defines, name, kind)
        return {path for path in found if self.site.test or not roles.is_test(path)}

    def _has(self, name: str) -> bool:
        return name.removesuffix("()") in self.factories if name.endswith("()") else name in self.names

    def _handed(self, callee: str, kind: str, key: str, name: str) -> bool:
        """Follow one argument to its parameter, or a parameter to what is passed for it; False where nobody knows where it goes."""
        given = name in self.names
        if given and kind != HARMLESS:
            defining = self._defining(callee) if callee and kind != OUTSIDE else set()
            if not defining and callee not in self.names:
                return False
            self.paths |= defining
        elif given:
            self.paths |= self._defining(
                callee, "def"
            )  # a name that is handed on beside it: a function that gets it, if any
        found = [row for path in sorted(self.paths) for row in self.told(path).takes if row[0] == callee]
        for _, parameters in found:
            meant = [p for i, p in enumerate(parameters) if key in (p, str(i), "*", "**")]
            if given:
                self.names.update(meant or parameters)
            elif not self.names.isdisjoint(meant) and key != "*":
                self.names.add(name)
        return True


@dataclass(slots=True)
class _Verdict:
    """What the switches of all files come to, for one compiled module."""

    interp: Interpreter
    whole: Instance
    target: Value
    site: CompileSite
    held: _Names
    parts: set[str]
    switches: Mapping[str, Sequence[Switch]]
    reached: set[str]

    def mode(self) -> bool | None:
        """Whether it is training, the other mode, or both."""
        rows = [(path, row) for path in sorted(self.reached) for row in self.switches.get(path, ())]
        itself = [row for path, row in rows if self._is_itself(path, row)]
        modes = {row.mode for row in itself}
        if modes not in ({TRAINING}, {EVALUATION}):
            return None
        wanted = modes.pop()
        others = [(path, row) for path, row in rows if row.mode != wanted and self._may_matter(path, row)]
        if not all(self._is_before(path, row) for path, row in others):
            return None
        walks = self.interp.account.walks(code_of(self.target, self.site), self.site.test)
        if not self._agree(walks, wanted):
            return None
        before = wanted == EVALUATION and not any(self._stands_at_site(row) for row in itself)
        if (others or before) and not self._begins(walks):
            return None
        return wanted == TRAINING

    def _is_itself(self, path: str, row: Switch) -> bool:
        if row.name == "self":
            order = self.interp.classes.mro(self.whole.cls)
            return any(cls.name == row.cls and cls.module.path == path for cls in order)
        return row.name in self.held.names

    def _may_matter(self, path: str, row: Switch) -> bool:
        """Whether a switch may be one of a part, or of something that nobody knows."""
        if row.name == "self":
            cls = self.interp.program.by_path[path].named(row.cls)
            return not isinstance(cls, Class) or self.interp.classes.is_nn_module(cls)
        known = self.held.names | self.parts | self.held.factories
        if row.given or row.name in known:
            return True  # of what a function is handed nobody knows what it is a part of
        return not row.name and (path in self.held.paths or not known.isdisjoint(row.names))

    def _is_before(self, path: str, row: Switch) -> bool:
        """Whether a switch comes before all calls, or is one that the whole's own switch goes on with."""
        if row.function == "train" and row.cls:
            cls = self.interp.program.by_path[path].named(row.cls)
            return isinstance(cls, Class) and self.interp.classes.is_nn_module(cls)  # asked of each part by itself
        return row.function == "__init__" or path == self.site.path and self._stands_at_site(row)

    def _stands_at_site(self, row: Switch) -> bool:
        """Whether a switch of the site's file stands above the site, in the function around it."""
        found = self.interp.program.answers(said.before, self.site.path, self.site.line)
        return tuple(row) in {tuple(each) for each in found.get(self.site.path, ())}

    def _agree(self, walks: Iterable[Walk], wanted: str) -> bool:
        """Whether no code that was walked puts it into another mode."""
        name = self.whole.cls.qualname
        for walk in walks:
            if len(walk) >= MAX_MOMENTS:
                return False
            for moment in walk:
                if isinstance(moment, Write) and _switches(moment, name):
                    if not isinstance(moment.value, Const) or moment.value.value is not (wanted == TRAINING):
                        return False
        return True

    def _begins(self, walks: Iterable[Walk]) -> bool:
        """Whether it is put into its mode before it is called, wherever it is called."""
        code, name = code_of(self.target, self.site), self.whole.cls.qualname
        begun: set[tuple[str, int]] = set()
        open_: set[tuple[str, int]] = set()
        for walk in walks:
            switched = False
            for moment in walk:
                if isinstance(moment, Write) and _switches(moment, name):
                    switched = True
                elif isinstance(moment, Call) and moment.callee == code:
                    (begun if switched else open_).add((moment.path, getattr(moment.node, "lineno", 0)))
        return bool(begun) and open_ <= begun


def _switches(moment: Write, name: str) -> bool:
    return moment.place[0] == "mode" and moment.place[2:] == (name, "training")


def _closure(found: set[str], links: Mapping[str, set[str]]) -> set[str]:
    ahead = [*found]
    while ahead:
        new = links.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found


# -- what is asked of files ------------------------------------------------------------------------------------------


def _imported(module: Module) -> tuple[str, ...]:
    """The dotted names that a file may import."""
    found: set[str] = set()
    for each in imports(module.data):
        target = absolute_name(module, each.target, each.level)
        found |= {target, *(f"{target}.{name}" for name in each.names)}
    return tuple(sorted(found))


def _compiled_names(module: Module, path: str, line: int) -> tuple[str, ...]:
    """What the compiled thing is called at its site, before and after."""
    return said.around(module.tree, line) if module.path == path else ()
