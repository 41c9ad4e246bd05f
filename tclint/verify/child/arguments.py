"""What to pass for one argument of a constructor, from its annotation, from what is done with it, and from its name."""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import os
import sys
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import torch
from torch import nn

from tclint.verify import guess, usage
from tclint.verify.child.load import load
from tclint.verify.child.made_up import Settings, Through
from tclint.verify.child.needs import Need, attributes_read, need_of, tree_of
from tclint.verify.child.signatures import Parameter, is_settings, plain
from tclint.verify.docstrings import kind_in
from tclint.verify.guess import WIDTH
from tclint.verify.settings_read import TEXT, Read, joined, read_in

_PARTS = ("encoder", "decoder", "backbone", "model", "module", "net", "block", "layer", "fn", "proj")
FILES = 24
"""Most files that are read for what they do with one argument."""
SUBCLASSES = 3
"""Most classes below one that a parameter is annotated with that stand in for it."""

Maker = Callable[[type], Iterator[Any]]
"""Gives instances of a class, if it can be made."""


@dataclass(frozen=True)
class Wanted:
    """One argument, and whose it is."""

    parameter: Parameter
    annotation: Any
    target: type
    make: Maker
    """For the classes that arguments are instances of."""
    root: str = ""

    @property
    def name(self) -> str:
        return self.parameter.name

    def need(self) -> Need:
        for base in self.target.__mro__:
            maker = vars(base).get("__init__")
            if inspect.isfunction(maker) and self.name in inspect.signature(maker).parameters:
                return need_of(maker, self.name, self.target, base)
        return Need()


def values_for(wanted: Wanted) -> Iterator[Any]:
    """What to pass, likeliest first."""
    need = wanted.need()
    if wanted.parameter.kind is Parameter.VAR_POSITIONAL:
        yield from _several(wanted, need)
        return
    annotation = plain(wanted.annotation)
    if typing.get_origin(annotation) is typing.Literal:
        yield from typing.get_args(annotation)
        return
    if annotation in (Parameter.empty, Any):
        told, may_be_none = kind_in([doc for doc in _docs(wanted.target) if doc], wanted.name)
        if may_be_none:
            yield None
        annotation = told or annotation
    if annotation in (str, Parameter.empty, Any) or not isinstance(annotation, type):
        yield from [value for value in need.values if type(value) is str or annotation is not str][:4]
    yield from _annotated(wanted, annotation)
    if annotation is int:
        yield from [value for value in need.values if type(value) is int][:3]
    yield from _used(wanted, need)
    yield from _named(wanted)


def _several(wanted: Wanted, need: Need) -> Iterator[Any]:
    """For a parameter that takes all further arguments: parts of a model, or the sizes of a shape."""
    if need.element is not None:
        yield from ([item] * 2 for item in islice(_used(wanted, need.element), 2))
    yield [Through(), Through()]
    yield [guess.BATCH, -1]
    yield [WIDTH, WIDTH]


def _docs(target: type) -> Iterator[str | None]:
    """What a class and those above it say of themselves and of their making."""
    for base in target.__mro__:
        if base.__module__.partition(".")[0] not in ("torch", "builtins"):
            yield base.__doc__
            yield getattr(vars(base).get("__init__"), "__doc__", None)


def _annotated(wanted: Wanted, annotation: Any) -> Iterator[Any]:
    name = wanted.name
    origin = typing.get_origin(annotation)
    number = guess.number_for(name)
    if isinstance(annotation, type) and annotation is not Parameter.empty:
        if annotation is bool:
            yield False
            yield True
        elif annotation is int:
            yield 4 if number is None or 0 < number < 1 else int(number)
            yield 1
        elif annotation is float:
            yield float(number) if number is not None else 1.0
        elif annotation is str:
            yield guess.word_for(name) or "default"
        elif annotation is torch.device:
            yield torch.device("cpu")
        elif annotation is torch.dtype:
            yield torch.float32
        elif annotation is torch.Size:
            yield torch.Size((WIDTH,))
        elif issubclass(annotation, torch.Tensor):
            yield from _tensors(name)
        elif issubclass(annotation, enum.Enum):
            yield from list(annotation)[:3]
        elif annotation.__module__.partition(".")[0] not in ("torch", "builtins", "typing"):
            yield from _instances(wanted, annotation)
    if origin in (list, tuple) or annotation in (list, tuple) or _is_abstract_sequence(origin):
        yield from _sequence(wanted, [item for item in typing.get_args(annotation) if item is not Ellipsis])
    if origin is dict or annotation is dict:
        yield {}
    if origin is type:
        yield from _factories(name)


def _is_abstract_sequence(origin: Any) -> bool:
    return getattr(origin, "__module__", "") == "collections.abc" and origin.__name__ in ("Sequence", "Iterable")


