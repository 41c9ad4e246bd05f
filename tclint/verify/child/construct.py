"""Instances of classes nobody described: constructor arguments from annotations, names, defaults and the program's own."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import os
import sys
import textwrap
import types
import typing
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from tclint.verify import guess, usage
from tclint.verify.child.inputs import NoInputs
from tclint.verify.child.load import load
from tclint.verify.child.shrunk import is_config, shrunk
from tclint.verify.guess import WIDTH

Parameter = inspect.Parameter


class Settings:
    """Stands in for a config object nobody described: answers each attribute with what its name suggests."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = guess.number_for(name)
        if value is None:
            if guess.is_flag(name):
                value = False
            elif word := guess.word_for(name):
                self.__dict__[name] = word
                return word
            else:
                raise AttributeError(f"nothing is known of the setting {name!r}")
        elif guess.is_flag(name) and not isinstance(value, int):
            value = False
        self.__dict__[name] = value
        return value

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)

    __getitem__ = __getattr__

    def __contains__(self, name: str) -> bool:
        return guess.number_for(name) is not None


def signature_of(function: Any) -> list[Parameter]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise NoInputs(f"its signature cannot be read: {error}") from error
    return [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != "self"]


def hints_of(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:
        # Annotations that need a missing import: their text still helps.
        return dict(getattr(function, "__annotations__", {}))


def plain(annotation: Any) -> Any:
    """`X` for `Optional[X]`, `X | None` and `Annotated[X, ...]`."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        options = [item for item in typing.get_args(annotation) if item is not type(None)]
        return plain(options[0]) if options else annotation
    if origin is typing.Annotated:
        return plain(typing.get_args(annotation)[0])
    return annotation


def is_tensor(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return "Tensor" in annotation
    return isinstance(annotation, type) and issubclass(annotation, torch.Tensor)


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
    try:
        source = textwrap.dedent(inspect.getsource(target.__init__))  # type: ignore[misc]
    except (OSError, TypeError):
        return
    for path, found in usage.classes_with(usage.attributes_read(source, name), root)[:2] if root else ():
        made = getattr(load(path, root), found, None)
        if isinstance(made, type):
            yield made


def _constructor_values(
    parameter: Parameter, annotation: Any, depth: int, target: type, rich: bool = False, root: str = ""
) -> Iterator[Any]:
    """What to pass for a required parameter of a constructor, likeliest first."""
    name = parameter.name
    wanted = plain(annotation)
    origin = typing.get_origin(wanted)
    number = guess.number_for(name)
    if isinstance(wanted, type) and depth < 3:
        if wanted is bool:
            yield False
            yield True
        elif wanted is int:
            yield 4 if number is None or 0 < number < 1 else int(number)
            yield 1
        elif wanted is float:
            yield float(number) if number is not None else 1.0
        elif wanted is str:
            yield guess.word_for(name) or "default"
        elif wanted is torch.device:
            yield torch.device("cpu")
        elif wanted is torch.dtype:
            yield torch.float32
        elif issubclass(wanted, nn.Module):
            yield from _made(wanted, depth, rich)
            yield nn.Identity()
        elif dataclasses.is_dataclass(wanted) or is_settings(wanted):
            yield from _made(wanted, depth, rich)
    if origin in (list, tuple) or wanted in (list, tuple):
        size = int(number) if number else 2
        yield [size, size]
        yield [size] * 4
        yield []
    if origin is dict or wanted is dict:
        yield {}
    if origin is type or name.endswith(("_layer", "_cls", "_class", "_fn", "_type")):
        yield nn.LayerNorm if "norm" in name else nn.GELU if "act" in name else nn.Identity
    if name in ("config", "cfg", "args", "hparams", "opt", "params", "options", "conf", "settings", "hps", "configs"):
        for near in [*_configs_near(target)[:2], *_configs_like(target, name, root)] if depth < 3 else ():
            yield from _made(near, depth, rich)
        yield Settings()
    if name in ("act", "activation", "nonlinearity"):
        yield nn.GELU()
        yield "relu"
    if number is not None:
        yield number
        yield [int(number) or 2] * 2
    if guess.is_flag(name):
        yield False
    if any(
        part in name
        for part in ("encoder", "decoder", "backbone", "model", "module", "net", "block", "layer", "fn", "proj")
    ):
        yield nn.Identity()
        yield nn.Linear(WIDTH, WIDTH)
    if word := guess.word_for(name):
        yield word
    yield WIDTH
    yield Settings()


def is_settings(wanted: type) -> bool:
    return wanted.__name__.endswith(("Config", "Args", "Settings", "Params", "Options", "ModelArgs"))


def _made(wanted: type, depth: int, rich: bool = False) -> Iterator[Any]:
    """An instance of a class that a parameter is annotated with."""
    try:
        yield shrunk(wanted) if is_config(wanted) else construct(wanted, depth + 1, rich=rich)
    except Exception:
        # The next alternative of the caller stands in for it.
        return


def construct(target: type, depth: int = 0, root: str = "", rich: bool = False) -> Any:
    """An instance with guessed arguments. Raises NoInputs with the last error where none fits."""
    maker: Any = inspect.getattr_static(target, "__init__")
    parameters = signature_of(maker) if maker is not object.__init__ else []
    hints = hints_of(maker)
    required = [p for p in parameters if p.default is p.empty]
    choices = {
        p.name: list(_constructor_values(p, hints.get(p.name, p.annotation), depth, target, rich, root))
        for p in required
    }
    if root:
        for name, values in usage.literals_of(target.__name__, [p.name for p in parameters], root).items():
            if name in choices:
                small = [value for value in values if not (isinstance(value, int) and value > guess.WIDTH * 4)]
                choices[name] = [*small[:2], *choices[name]]
    if dataclasses.is_dataclass(target) or is_settings(target):
        choices |= _small_fields(parameters, rich)
    picks = {name: values[0] for name, values in choices.items() if values}
    last: Exception | None = None
    for attempt in _combinations(picks, choices):
        try:
            torch.manual_seed(0)
            return target(**copy.deepcopy(attempt))
        except Exception as error:
            last = error
    wanted = ", ".join(p.name for p in required) or "nothing"
    raise NoInputs(f"{target.__name__}({wanted}) cannot be made: {type(last).__name__}: {str(last)[:200]}")


def _small_fields(parameters: list[Parameter], rich: bool) -> dict[str, list[Any]]:
    """Defaults of a config that would make a model too large to run here, replaced by small ones."""
    found: dict[str, list[Any]] = {}
    for parameter in parameters:
        default = parameter.default
        if rich and type(default) is int and default == 0 and guess.number_for(parameter.name) in (2, 4):
            # A part that is left out by default: experts, adapters, memory tokens.
            found[parameter.name] = [guess.number_for(parameter.name), 0]
        elif isinstance(default, int) and not isinstance(default, bool) and default > 64:
            number = guess.number_for(parameter.name)
            if number:
                found[parameter.name] = [int(number), default]
        elif isinstance(default, int) and not isinstance(default, bool) and default > 4:
            few = guess.number_for(parameter.name)
            if few in (2, 4, 8) and few < default:
                found[parameter.name] = [int(few), default]
    return found


def _combinations(picks: dict[str, Any], choices: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """The first choices, then one changed at a time, then two."""
    yield picks
    for name, values in choices.items():
        for value in values[1:5]:
            yield {**picks, name: value}
    names = list(choices)
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            for left in choices[first][1:3]:
                for right in choices[second][1:3]:
                    yield {**picks, first: left, second: right}
