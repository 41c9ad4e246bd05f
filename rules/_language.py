"""Which feature of the language an event shows, by its name in the facts: `__float__` where `float(…)` asks an object."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Container, Iterator
from typing import Final

from tclint.events import Assert, Attribute, Call, Event, Format, Loop, ProgramCall, Store
from tclint.program import Function
from tclint.rules._scope import of_file, scope
from tclint.ruleset.rule import span
from tclint.sources.tree import ancestors
from tclint.torch_facts import dtypes, facts, features
from tclint.values import (
    ARRAY,
    ENUM,
    INPUT,
    RAW,
    ClassValue,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Object,
    Scalar,
    Seq,
    Value,
    tensor_of,
)
from tclint.values.object import CAUGHT, MADE, TRACEBACK
from tclint.values.sequence import HANDED

ENUMERATION: Final = "enumeration"


def told(name: str, release: str) -> str:
    """A feature at which the graph breaks on the release, in words; nothing where it does not."""
    feature = features.broken(name, release)
    return feature.words + span(features.span(feature)) if feature is not None else ""


def advice(name: str, release: str) -> str:
    """What to do about a feature, where it is worth saying."""
    feature = features.broken(name, release)
    return feature.help if feature is not None else ""


def of_call(event: Call) -> str | None:
    """What `float(object)` and its like ask an object of the program."""
    value = event.args[0] if event.args else event.receiver
    if event.name == "builtins.isinstance" and len(event.args) == 2 and isinstance(event.node, ast.Call):
        union = event.node.args[1] if len(event.node.args) == 2 else None
        return "isinstance of a union" if isinstance(union, ast.BinOp) else None
    if event.method in ("getattr", "setattr") and len(event.args) > 1 and _is_text_of_tensor(event.args[1]):
        return f"{event.method}() by the text of a tensor"
    if event.name == "builtins.getattr" and len(event.args) > 1 and isinstance(event.args[1], Object):
        return f"getattr() by a member of an {ENUMERATION}" if event.args[1].name == ENUM else None
    if isinstance(event.node, ast.Call) and isinstance(event.node.func, ast.Subscript):
        return "builtin class with type arguments" if event.name.startswith("builtins.") else None
    if isinstance(event.receiver, (Seq, Dict)) and event.method in _KEEPS and _is_of_class(event):
        return f"change of a {event.name.partition('.')[0]} of a class"
    if _by_class(event):
        return f"method of {event.name.rpartition('.')[0]} by its class"
    if event.name == f"{_OPERATOR}.__call__":
        return NO_FAKE if _needs_fake(event) else None
    if isinstance(value, ClassValue):
        return of_class(event, value, event.method)
    if event.name == "builtins.dir" and value is not None:
        return "dir() of an object" if isinstance(value, Instance) else None
    if isinstance(event.receiver, Object) and event.receiver.name == ENUM:
        return f"method of a text of an {ENUMERATION}" if _is_of_text(event) else f"method of an {ENUMERATION}"
    if isinstance(event.receiver, Object):
        named = f"{event.method}() of a {event.receiver.name}"
        if named in features.table().features:
            return named
    if isinstance(event.node, ast.Call) and event.method == "__call__" and not _makes_what_is_called(event, event.node):
        return f"call of a {event.name.removesuffix('.__call__')} that was made outside"
    if event.name == "dataclasses.replace" and isinstance(event.node, ast.Call) and event.node.args:
        return f"{event.name} of what was made here" if event.ask.is_made_here(event.node.args[0]) else None
    if event.name == "builtins.vars" and isinstance(value, Object) and value.name.startswith("torch.nn."):
        return "vars() of a module of torch"
    if not isinstance(value, Instance):
        return _of_form(event, value) or of_object(event)
    if event.name == "builtins.vars" and not event.ask.is_nn_module(value.cls):
        return "vars() of an object"
    if event.name == "builtins.hasattr" or event.name == "builtins.getattr" and len(event.args) == 3:
        how = "hasattr()" if event.method == "hasattr" else "getattr() with a default"
        return f"{how} of an object with __getattr__" if has(event, value, "__getattr__") else None
    if event.name in ("builtins.max", "builtins.min") and len(event.args) > 1 and not event.keywords:
        return "max() of objects"
    asked = f"__{event.method}__"
    if has(event, value, asked):
        return asked
    return of_object(event)


def of_object(event: Call) -> str | None:
    """What is asked of an object of the program that something outside it is given: `sum(rows)`, `names.extend(rows)`."""
    place = next((i for i, each in enumerate(event.args) if isinstance(each, Instance)), None)
    if place is None:
        return None
    value, node = event.args[place], event.node
    written = isinstance(node, ast.Call) and len(node.args) == len(event.args)
    given = node.args[place] if isinstance(node, ast.Call) and written else None
    known = features.table().features
    who, below = event.ask.walked(value, given), event.ask.below(value, given)
    if event.name == "builtins.dict" and isinstance(value, Instance) and has(event, value, "keys"):
        return f"{event.name}() of an object with keys"
    for name in (f"{event.name}() of {who}", f"{event.method}() of {below}", f"{_MAKES.get(event.method)} {below}"):
        if name in known:
            return name
    if not walks(event):
        return None
    return "__iter__ by a builtin" if who == "an object" else f"walk by a builtin of {below}"


_KEEPS: Final = facts.methods("writes a container")


def _is_of_class(event: Call) -> bool:
    """Whether a method is called of an attribute of a class of the program: `Log.items.append(…)`."""
    function = event.node.func if isinstance(event.node, ast.Call) else None
    place = function.value if isinstance(function, ast.Attribute) else None
    return isinstance(place, ast.Attribute) and isinstance(event.ask.evaluate(place.value), ClassValue)


_MAKES: Final = {"int": "conversion of", "float": "conversion of"}


def _of_form(event: Call, value: Value | None) -> str | None:
    """A way of calling a builtin that is a feature of its own."""
    many = len(event.args)
    if event.name == "ndarray.astype" and many:
        return "astype() of an array to object" if _is_object(event.args[0]) else None
    if event.name == "numpy.array":
        return f"{event.name} of texts" if isinstance(value, Seq) and value.element().python_type == "str" else None
    if event.name == "torch._check":
        message = event.args[1] if many > 1 else None
        captures = isinstance(message, FunctionValue) and bool(
            message.function.free_names() & (message.closure or {}).keys()
        )
        return f"{event.name} with a message that captures" if captures else None
    if event.name == "torch.nn.Module.to":
        # A module has the default dtype unless it is told another.
        other = isinstance(value, External) and dtypes.exact(value.name) not in ("", "float32")
        return "to() of a module with another dtype" if other else None
    if event.name == "torch.nn.utils.clip_grad_norm_":
        return f"{event.name} of what has gradients"
    if event.name == "torch.nn.Sequential":
        return f"{event.name} that is made here" if event.receiver is None else None
    if event.name == "torch.nested.nested_tensor":
        return f"{event.name} of a tensor" if value is not None and tensor_of(value) is not None else None
    if event.receiver is not None and "from" in event.keywords:
        return f"{event.name} with from"
    if event.name == "collections.namedtuple" and isinstance(event.keywords.get("defaults"), Seq):
        return "namedtuple with tensors for defaults" if _holds_tensors(event.keywords["defaults"]) else None
    if event.name.startswith("itertools."):
        if event.method == "groupby" and many > 1:
            return f"{event.name} with its key by position"
        if _of_endless(event):
            return f"{event.name} of an endless iterator"
        return " with ".join((event.name, *event.keywords))
    if event.name in ("builtins.max", "builtins.min") and "default" in event.keywords:
        walked = isinstance(value, Seq) and value.kind == "generator"
        return "max() with a default" if walked else None
    if event.name in facts.named("takes a key") and (key := event.keywords.get("key")):
        if event.method != "sorted" and (part := part_of_dict(event, event.node)):
            return f"max() of the {part} of a dict with a key"
        if isinstance(value, Seq) and isinstance(value.element(), Instance):
            return f"{_EXTREME.get(event.method, event.method)}() of objects with a key"
        what = "tensors" if _holds_tensors(value) else "plain values"
        whose = "" if isinstance(key, FunctionValue) else " that is no function of the program"
        return f"{_EXTREME.get(event.method, event.method)}() of {what} with a key{whose}"
    if event.name in ("builtins.max", "builtins.min") and isinstance(value, Seq) and many == 1:
        if isinstance(value.element(), Instance):
            return "max() of a list of objects"
    if event.receiver is not None and isinstance(event.receiver, Seq) and event.receiver.kind in ("set", "frozenset"):
        written = event.node.func if isinstance(event.node, ast.Call) else None
        holder = written.value if isinstance(written, ast.Attribute) else None
        if isinstance(holder, ast.Name) and of_file(event, holder.id):
            return f"{event.method}() of a {event.receiver.kind} that is held"
    if event.name == "builtins.next" and isinstance(value, Seq) and value.kind == "generator":
        if _is_held(event, event.node) or is_handed_in(value):
            return "next() of a generator that is held"
    if isinstance(value, Seq) and value.kind == "generator" and walks(event):
        if _is_held(event, event.node) or is_handed_in(value):
            return "walk by a builtin of a generator that is held"
    if event.name == "builtins.next" and many == 2:
        return "next() with a default"
    if event.name == "builtins.zip" and _of_endless(event):
        return "zip() of an endless iterator"
    if event.name == "builtins.dict" and many and event.keywords:
        return "dict() of a dict with keywords"
    if event.name == "dict.update" and event.keywords:
        return "update() of a dict with keywords"
    if event.name in ("builtins.max", "builtins.min") and many == 1 and (part := part_of_dict(event, event.node)):
        return f"max() of the {part} of a dict"
    if event.method in ("_make", "_replace", "_asdict"):
        return "method of a namedtuple"
    if event.name == "collections.defaultdict" and isinstance(value, External):
        return f"defaultdict of {value.name}"
    if event.name == "builtins.filter" and isinstance(value, Const) and value.value is None:
        return "filter(None, …)"
    if event.name == "builtins.map" and many > 2:
        return "map() of several"
    if event.name == "builtins.enumerate" and (many > 1 or "start" in event.keywords):
        return "enumerate() with a start"
    if event.name == "builtins.iter" and many == 2:
        return "iter() with a sentinel"
    if event.name.endswith(("Error", "Exception")) and event.name.startswith("builtins."):
        return "exception that is made"
    if isinstance(event.receiver, Seq) and event.receiver.kind == "generator":
        return f"{event.method}() of a generator"
    return None


def _is_of_text(event: Call) -> bool:
    """Whether a method of a member is that of a text, which the member is as well: `class Mode(str, Enum)`."""
    name = event.receiver.kind.rpartition(".")[0] if isinstance(event.receiver, Object) else ""
    cls = event.ask.module_value(name)
    if not isinstance(cls, ClassValue) or event.ask.method(cls.cls, event.method) is not None:
        return False
    return event.ask.external_base(cls.cls).lower().endswith((".str", ".strenum")) and hasattr(str, event.method)


def _by_class(event: Call) -> bool:
    """`str.upper(name)`: a method that takes the object as its first argument."""
    owner, _, method = event.name.removeprefix("builtins.").partition(".")
    held = getattr(builtins, owner, None) if method and event.name.startswith("builtins.") else None
    return event.receiver is None and isinstance(held, type) and inspect.ismethoddescriptor(getattr(held, method, None))


def _is_text_of_tensor(value: Value) -> bool:
    return isinstance(value, Scalar) and (value.type, value.source) == ("str", "tensor")


def _is_object(value: Value) -> bool:
    named = isinstance(value, External) and value.name == "builtins.object"
    return named or isinstance(value, Const) and value.value == "O"


def is_handed_in(value: Seq) -> bool:
    """Whether whoever calls the compiled function passes this: it is there before the function runs."""
    return value.length == HANDED


def _is_held(event: Event, node: ast.AST) -> bool:
    """Whether the first argument, or what a loop goes through, is an attribute or a name of the file: made in another frame."""
    given = node.args[0] if isinstance(node, ast.Call) and node.args else getattr(node, "iter", node)
    return isinstance(given, ast.Attribute) or isinstance(given, ast.Name) and of_file(event, given.id)


def _made(event: Event, node: ast.expr) -> bool:
    """Whether compiled code makes what an expression gives: on the spot, or under a name of the function."""
    return isinstance(node, ast.Call) or (isinstance(node, ast.Name) and event.ask.local(node.id) is not None)


def _makes_what_is_called(event: Call, node: ast.Call) -> bool:
    """Whether compiled code makes the object that is called: here, or, handed over as in `sorted(…, key=…)`, by a builtin."""
    called = event.receiver.origin.node if isinstance(event.receiver, Object) else None
    handed = (*node.args, *(keyword.value for keyword in node.keywords))
    return _made(event, node.func) or any(each is called or _is_local(event, each, called) for each in handed)


def _is_local(event: Event, node: ast.expr, made: ast.AST | None) -> bool:
    held = event.ask.local(node.id) if isinstance(node, ast.Name) else None
    return isinstance(held, Object) and made is not None and held.origin.node is made


_EXTREME: Final = {"min": "max"}
_ENDLESS: Final = facts.named("never ends")


def _of_endless(event: Call) -> bool:
    """Whether an argument is made on the spot by what never ends."""
    given = event.node.args if isinstance(event.node, ast.Call) else ()
    made = [(event.ask.evaluate(each.func), len(each.args)) for each in given if isinstance(each, ast.Call)]
    times = "itertools.repeat"  # with a second argument it does end
    return any(isinstance(m, External) and m.name in _ENDLESS and (n < 2 or m.name != times) for m, n in made)


def _holds_tensors(value: Value | None) -> bool:
    """Whether what is gone through gives tensors, or tuples with one."""
    element = value.element() if isinstance(value, (Seq, Dict)) else None
    inner = element.items or () if isinstance(element, Seq) else ()
    return element is not None and any(tensor_of(each) is not None for each in (element, *inner))


def part_of_dict(event: Event, node: ast.AST) -> str:
    """`values` where this is `d.values()` of a dict, or a call of it."""
    made = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else node
    function = made.func if isinstance(made, ast.Call) and not made.args else None
    if not isinstance(function, ast.Attribute) or function.attr not in facts.named("gives a view of a dict"):
        return ""
    return function.attr if isinstance(event.ask.evaluate(function.value), Dict) else ""


def of_write(event: Store) -> str | None:
    """What is written: an attribute of a tensor, an item of what is outside the program."""
    if event.target == "attribute" and _is_exception(event.receiver, made=True):
        return "write of an attribute of an exception"
    if event.target == "subscript" and isinstance(event.receiver, External):
        typed = event.receiver.name.startswith("typing.")
        return f"write of an item of {'a type of typing' if typed else event.receiver.name}"
    if event.target == "attribute" and isinstance(event.receiver, External):
        return f"write of an attribute of {event.receiver.name}"
    if event.target == "attribute" and isinstance(event.receiver, Object):
        name = f"write of an attribute of a {event.receiver.name}"
        made = f"{name} that is made here"
        return made if made in features.table().features and _is_made_here(event) else name
    if event.target == "attribute" and isinstance(event.receiver, Instance) and isinstance(event.value, Scalar):
        return "text of a tensor that is kept" if _is_text_of_tensor(event.value) else None
    tensor = tensor_of(event.receiver)
    if event.target != "attribute" or tensor is None:
        return None
    if tensor.flags & ARRAY:
        return f"write of the {event.name} of an array"
    if event.name == "grad":
        return "write of the gradient of a tensor"
    known = facts.at(facts.NEWEST)
    asked = known.attribute("tensor", event.name) or known.method("tensor", event.name)
    comes_in = tensor.flags & (INPUT | RAW) == INPUT | RAW
    return None if asked else f"write of an attribute of a tensor{' that comes in' if comes_in else ''}"


def _is_made_here(event: Store) -> bool:
    """Whether compiled code makes the object of which an attribute is written."""
    targets = event.node.targets if isinstance(event.node, ast.Assign) else [getattr(event.node, "target", event.node)]
    owners = [each.value for each in targets if isinstance(each, ast.Attribute)]
    return bool(owners) and all(event.ask.is_made_here(owner) for owner in owners)


def of_loop(event: Loop) -> str | None:
    value = event.iterable
    if isinstance(value, Object):
        return f"loop over a {value.name}"
    if isinstance(value, Seq) and value.kind == "generator" and (_is_held(event, event.node) or is_handed_in(value)):
        return "loop over a generator that is held"
    if isinstance(value, ClassValue):
        return of_class(event, value, "iter")
    if isinstance(value, Instance):
        who = event.ask.walked(value, getattr(event.node, "iter", None))
        return {"an object": "__iter__", "an object with __getitem__": "__getitem__ in a loop"}.get(
            who, f"loop over {who}"
        )
    return None


def of_format(event: Format) -> str | None:
    value = event.value
    if not isinstance(value, Instance) or not isinstance(event.node, ast.FormattedValue):
        return None
    if is_enum(event, value):
        return None  # its members are constants to Dynamo, whatever their `__str__` (run on 2.13)
    names = ("__repr__",) if event.node.conversion == ord("r") else ("__format__", "__str__", "__repr__")
    plain = "dataclass in an f-string" if value.fields is not None else "object in an f-string"
    if isinstance(next(reversed(ancestors(scope(event), event.node)[:-1]), None), ast.Assign):
        plain = ""  # Dynamo makes the text where somebody asks for it
    if event.ask.external_base(value.cls):
        plain = f"text of {event.ask.below(value, event.node.value)}"
    return next((f"{name} in an f-string" for name in names if has(event, value, name)), plain)


def given_by_method(node: ast.AST, methods: Container[str]) -> str:
    """An argument of a call that one of these methods gives, as it is written; nothing where there is none."""
    given = (*node.args, *(k.value for k in node.keywords)) if isinstance(node, ast.Call) else ()
    calls = (each for each in given if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute))
    return next((ast.unparse(each) for each in calls if getattr(each.func, "attr", "") in methods), "")


def of_decorators(event: ProgramCall, function: Function) -> Iterator[str]:
    """What calling a function needs that stands under decorators."""
    for decorator in function.decorators if function.module is event.module else ():
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        value = event.ask.evaluate(node)
        if isinstance(value, External) and function.cls is not None:
            yield f"method under {value.name}"
        if isinstance(value, Object) and value.name == "contextlib.contextmanager":
            yield "function under a @contextmanager"
        if isinstance(value, External):
            yield from _of_decorated(event, value.name)
        elif isinstance(value, ClassValue):
            yield f"function under {event.ask.external_base(value.cls)}"


def _of_decorated(event: ProgramCall, decorator: str) -> Iterator[str]:
    """A function under a decorator that is not of the program; some ask what their first argument is."""
    name = f"function under {decorator}"
    if f"{name} of a tensor" not in features.table().features:
        yield name
    elif event.args:
        sort = _sort(event.args[0])
        yield f"{name} of {sort}" if sort else name


_OPERATOR: Final = "torch.library.custom_op"
MISSING: Final = "import of a package that is not there"
NO_FAKE: Final = f"function under {_OPERATOR}"
"""An operator of which nothing says what its result looks like: torch.compile raises, whatever else it may leave out."""


def _needs_fake(event: Call) -> bool:
    """Whether an operator gives something and nothing in its file says of what size."""
    made = event.receiver.args if isinstance(event.receiver, Object) else None
    if not isinstance(made, FunctionValue):
        return False
    function = made.function
    gives = getattr(function.node, "returns", None)
    told = any(word in function.module.data for word in (b"register_fake", b"impl_abstract"))
    return gives is not None and not (isinstance(gives, ast.Constant) and gives.value is None) and not told


def _sort(value: Value) -> str:
    """What an argument is, as the features of `singledispatch` say it; nothing of a plain value. What nobody knows is taken
    for a tensor, at which the fewest releases break."""
    if isinstance(value, (Const, Scalar)):
        return "a text" if value.python_type == "str" else ""
    if isinstance(value, Dict):
        return "a dict"
    if isinstance(value, Instance):
        return "an object"
    return f"a {value.kind}" if isinstance(value, Seq) and value.kind in ("list", "tuple") else "a tensor"


def of_class(event: Event, value: ClassValue, short: str) -> str | None:
    """What a class is asked: its metaclass answers."""
    if is_enum(event, value):
        return f"{ENUMERATION} in {short}()" if short != "iter" else f"{ENUMERATION} in a loop"
    meta = metaclass(event, value)
    if meta is not None and has(event, Instance(meta.cls), f"__{short}__"):
        return f"__{short}__ of a metaclass"
    return None


def is_enum(event: Event, value: ClassValue | Instance) -> bool:
    return event.ask.external_base(value.cls).startswith("enum.")


def metaclass(event: Event, value: ClassValue) -> ClassValue | None:
    node = next((k.value for k in value.cls.node.keywords if k.arg == "metaclass"), None)
    found = event.ask.module_value(node.id, value.cls.module) if isinstance(node, ast.Name) else None
    return found if isinstance(found, ClassValue) else None


def has(event: Event, value: Instance, method: str) -> bool:
    return event.ask.method(value.cls, method) is not None


def walks(event: Call) -> bool:
    """Whether a builtin goes through what it is given."""
    return event.name in facts.named("walks any iterable")


def of_assert(event: Assert) -> str | None:
    """What is asserted for itself: Dynamo hands it to a check of the graph, which takes plain values and tensors alone."""
    if isinstance(event.test, Instance):
        own = " with a truth of its own" if any(has(event, event.test, n) for n in ("__bool__", "__len__")) else ""
        plain = event.ask.is_nn_module(event.test.cls) or not event.ask.external_base(event.test.cls)
        below = "" if plain else " below a class of Python"
        return f"assert of an object{own}{below}"
    return "assert of a module" if isinstance(event.test, Object) and event.test.name.startswith("torch.nn.") else None


def of_exception(event: Call | Attribute | Format) -> str | None:
    """What is asked of an exception that a handler caught."""
    if isinstance(event, Attribute):
        if isinstance(event.receiver, Object) and event.receiver.name == TRACEBACK:
            return f"{event.name} of a traceback"
        return f"{event.name} of an exception" if _is_exception(event.receiver) else None
    if isinstance(event, Format):
        return "exception in an f-string" if _is_exception(event.value) else None
    if event.name.startswith("traceback.") and "handler" in event.blocks:
        return f"{event.name} in a handler"
    if event.args and _is_exception(event.args[0], made=event.method == "hasattr"):
        return f"{event.method}() of an exception"
    return f"{event.method}() of an exception" if event.receiver is not None and _is_exception(event.receiver) else None


def of_attribute(event: Attribute) -> str | None:
    """An attribute of an object of a class outside the program, which some releases know only where it was made here."""
    if not isinstance(event.receiver, Object) or not isinstance(event.node, ast.Attribute):
        return None
    held = event.ask.is_held(event.node.value)
    if held is None:
        return None
    return f"attribute of a {event.receiver.name} that is {'held' if held else 'made here'}"


def _is_exception(value: Value, made: bool = False) -> bool:
    """Whether a handler caught this, or compiled code made it."""
    return isinstance(value, Object) and (value.kind == CAUGHT or made and value.kind == MADE)