def _instances(wanted: Wanted, annotation: type) -> Iterator[Any]:
    """Of the class itself; where it is only a promise, of what is below it."""
    if guess.is_config(wanted.name) and _takes_anything(annotation):
        yield Settings(read_of(wanted))
    promise = is_promise(annotation)
    if not promise:
        yield from wanted.make(annotation)
    below = [cls for cls in _below(annotation) if not is_promise(cls)]
    for cls in sorted(below, key=_required)[:SUBCLASSES]:
        yield from wanted.make(cls)
    if promise and not inspect.isabstract(annotation):
        yield from wanted.make(annotation)
    if issubclass(annotation, nn.Module):
        yield Through()


def is_promise(cls: type) -> bool:
    """Whether a class only says what those below it do: it is abstract, or its `forward` raises and nothing else."""
    if inspect.isabstract(cls):
        return True
    forward = getattr(cls, "forward", None)
    function = tree_of(forward) if inspect.isfunction(forward) else None
    body = function.body if function is not None else []
    said = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return bool(body) and all(isinstance(s, (ast.Pass, ast.Raise)) for s in said)


def _takes_anything(cls: type) -> bool:
    """Whether a class says nothing of what it holds: a namespace, a dict with dots."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return issubclass(cls, dict)
    return bool(parameters) and all(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)


def _below(cls: type) -> list[type]:
    found: dict[type, None] = {}
    waiting = [cls]
    while waiting and len(found) < 64:
        below: list[type] = type.__subclasses__(waiting.pop())
        for one in below:
            if one not in found:
                found[one] = None
                waiting.append(one)
    return list(found)


def _required(cls: type) -> tuple[int, str]:
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return 99, cls.__name__
    plain_ones = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    return sum(p.default is p.empty for p in plain_ones), cls.__name__


def _used(wanted: Wanted, need: Need) -> Iterator[Any]:
    """From what the class does with it."""
    name = wanted.name
    own = {part for part in need.attributes if not hasattr(nn.Module, part)}
    if own and not need.is_mapping:
        yield from _with_attributes(wanted, own, need)
    if own & TEXT and not any(hasattr(torch.Tensor, part) for part in own):
        yield guess.word_for(name) or name
    if need.is_applied and not need.is_called:
        yield Through()
        yield nn.Linear(WIDTH, WIDTH)
    if need.is_called:
        yield from _classes_near(wanted, own)
        yield from _factories(name)
    if need.is_mapping or need.keys:
        yield {key: _setting(key) for key in need.keys}
    if need.is_sequence:
        for item in islice(_used(wanted, need.element), 3) if need.element is not None else ():
            yield [item] * max(need.length, 2)
        yield from _sequence(wanted, [], need.length)
    known = [cls for cls in need.classes if cls not in (list, tuple, int, float, str, bool, dict)]
    for cls in known[:2]:
        yield from wanted.make(cls)
    if own and not need.is_applied and not need.is_mapping:
        yield Settings(read_of(wanted), **{part: partial(_answer, part) for part in need.methods})


def _classes_near(wanted: Wanted, attributes: set[str]) -> list[type]:
    """Module classes beside the target that an argument may be which it makes parts of: those that have what is asked of
    it, or are named like it."""
    beside = vars(sys.modules.get(wanted.target.__module__, sys)).values()
    found = {v for v in beside if isinstance(v, type) and issubclass(v, nn.Module) and v is not wanted.target}
    plain_name = wanted.name.removesuffix("_class").removesuffix("_cls").replace("_", "").lower()

    def fits(cls: type) -> bool:
        if attributes:
            return all(hasattr(cls, name) for name in attributes)
        return len(plain_name) > 3 and plain_name in cls.__name__.lower()

    return sorted((cls for cls in found if fits(cls)), key=lambda cls: cls.__name__)[:SUBCLASSES]


def read_of(wanted: Wanted) -> Read:
    """What the files do with an argument that holds settings: that of the class, and those of what it builds on."""
    return joined(read_in(text, wanted.name) for text in _texts(wanted.target))


@lru_cache(maxsize=64)
def _texts(target: type) -> tuple[str, ...]:
    """The source of a class's file; then of the files of its bases, and of what of its own package the file imports."""
    top = target.__module__.partition(".")[0]
    names = dict.fromkeys(base.__module__ for base in target.__mro__)
    for value in list(vars(sys.modules.get(target.__module__, sys)).values()):
        names.setdefault(str(getattr(value, "__module__", "") or ""))
    found = []
    for name in [name for name in names if name.partition(".")[0] == top][:FILES]:
        try:
            found.append(inspect.getsource(sys.modules[name]))
        except (OSError, TypeError, KeyError):
            # A module without a file: it says nothing.
            continue
    return tuple(found)


def _answer(name: str, *_: Any, **__: Any) -> Any:
    """What a method of that name gives, of an object that nobody described: `vocabulary.size()`, `data.num(field)`."""
    return _setting(name)


def _setting(key: str) -> Any:
    number = guess.number_for(key)
    return number if number is not None else guess.word_for(key) or 4


