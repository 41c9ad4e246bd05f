"""Objects of the program: how they are built, and what reading, calling and indexing them gives."""

from __future__ import annotations

import ast
import builtins
import collections
import fnmatch
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from tclint import events
from tclint.interpreter import (
    answering,
    built_names,
    choices,
    constructors,
    enumerations,
    fitting,
    heirs,
    parameters,
    registries,
)
from tclint.interpreter.bindings import holder_of, owner_of
from tclint.interpreter.constructions import Constructions
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.expressions import unturned
from tclint.interpreter.first_use import use_of
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import hooks, loaded, modules, tokenizers
from tclint.program import Class, Function
from tclint.values import (
    ARRAY,
    NONE,
    RAW,
    TRUE,
    UNKNOWN,
    ClassValue,
    Compiled,
    Const,
    Dict,
    FunctionValue,
    Instance,
    Member,
    Object,
    Scalar,
    Seq,
    Super,
    Tensor,
    Union,
    Value,
    scalar_type,
)
from tclint.values.moments import GROWS
from tclint.values.value import MAX_NESTING, OBJECT

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_PLAIN: Final = {"builtins": builtins, "collections": collections}
"""Where classes come from whose attributes can be looked up."""
_MAX_BUILDING_DEPTH: Final = 20
"""How deep in compiled code constructors are followed."""
_ROWS: Final = 16
"""Rows of an object that are asked for one by one."""
_SEQUENCES: Final = ("builtins.list", "builtins.tuple")


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns) or r"(?!)")


