"""The hooks that modules have: who registers them, and which of them run in what is compiled."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from tclint.interpreter.frame import Frame
from tclint.interpreter.recorded import Deed
from tclint.program import Class
from tclint.values import UNKNOWN, Compiled, Instance, Value


class Built(NamedTuple):
    """The hooks that constructors register."""

    hooks: Mapping[Hashable, Mapping[ast.AST, Value]]
    """By module and when they run, the hooks that it has, by the calls that register them."""
    handed: Mapping[ast.AST, Class]
    """Those in a module that the constructor was handed: by the call, the class whose constructor it is."""


class Hooks:
    """Knows which hooks modules have right now."""

    def __init__(self) -> None:
        self._held: dict[Hashable, dict[ast.AST, Value]] = {}
        self._lasting: dict[Hashable, dict[ast.AST, Value]] = {}
        """Those that a file registers while it is imported, or a constructor: they are there for whoever is entered after that."""
        self._of_all: set[ast.AST] = set()
        """The calls in constructors that register one."""
        self._handed: dict[ast.AST, Class] = {}
        """Those of them in a module that the constructor was handed: they are there for objects of this class alone."""
        self._roots: dict[ast.AST, Instance] = {}
        """By the calls that register one in eager code, the object in whose parts it is: `net` of `net.fc.register_forward_hook(f)`."""
        self._compiled: Value = UNKNOWN
        """What is compiled of the code that is run right now."""

    def __len__(self) -> int:
        return len(self._held)

    def begin(self) -> None:
        """Another entry into the program."""
        self._held = {module: dict(hooks) for module, hooks in self._lasting.items()}

    def add(self, deed: Deed) -> None:
        """A hook is registered."""
        self._held.setdefault(deed.of, {})[deed.node] = deed.value
        if deed.frame.constructing:
            self._of_all.add(deed.node)
        elif (root := _root(deed)) is not None:
            self._roots[deed.node] = root
        if _lasts(deed):
            self._lasting.setdefault(deed.of, {})[deed.node] = deed.value

    def remove(self, deed: Deed) -> None:
        """`handle.remove()`."""
        for registered in (self._held, self._lasting) if _lasts(deed) else (self._held,):
            for module, hooks in list(registered.items()):
                if hooks.pop(deed.of, None) is not None and not hooks:  # type: ignore[call-overload]
                    del registered[module]

    def handed(self, registered: ast.AST, registrar: Class) -> None:
        """A constructor of this class registers a hook in a module that it was handed."""
        self._handed[registered] = registrar

    def of(self, frame: Frame, module: Hashable, when: str) -> Mapping[ast.AST, Value]:
        """What a module calls `before` or `after` its forward, or in its `backward`, by the calls that register it."""
        known = self._held.get((module, when)) if self._held else None
        if not known:
            return {}
        around = _around(frame) if not self._handed.keys().isdisjoint(known) else ()
        return {
            registered: hook
            for registered, hook in known.items()
            if not self._is_of_another(registered) and _is_within(around, self._handed.get(registered))
        }

    def is_of_all(self, registered: ast.AST) -> bool:
        """Whether a hook is registered by a constructor: all objects of the class have it."""
        return registered in self._of_all

    # -- constructors that are run apart ------------------------------------------------------------------------

    @property
    def built(self) -> Built:
        """The hooks that constructors register."""
        kept = {of: {n: v for n, v in hooks.items() if n in self._of_all} for of, hooks in self._lasting.items()}
        return Built({of: hooks for of, hooks in kept.items() if hooks}, dict(self._handed))

    def learn(self, built: Built) -> None:
        """Know of the hooks that constructors have registered elsewhere."""
        self._handed.update(built.handed)
        for of, hooks in built.hooks.items():
            self._of_all.update(hooks)
            for registered in (self._held, self._lasting):
                registered.setdefault(of, {}).update(hooks)

    # -- what is compiled ---------------------------------------------------------------------------------------

    def in_force(self, frame: Frame | None) -> Hashable:
        """The hooks that only some compiled code runs into: what it gives depends on them."""
        if not self._held:
            return None
        registered = {node for hooks in self._held.values() for node in hooks} - self._of_all
        found: set[Hashable] = {node for node in registered if not self._is_of_another(node)}
        if self._handed and frame is not None:
            around = _around(frame)
            found |= {registrar for registrar in self._handed.values() if _is_within(around, registrar)}
        return frozenset(found) or None

    @contextmanager
    def compiling(self, target: Value) -> Iterator[None]:
        """Around a call from eager code of what is compiled."""
        outer, self._compiled = self._compiled, target
        try:
            yield
        finally:
            self._compiled = outer

    def _is_of_another(self, registered: ast.AST) -> bool:
        """Whether a hook is of another object than the one that is compiled, though they are of one class."""
        hooked, compiled = self._roots.get(registered), self._compiled
        if hooked is None or not isinstance(compiled, Instance) or not compiled.identity:
            return False
        return hooked.cls is compiled.cls and hooked.identity != compiled.identity


def _around(frame: Frame) -> tuple[Class, ...]:
    """The classes of the objects whose methods are running, and what they inherit."""
    found: dict[Class, None] = {}
    inner: Frame | None = frame
    while inner is not None:
        receiver = (
            next(iter(inner.env.values()), None) if inner.function is not None and inner.function.is_method else None
        )
        if isinstance(receiver, Instance):
            found |= dict.fromkeys(frame.interp.classes.mro(receiver.cls))
        inner = inner.parent
    return tuple(found)


def _is_within(around: Sequence[Class], registrar: Class | None) -> bool:
    return registrar is None or registrar in around


def _lasts(deed: Deed) -> bool:
    return deed.frame.function is None or deed.frame.constructing


def _root(hook: Deed) -> Instance | None:
    """The object that a walk has made and in whose parts a hook is registered."""
    node: ast.AST = hook.node
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    held = hook.frame.env.get(node.id) if isinstance(node, ast.Name) else None
    held = held.target if isinstance(held, Compiled) else held
    return held if isinstance(held, Instance) and held.identity else None