def _with_attributes(wanted: Wanted, attributes: set[str], need: Need) -> Iterator[Any]:
    """Instances of what has these attributes: tensors, a linear layer, classes of the program."""
    holds_others = bool(read_of(wanted).holders & attributes)
    if not holds_others and all(hasattr(torch.Tensor, name) for name in attributes):
        yield from _tensors(wanted.name)
    if attributes <= {"weight", "bias", "in_features", "out_features"}:
        yield nn.Linear(WIDTH, WIDTH)
    for path, name in usage.classes_with(attributes, wanted.root)[:SUBCLASSES] if wanted.root else ():
        made = _class_of(path, name, wanted.root)
        if isinstance(made, type) and (issubclass(made, nn.Module) or not need.is_applied):
            yield from wanted.make(made)


def _class_of(path: str, name: str, root: str) -> Any:
    """What a file of the program calls so; None where the file cannot be imported."""
    try:
        return getattr(load(path, root), name, None)
    except (Exception, SystemExit):
        return None


def _tensors(name: str) -> Iterator[torch.Tensor]:
    if guess.is_mask(name):
        yield torch.ones(guess.BATCH, guess.SEQUENCE, dtype=torch.bool)
    if guess.tensor_for(name).dtype == "int64":
        yield torch.zeros(WIDTH, dtype=torch.int64)
    yield torch.ones(WIDTH)
    yield torch.ones(guess.BATCH, WIDTH)


def _convolution(inputs: int, outputs: int, kernel_size: Any = 3, *_: Any, bias: bool = True, **__: Any) -> nn.Module:
    size = kernel_size if isinstance(kernel_size, int) else 3
    return nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=bias)


def _factories(name: str) -> Iterator[Any]:
    """What makes a layer, by what the parameter is called."""
    if "conv" in name:
        yield _convolution
    elif "norm" in name:
        yield nn.BatchNorm2d
        yield nn.LayerNorm
    elif "act" in name or "nonlin" in name:
        yield nn.GELU
    elif "linear" in name:
        yield nn.Linear
    elif "optim" in name:
        yield partial(torch.optim.SGD, lr=1e-3)
    yield nn.Identity


def _sequence(wanted: Wanted, items: list[Any], length: int = 0) -> Iterator[Any]:
    name = wanted.name
    number = guess.number_for(name.removesuffix("s"))
    inner = plain(items[0]) if items else None
    size: Any = int(number) if number is not None and number >= 1 else 2
    if inner is float or (isinstance(number, float) and number < 1):
        size = float(number if number is not None else 1.0)
    elif inner is str:
        size = guess.word_for(name.removesuffix("s")) or "x"
    elif inner is not int and number is None and (word := guess.word_for(name.removesuffix("s"))):
        size = word
    elif inner is bool:
        size = False
    elif isinstance(inner, type) and inner not in (int, list, tuple, dict):
        for made in wanted.make(inner):
            yield [made] * max(length, 2)
    elif typing.get_origin(inner) in (list, tuple) or inner in (list, tuple):
        size = [size] * max(2, len([item for item in typing.get_args(inner) if item is not Ellipsis]))
    yield [size] * max(length, len(items) if len(items) > 1 else 2)
    for other in (3, 4, 5, 1):
        yield [size] * other
    yield []


def _named(wanted: Wanted) -> Iterator[Any]:
    """From the name alone."""
    name = wanted.name
    number = guess.number_for(name)
    if f"_{name}".endswith("_name"):
        yield "a"
    if name.endswith(("_layer", "_cls", "_class", "_fn", "_type")):
        yield nn.LayerNorm if "norm" in name else nn.GELU if "act" in name else nn.Identity
    if guess.is_config(name):
        for near in [*_configs_near(wanted.target)[:2], *_configs_like(wanted.target, name, wanted.root)]:
            yield from wanted.make(near)
        yield Settings(read_of(wanted))
    if name in ("act", "activation", "nonlinearity"):
        yield nn.GELU()
        yield "relu"
    if number is not None:
        yield number
        yield [number if isinstance(number, float) and number < 1 else int(number) or 2] * 2
    each = guess.number_for(name.removesuffix("s"))
    if number is None and each is not None and each >= 1:
        yield [int(each)] * 2
    if guess.is_flag(name):
        yield False
    if any(part in name for part in _PARTS):
        yield Through()
        yield nn.Linear(WIDTH, WIDTH)
    if word := guess.word_for(name):
        yield word
    yield WIDTH
    yield Settings(read_of(wanted))


def _configs_near(target: type) -> list[type]:
    """Config classes that the module of a class knows, the one named most like the class first."""
    module = sys.modules.get(target.__module__)
    found = {
        value
        for value in (vars(module).values() if module is not None else ())
        if isinstance(value, type) and is_settings(value) and value.__name__ != "PreTrainedConfig"
    }
    return sorted(found, key=lambda item: (-len(os.path.commonprefix([item.__name__, target.__name__])), item.__name__))


def _configs_like(target: type, name: str, root: str) -> Iterator[type]:
    """Classes of the project that have every field that the constructor reads from its configuration."""
    read = attributes_read(inspect.getattr_static(target, "__init__"), name)
    for path, found in usage.classes_with(read, root)[:2] if root else ():
        made = _class_of(path, found, root)
        if isinstance(made, type):
            yield made


def is_described(cls: type) -> bool:
    """Whether the fields of a class are all that there is to it."""
    return dataclasses.is_dataclass(cls) or is_settings(cls)