class Objects:
    """Builds objects of the program's classes and answers for them."""

    choice = staticmethod(choices.choice)

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._memo = interp.memo
        self._learned = interp.learned
        self._emitter = interp.emitter
        self.constructions = Constructions(interp)
        self._tokenizer = _any_of(interp.options.tokenizers)

    # -- construction -------------------------------------------------------------------------------------------

    def construct(
        self,
        frame: Frame,
        node: ast.AST,
        cls: Class,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        """The value of `Class(*args, **keywords)`."""
        made = self._construct(frame, node, cls, args, keywords)
        if open_ended:
            made = self.constructions.left_open(frame, node, made)
        if isinstance(made, Instance) and frame.region is None:
            made = self.constructions.switched(made, args, keywords, open_ended)
        if frame.region is None and isinstance(made, Instance) and not open_ended:
            made = self._interp.heap.allocate(made, args, keywords)
            init = self._interp.classes.find_method(cls, "__init__") if made.identity else None
            if init is not None and constructors.captures(init):
                self._interp.heap.build_by_running(made)
                self._run_constructor(frame, node, cls, made, args, keywords, open_ended)
            return made
        if frame.region is not None and isinstance(made, (Instance, Tensor)):
            self._run_constructor(frame, node, cls, made, args, keywords, open_ended)
        return made

    def _run_constructor(
        self,
        frame: Frame,
        node: ast.AST,
        cls: Class,
        made: Instance | Tensor,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool,
    ) -> None:
        """What compiled code builds it traces: the constructor runs there. What it gives the object is found out apart."""
        classes = self._interp.classes
        if isinstance(made, Instance) and made.fields is not None or frame.depth >= _MAX_BUILDING_DEPTH:
            return
        first: tuple[tuple[str, Value], ...] = (("__new__", ClassValue(cls)), ("__init__", made))
        for name, receiver in first if frame.region is not None else first[1:]:
            method = classes.find_method(cls, name)
            if method is not None and not fitting.given_twice(method, [receiver, *args], keywords):
                env = parameters.bind(
                    self._interp, method, [receiver, *args], keywords, open_ended, frame.region is not None
                )
                self._interp.functions.run(frame, node, FunctionValue(method, receiver), env, frame.region)

    def _construct(
        self, frame: Frame, node: ast.AST, cls: Class, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        self._emitter.emit(events.ProgramCall, frame, node, ClassValue(cls), args, keywords)
        self.constructions.made(frame, node, cls, args, keywords)
        classes = self._interp.classes
        if classes.find_method(cls, "__init__") is None:
            fields = classes.fields(cls)
            if fields:
                held = dict(zip(fields, args, strict=False))
                held.update({k: v for k, v in keywords.items() if k in fields})
                inner = max([value.nesting() for value in held.values()], default=0)
                return Instance(cls, "fields", held, inner + 1) if inner < MAX_NESTING else Instance(cls)
            if enumerations.is_enumeration(self._interp, cls):
                return enumerations.by_value(frame, node, cls, args[0] if len(args) == 1 else UNKNOWN)
        base = classes.external_base(cls)
        if base.endswith(tokenizers.CLASS_ENDINGS):
            return Object(tokenizers.TOKENIZER, frame.origin(node))
        if base == "torch.Tensor":
            return Tensor(origin=frame.origin(node), cls=cls)
        given: list[tuple[Any, Value]] = [*enumerate(args), *keywords.items()]
        deciding = [(place, value) for place, value in given if value.decides_code()]
        inner = max([value.nesting() for _, value in deciding], default=-1)
        # What is left out is None as a rule: an object made from these tensors holds something else than one made from those.
        tensors = [(place, "tensor") for place, value in given if type(value) is Tensor]
        context: Any = (*((p, value.key) for p, value in deciding), *tensors) if inner < MAX_NESTING else "deep"
        instance = Instance(cls, context, nesting=inner + 1)
        return self.constructions.of(instance, args, keywords)

    # -- attributes ---------------------------------------------------------------------------------------------

    def attribute(self, frame: Frame, node: ast.AST, instance: Instance, name: str) -> Value:
        """The value of `instance.name`."""
        interp = self._interp
        exact = frame.region is None and instance.identity
        held = interp.heap.read(instance, name) if exact else None
        if held is not None and not (isinstance(held, Dict) and registries.holds(interp, instance, name)):
            return held
        if instance.fields is not None and name in instance.fields:
            return instance.fields[name]
        cls = instance.cls
        order = interp.classes.mro(cls)
        if frame.region is not None:
            answering.tell_getattribute(frame, node, cls)
        late = self._late(instance, name) if not exact or not interp.heap.untouched(instance, name) else None
        if late is not None:
            return late
        attributes = interp.instance_attributes.of(instance)
        value = attributes.get(name)
        if value is not None:
            if frame.region is not None and self._worth_telling(frame, instance, name, value):
                self._emitter.emit(events.Attribute, frame, node, instance, name)
            if frame.region is None and ("attribute", cls.module.path, cls.qualname, name) in self._learned.counted:
                if isinstance(value, Seq):
                    return Seq(value.kind, None, value.element(), GROWS)
                if value.python_type in ("int", "float", "number"):
                    return Scalar(value.python_type, "counted", frame.origin(node))
            if isinstance(value, Member) and not exact and not unturned.is_kept(frame, instance, name):
                return Union((value, UNKNOWN))
            return self.as_read(value, name, frame, node)
        for ancestor in order:
            method = ancestor.methods.get(name)
            if method is not None:
                return self._method(frame, node, instance, method)
            assigned = ancestor.assignments.get(name)
            if assigned is not None:
                held = (
                    (interp.classes.constant(ancestor, assigned) if exact else None)
                    or (unturned.switch(frame, instance, name) if frame.constructing else None)
                    or (unturned.own(frame, instance, name) if frame.region is None else None)
                    or interp.classes.assigned(ancestor, assigned, name, frame, node)
                )
                if isinstance(held, Instance) and interp.classes.find_method(held.cls, "__get__") is not None:
                    self._emitter.feature(frame, node, "descriptor")
                answering.tell_read(frame, node, instance, "attribute of the class of")
                if isinstance(held, Object) and held.name == "functools.partialmethod":
                    self._emitter.feature(frame, node, held.name)
                return held
        inherited = modules.inherited_attribute(frame, node, instance, name)
        if inherited is not None:
            return inherited
        if name == "__dict__":
            self._emitter.feature(frame, node, "__dict__ of an object")
            return Dict({}, UNKNOWN)
        if name[:1] == "_" and interp.classes.external_base(cls) == "typing.NamedTuple":
            self._emitter.feature(
                frame, node, "method of a typing.NamedTuple" if name != "_fields" else "fields of a namedtuple"
            )
        if frame.region is not None and self._is_asked_for(cls, order, name):
            self._emitter.feature(frame, node, "__getattr__ that is no function")
        dynamic = attributes.get("*")
        if (
            dynamic is not None
            and UNKNOWN not in dynamic.options  # under this name that one may lie
            and not name.startswith(("__", "*"))
            and built_names.may_be(name, order)
            and interp.classes.find_method(cls, "__getattr__") is None
        ):
            return dynamic
        set_later = interp.instance_attributes.later(instance, name) if frame.region is not None else None
        return self.as_read(set_later or UNKNOWN, name, frame, node)

    def _is_asked_for(self, cls: Class, order: Sequence[Class], name: str) -> bool:
        """Whether `__getattr__ = dict.__getitem__` answers: no class of the program has the name, and no builtin below them."""
        if not any("__getattr__" in each.assignments for each in order) or self._interp.classes.is_nn_module(cls):
            return False
        module, _, base = self._interp.classes.external_base(cls).rpartition(".")
        below = _PLAIN.get(module)
        return name[:2] != "__" and (not base or below is not None and not hasattr(getattr(below, base, None), name))

    def _late(self, instance: Instance, name: str) -> Value | None:
        """A compiled callable that was stored in an attribute after the constructor."""
        late = self._learned.late
        if late:
            for ancestor in self._interp.classes.mro(instance.cls):
                stored = late.get((ancestor.module.path, ancestor.qualname))
                mine = heirs.of_heir(self._interp, instance, name, stored[name]) if stored and name in stored else None
                if mine is not None:
                    return mine
        return None

    def _is_anothers(self, frame: Frame, node: ast.AST, cls: Class, name: str) -> bool:
        """Whether a part was compiled (`self.part.forward = …`) by a class whose objects never run the code at hand."""
        holder = holder_of(frame, node.func) if isinstance(node, ast.Call) else None
        if holder is None or frame.function is None:
            return False
        classes = self._interp.classes
        for ancestor in classes.mro(cls):
            within = self._learned.late_within.get((ancestor.module.path, ancestor.qualname, name))
            if within is not None:
                runs = classes.find_method(within, frame.function.name) is frame.function
                return within not in classes.mro(holder) and not runs
        return False

    def _worth_telling(self, frame: Frame, instance: Instance, name: str, value: Value) -> bool:
        """An attribute whose reading can cost recompiles: rebound by eager code, or different for each compiled layer."""
        if (instance.cls.module.path, instance.cls.qualname, name) in self._learned.rebound:
            return True
        site = frame.region.site if frame.region is not None else None
        return site is not None and (site.many or site.decorator) and isinstance(value, (Scalar, Object))

    def constant_attribute(self, frame: Frame, node: ast.expr | None) -> str | None:
        """The text that a class or a constructor gives an attribute (`cfg.mode`), which others read as any text."""
        if not isinstance(node, ast.Attribute):
            return None
        with self._interp.emitter.silence:
            owner = evaluate(frame, node.value)
        if not isinstance(owner, Instance):
            return None
        given = self._interp.instance_attributes.of(owner).get(node.attr)
        for ancestor in self._interp.classes.mro(owner.cls) if given is None else ():
            assigned = ancestor.assignments.get(node.attr)
            if assigned is not None:
                given = self._interp.names.assigned(ancestor.module, assigned, generalise=False)
                break
        return given.value if isinstance(given, Const) and isinstance(given.value, str) else None

    def as_read(self, value: Value, name: str, frame: Frame, node: ast.AST) -> Value:
        """An attribute as code elsewhere sees it: constants may have been changed by then."""
        if value.rank == OBJECT:
            return value  # most attributes that are read hold layers
        if isinstance(value, Const):
            if value.value is None:
                return Union((NONE, UNKNOWN))
            kind = scalar_type(value.value)
            return Scalar(kind, "attr", frame.origin(node)) if kind != "other" else UNKNOWN
        if isinstance(value, Scalar):
            promised = value.among if isinstance(value.origin.node, ast.arg) else ()
            return Scalar(value.type, "attr", frame.origin(node), None, promised)
        if isinstance(value, Tensor) and value.ndim == 0 and value.flags & ARRAY:
            return value.with_(flags=value.flags | RAW)
        return self._by_name(value, name, frame, node)

    def _by_name(self, value: Value, name: str, frame: Frame, node: ast.AST) -> Value:
        if value is UNKNOWN and self._tokenizer.match(name):
            return Object(tokenizers.TOKENIZER, frame.origin(node))
        return value

    def _method(self, frame: Frame, node: ast.AST, instance: Instance, method: Function) -> Value:
        kind = self._interp.classes.method_kind(method)
        if kind == "property":
            cached = self._interp.classes.is_cached(method)
            if frame.region is not None and cached:
                read = f".cached {ast.unparse(node)}"  # the first read leaves it in the object, where a second one finds it
                if read not in frame.env:
                    self._emitter.feature(frame, node, "cached_property")
                frame.env[read] = TRUE
            answering.tell_read(frame, node, instance, "property of")
            given = self._interp.functions.call(frame, node, FunctionValue(method, instance), [], {})
            if cached and frame.constructing:  # it lies in the object now, where compiled code finds it
                self._interp.instance_attributes.store(frame, instance, method.name, given)
            return given
        decorated = self._interp.functions.value(method)
        if kind == "static":
            return decorated
        return decorated.bound_to(ClassValue(instance.cls) if kind == "class" else instance)

    def super_attribute(self, frame: Frame, node: ast.AST, value: Super, name: str) -> Value:
        """The value of `super().name`, as far as the program defines it."""
        instance = value.instance
        cls = instance.cls if isinstance(instance, (Instance, ClassValue)) else None
        if cls is None:
            return UNKNOWN
        order = self._interp.classes.mro(cls)
        start = order.index(value.after) + 1 if value.after in order else 1
        for ancestor in islice(order, start, None):
            method = ancestor.methods.get(name)
            if method is not None:
                if self._interp.classes.method_kind(method) == "property" and isinstance(instance, Instance):
                    if (used := use_of(frame, node)) is not None:
                        self._emitter.feature(*used, "property of super()")
                    return self._interp.functions.call(frame, node, FunctionValue(method, instance), [], {})
                return self._interp.functions.value(method).bound_to(instance)
            assigned = ancestor.assignments.get(name)
            if assigned is not None:
                held = self._interp.classes.assigned(ancestor, assigned, name, frame, node)
                answering.tell_super_data(frame, node, held, ancestor, name)
                return held
        answering.tell_super(frame, node, instance, name)
        behind = islice(order, max(start - 1, 0), None)
        built = loaded.builder(frame, node, cls, name, list(behind)) if isinstance(instance, ClassValue) else None
        return built or UNKNOWN

    tell_method = staticmethod(answering.tell_method)

    def dynamic_attribute(self, instance: Instance) -> Value:
        """`getattr(instance, name)` with a name that is not known."""
        return self._interp.instance_attributes.of(instance).get("*", UNKNOWN)

    # -- what Python asks of objects ----------------------------------------------------------------------------

    def _call_method(
        self,
        frame: Frame,
        node: ast.AST,
        instance: Instance,
        method: Function,
        args: Sequence[Value] = (),
        keywords: Mapping[str, Value] = {},
        open_ended: bool = False,
    ) -> Value:
        bound = self._interp.functions.value(method).bound_to(instance)
        return bound.call(frame, node, args, keywords, open_ended)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        instance: Instance,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        """The value of `instance(*args, **keywords)`."""
        if frame.region is not None:
            hooks.of_constructor(self._interp, instance)
        if not self._interp.recordings.hooks:
            return self._called(frame, node, instance, args, keywords, open_ended)
        args, keywords = hooks.before(frame, node, instance, list(args), dict(keywords))
        result = self._called(frame, node, instance, args, keywords, open_ended)
        return hooks.after(frame, node, instance, args, keywords, result)

    def _called(
        self,
        frame: Frame,
        node: ast.AST,
        instance: Instance,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool,
    ) -> Value:
        paused = self._interp.graph_memory.paused
        if frame.region is None and not paused and instance.key in self._learned.compiled_instances:
            compiled = Compiled(instance, self._learned.compiled_instances[instance.key])
            return self._interp.compile_sites.call(frame, node, compiled, args, keywords, open_ended)
        if frame.region is None:
            self._interp.recordings.run(frame, owner_of(instance), node)
        for name in ("__call__", "forward"):
            method = self._interp.classes.find_method(instance.cls, name)
            patched = self._late(instance, name) if method is not None and name == "forward" else None
            if isinstance(patched, Compiled) and self._is_anothers(frame, node, instance.cls, name):
                patched = None
            if isinstance(patched, Compiled) and method is not None:
                # `net.forward = torch.compile(net.forward)`
                forward = self._interp.functions.value(method).bound_to(instance)
                return Compiled(forward, patched.site).call(frame, node, args, keywords, open_ended)
            if method is not None:
                return self._call_method(frame, node, instance, method, args, keywords, open_ended)
        base = self._interp.classes.external_base(instance.cls)
        if base.startswith("torch.nn.") and base != "torch.nn.Sequential":
            return modules.inherited_forward(frame, node, instance, base, args, keywords)
        return UNKNOWN

    def meant(
        self, options: Sequence[Value], name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Sequence[Value]:
        """Those of several things that a call may mean; `name` is the method that it calls, if any."""
        return fitting.meant(self._interp, options, name, args, keywords)

    def ask(self, frame: Frame, node: ast.AST, instance: Instance, *names: str) -> Value:
        """What asks an object without a word, `str(instance)`, runs the first of these methods that it has."""
        for name in names:
            method = self._interp.classes.find_method(instance.cls, name)
            if method is not None:
                return self._call_method(frame, node, instance, method)
        return UNKNOWN

    def tuple_fields(self, instance: Instance) -> tuple[Value, ...] | None:
        """The items of a tuple-like object: the fields that are not None."""
        if instance.fields is None:
            return None
        return tuple(v for v in instance.fields.values() if not (isinstance(v, Const) and v.value is None))

    def item(self, frame: Frame, node: ast.AST, instance: Instance, index: Value) -> Value:
        """`instance[index]`: a field of a tuple-like class, or its `__getitem__`."""
        if instance.fields is not None:
            fields = self.tuple_fields(instance) or ()
            if isinstance(index, Const) and isinstance(index.value, int) and -len(fields) <= index.value < len(fields):
                return fields[index.value]
            if isinstance(index, Const) and index.value in instance.fields:
                return instance.fields[index.value]
            return UNKNOWN
        method = self._interp.classes.find_method(instance.cls, "__getitem__")
        return self._call_method(frame, node, instance, method, [index]) if method is not None else UNKNOWN

    def iterate(self, frame: Frame, node: ast.AST, instance: Instance) -> Value:
        """What iterating over an object gives."""
        method = self._interp.classes.find_method(instance.cls, "__iter__")
        if method is not None:
            result = self._call_method(frame, node, instance, method)
            if isinstance(result, (Seq, Object, Dict, Tensor)):
                return result.iterate(frame, node)
        elif self._interp.classes.external_base(instance.cls) in _SEQUENCES:
            given, _ = self._learned.constructions.get(instance.key, ((), {}))
            return given[0].iterate(frame, node) if given else UNKNOWN  # a list of the program's own, made of another
        return UNKNOWN

    def walked(self, frame: Frame, node: ast.AST, instance: Instance) -> Value | None:
        """What a loop of eager code over an object walks: what its `__iter__` gives, or its rows by their numbers."""
        find = self._interp.classes.find_method
        method = find(instance.cls, "__iter__")
        if method is not None:
            result = self._call_method(frame, node, instance, method)
            return result if isinstance(result, (Seq, Object, Dict, Tensor)) else None
        length, item = find(instance.cls, "__len__"), find(instance.cls, "__getitem__")
        many = self._call_method(frame, node, instance, length) if length is not None and item is not None else None
        if item is None or not isinstance(many, Const) or type(many.value) is not int or many.value > _ROWS:
            return None
        rows = [self._call_method(frame, node, instance, item, [Const(row)]) for row in range(many.value)]
        return Seq("list", tuple(rows))

    def is_instance(self, instance: Instance, wanted: Value) -> bool | None:
        """`isinstance(instance, wanted)`, None where it cannot be told."""
        return heirs.is_one(self._interp, instance.cls, wanted)
