"""What a function says of its parameters."""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any

import torch

from tclint.verify.child.inputs import NoInputs

Parameter = inspect.Parameter


def signature_of(function: Any) -> list[Parameter]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise NoInputs(f"its signature cannot be read: {error}") from error
    return [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != "self"]


def rest_of(function: Any) -> str:
    """The name of the parameter that takes all further positional arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ""
    return next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")


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


def is_settings(wanted: type) -> bool:
    return wanted.__name__.endswith(("Config", "Args", "Settings", "Params", "Options", "ModelArgs"))


def parameters_of(target: type) -> list[Parameter]:
    """What a constructor takes, also what it only hands on: `**kwargs` stands for the parameters of the one above it."""
    found: dict[str, Parameter] = {}
    for base in target.__mro__:
        maker = vars(base).get("__init__")
        if maker is None:
            continue
        if base.__module__.partition(".")[0] == "builtins" or not inspect.isfunction(maker):
            break
        given = list(inspect.signature(maker).parameters.values())[1:]
        for parameter in given:
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                found.setdefault(parameter.name, parameter)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in given) or base is torch.nn.Module:
            break
    maker = target.__new__
    if not found and inspect.isfunction(maker):
        # A tuple with names is made before it could be initialised.
        found = {p.name: p for p in signature_of(maker)[1:]}
    return list(found.values())


def rest_parameter(target: type) -> Parameter | None:
    """The parameter of a constructor that takes all further positional arguments, where it keeps them for itself."""
    maker = maker_of(target)
    given = list(inspect.signature(maker).parameters.values()) if inspect.isfunction(maker) else []
    handed_on = any(p.kind is p.VAR_KEYWORD for p in given)
    return next((p for p in given if p.kind is p.VAR_POSITIONAL and not handed_on), None)


def maker_of(target: type) -> Any:
    """The function that says what a class is made with."""
    maker = inspect.getattr_static(target, "__init__")
    return maker if inspect.isfunction(maker) or not inspect.isfunction(target.__new__) else target.__new__


def own_parameters(target: type) -> frozenset[str]:
    """The names that the nearest constructor takes itself."""
    maker = maker_of(target)
    return frozenset(inspect.signature(maker).parameters) if inspect.isfunction(maker) else frozenset()
