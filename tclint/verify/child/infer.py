"""Inputs guessed from signatures, annotations, names and defaults, repaired by reading errors until the target runs."""

from __future__ import annotations

import dataclasses
import inspect
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import ModuleType
from typing import Any

import torch
from torch import nn

from tclint.verify import guess, usage
from tclint.verify.child import standin
from tclint.verify.child.alone import found_missing
from tclint.verify.child.arguments import Wanted, is_described, values_for
from tclint.verify.child.construct import Making
from tclint.verify.child.inputs import Call, Example, NoInputs
from tclint.verify.child.load import find
from tclint.verify.child.needs import need_of
from tclint.verify.child.nested import Described, call_of
from tclint.verify.child.passed import argument, chooses, first_spec, layer_spec, parts_for
from tclint.verify.child.search import SECONDS as SEARCH
from tclint.verify.child.search import search, widths_of
from tclint.verify.child.signatures import (
    Parameter,
    hints_of,
    is_tensor,
    parameters_of,
    plain,
    rest_of,
    signature_of,
)
from tclint.verify.guess import WIDTH, Several, TensorSpec
from tclint.verify.job import Candidate, Job

SECONDS = 2.5
"""Of the processor, for all attempts with other arguments of a constructor."""
SOON = 0.6
"""For the search of inputs in each of them."""
REVISED = 12
"""Most other constructor arguments that are tried for one error of a call."""


def inferred_with_parts(job: Job, candidate: Candidate, module: ModuleType) -> Example | None:
    """The same with what a configuration leaves out by default."""
    try:
        target, _ = find(module, candidate.name)
    except LookupError:
        return None
    return inferred(job, candidate, module, rich=True) if isinstance(target, type) and _is_configured(target) else None


def _is_configured(target: type) -> bool:
    """Whether a class takes a configuration, or is described by its fields."""
    hints = hints_of(inspect.getattr_static(target, "__init__"))
    wanted = [(p.name, plain(hints.get(p.name, p.annotation))) for p in parameters_of(target)]
    return is_described(target) or any(
        guess.is_config(name) or (isinstance(kind, type) and is_described(kind)) for name, kind in wanted
    )


def inferred(job: Job, candidate: Candidate, module: ModuleType, rich: bool = False) -> Example | None:
    if candidate.name == "<module>":
        raise NoInputs("the line is at module level: listen to the program itself with `tclint verify -- python …`")
    try:
        target, method = find(module, candidate.name)
    except LookupError as missing:
        raise NoInputs(str(missing)) from missing
    if package := standin.package_below(target):
        raise NoInputs(f"{candidate.name} cannot be made: No module named '{package}', whose class it is built on")
    if isinstance(target, type) and method and isinstance(inspect.getattr_static(target, method), staticmethod):
        target, method = getattr(target, method), ""
    if isinstance(target, type) and issubclass(target, torch.optim.Optimizer):
        return _of_optimizer(candidate, target, job.root)
    if isinstance(target, type):
        if not (issubclass(target, nn.Module) or method or "__call__" in vars(target)):
            raise NoInputs(f"{candidate.name} is neither a module nor callable")
        return _of_class(job, candidate, target, method, rich)
    if inspect.isfunction(target) or callable(target):
        from tclint.verify.child.compiling import unwrapped

        plain = unwrapped(target)
        compiled = plain is not target
        built = example_of(
            lambda: target,
            plain,
            "",
            f"inferred from the signature of {candidate.name}",
            function=plain,
            root=job.root,
        )
        # A helper on the way from what the program compiles: the finding may be about what it is handed there.
        return dataclasses.replace(built, wrap=not compiled, unsure=candidate != job.candidates[0])
    raise NoInputs(f"{candidate.name} cannot be called")


def _of_class(job: Job, candidate: Candidate, target: type, method: str, rich: bool) -> Example:
    source = f"inferred from the signatures of {candidate.name}{', with all its parts' if rich else ''}"
    making = Making(target, job.root, rich)
    try:
        return _prepared(making, target, method, source, root=job.root)
    except NoInputs as missing:
        first = missing
    heard = [error for error in first.heard if not isinstance(error, ImportError)]
    if first.heard and not heard:
        # A package is missing, whatever the arguments are.
        raise first
    revised = [other for error in heard for other in islice(making.revised(error), REVISED)]
    counted = [p for p in parameters_of(target) if p.default is p.empty and guess.is_channels(p.name)]
    for channels in (3, WIDTH) if counted and not rich else ():
        revised.append(Making(target, job.root, rich, channels))
    if (found := _that_runs(revised, job, target, method, source)) is not None:
        return found
    if not rich:
        # The inputs that got furthest are near those that run what differs in one argument.
        near = first.nearest[0] if first.nearest else None
        first.further = lambda: _that_runs(making.varied(), job, target, method, source, near)
    raise first


def _that_runs(
    makings: Iterable[Making],
    job: Job,
    target: type,
    method: str,
    source: str,
    start: Mapping[str, Any] | None = None,
) -> Example | None:
    """The first of these for which inputs are found, in the time there is for all of them."""
    end = time.thread_time() + SECONDS
    for making in makings:
        if time.thread_time() > end:
            break
        try:
            return example_of(making, target, method, _told(source, making), start, root=job.root, seconds=SOON)
        except Exception:
            # What the first attempt said is told in the end.
            continue
    return None


def _told(source: str, making: Making) -> str:
    return f"{source}, with {making.channels} channels everywhere" if making.channels else source


def _of_optimizer(candidate: Candidate, target: type, root: str) -> Example:
    """An optimizer over a matrix and a vector that have gradients: what is run is its step."""
    required = [p for p in parameters_of(target) if p.default is p.empty][1:]
    hints = hints_of(inspect.getattr_static(target, "__init__"))
    given = {
        p.name: next(values_for(Wanted(p, hints.get(p.name, p.annotation), target, _nothing, root))) for p in required
    }

    def build() -> Any:
        weights = [nn.Parameter(torch.randn(WIDTH, WIDTH)), nn.Parameter(torch.randn(WIDTH))]
        for weight in weights:
            weight.grad = torch.randn_like(weight)
        return target(weights, **given).step

    source = f"the step of {candidate.name} over a matrix and a vector"
    try:
        with torch.no_grad():
            _alone(lambda: build()())
    except Exception as error:
        raise NoInputs(f"{source} does not run: {type(error).__name__}: {str(error)[:160]}") from error
    return Example(source, build, lambda: [Call()])


def _alone(act: Callable[[], Any]) -> None:
    """Do something, in a process group of one where it asks for one."""
    try:
        act()
    except Exception as error:
        if not found_missing(error):
            raise
        act()


def _nothing(_: type) -> Iterator[Any]:
    """What an optimizer takes besides its parameters are numbers and flags."""
    return iter(())


_PREPARES = re.compile(
    r"^(setup|set|init|build|make|reset|prepare|allocate)_\w*(cache|state|kv|rope|rotary|buffer|mask)"
)


def _prepared(build: Callable[[], Any], target: type, method: str, source: str, root: str) -> Example:
    """The example of a class; where it does not run as it is made, of one whose caches have been set up."""
    try:
        return example_of(build, target, method, source, root=root)
    except NoInputs as missing:
        first = missing
    for name in sorted(name for name in dir(target) if _PREPARES.match(name) and callable(getattr(target, name))):
        prepare = _with_call(build, target, name, root)
        try:
            prepare()
            return example_of(prepare, target, method, f"{source}, after {name}()", root=root)
        except Exception:
            # Another method may be the one; what the plain attempt said is told in the end.
            continue
    raise first


def _with_call(build: Callable[[], Any], target: type, name: str, root: str) -> Callable[[], Any]:
    """A maker that calls one method of what it makes, with arguments from their names and from the program."""
    function = getattr(target, name)
    parameters = [p for p in signature_of(function) if p.default is p.empty]
    hints = hints_of(function)
    passed = usage.literals_of(name, [p.name for p in parameters], root) if root else {}
    given = {p.name: _cache_size(p, hints.get(p.name, p.annotation), passed.get(p.name, ())) for p in parameters}

    def made() -> Any:
        model = build()
        with torch.no_grad():
            getattr(model, name)(**call_of(given, "cpu").kwargs)
        return model

    return made


def _cache_size(parameter: Parameter, annotation: Any, passed: Sequence[Any]) -> Any:
    if "batch" in parameter.name:
        return guess.BATCH
    if passed:
        return passed[0]
    value = argument(parameter, annotation, WIDTH)
    return value if value is not None else 64


def example_of(
    build: Callable[[], Any],
    target: Any,
    method: str,
    source: str,
    start: Mapping[str, Any] | None = None,
    function: Any = None,
    root: str = "",
    seconds: float = SEARCH,
) -> Example:
    """The example of a class or function whose call arguments are guessed. `start` adds to the required ones."""
    signed = function or getattr(target, method or ("__call__" if _calls_itself(target) else "forward"))
    parameters = signature_of(signed)
    hints = hints_of(signed)
    described = "\n".join([_source(signed), *(inspect.cleandoc(d) for d in _docs_above(target))])
    # A module is called by the names of its instances: what is passed to functions named `forward` says nothing of it.
    named = function is not None or method
    passed = (
        usage.literals_of(getattr(signed, "__name__", ""), [p.name for p in parameters], root) if root and named else {}
    )
    model = build()
    width = next(iter(widths_of(model)), WIDTH)
    required: dict[str, Any] = {}
    optional: dict[str, Any] = {}
    said: set[str] = set()
    for parameter in parameters:
        annotation = hints.get(parameter.name, parameter.annotation)
        value = argument(parameter, annotation, width)
        if isinstance(value, TensorSpec) and guess.from_jaxtyping(parameter.annotation) is None:
            told = guess.from_description(described, parameter.name, width)
            if told is None and parameter is parameters[0]:
                told = guess.from_input(described, parameter.name, width)
            said |= {parameter.name} if told is not None else set()
            value = told or layer_spec(signed, parameter, model) or value
        if isinstance(value, TensorSpec) and guess.is_mask(parameter.name) and chooses(signed, parameter.name):
            value = dataclasses.replace(value, dtype="bool")
        own = [item for item in passed.get(parameter.name, ()) if item is not None and _suits(item, annotation)]
        if own and not isinstance(value, Several) and not is_tensor(plain(annotation)):
            # What the program passes says more than a name.
            value = own[0]
        if parameter.default is parameter.empty and (
            parts := parts_for(signed, parameter, annotation, value, model, width)
        ):
            required |= parts
        elif parameter.default is parameter.empty:
            required[parameter.name] = value
        elif isinstance(value, (TensorSpec, Several)) or parameter.default is None:
            optional[parameter.name] = value
    first = first_spec(model)
    also: dict[str, Any] = {}
    if first is not None and required:
        name = next(iter(required))
        unsaid = name.lower() in (
            "x",
            "input",
            "inputs",
            "feat",
            "features",
            "hidden_states",
            "data",
            "z",
            "h",
            "images",
            "img",
        )
        if unsaid and isinstance(required[name], TensorSpec) and guess.from_jaxtyping(hints.get(name)) is None:
            if name in said and len(first.shape) != len(required[name].shape):
                # What is written about it, or what the first layer takes: the one may be flattened to the other.
                also = {name: first}
            else:
                required[name] = first
    required = {**guess.as_graph(required, width), **(start or optional_start(required, optional))}
    if not required and (rest := rest_of(signed)):
        required[f"*{rest}"] = Several((first or guess.tensor_for("x", width),))
    given = [p for p in parameters if p.default is p.empty]
    spare = [p.name for p in given if need_of(signed, p.name, model).may_be_none]
    function_of = (lambda made: getattr(made, method)) if method else (lambda made: made)
    making = (lambda: getattr(build(), method)) if method else build
    try:
        inputs = search(build, function_of, required, optional, seconds, spare, also)
    except NoInputs as missing:
        missing.partial = tuple(_called(source, making, near, partial=True) for near in missing.nearest)
        raise
    return _called(source, making, inputs)


def _suits(value: object, annotation: Any) -> bool:
    """Whether a constant is of the class that a parameter is annotated with: another callable of that name may take others."""
    wanted = plain(annotation)
    if not isinstance(wanted, type) or wanted is Parameter.empty:
        return True
    return isinstance(value, (int, float)) if wanted is float else isinstance(value, wanted)


def _called(source: str, build: Callable[[], Any], inputs: Mapping[str, Any], partial: bool = False) -> Example:
    shown = ", ".join(f"{name}={_shown(value)}" for name, value in inputs.items())
    return Example(f"{source} ({shown})", build, lambda: [call_of(inputs, "cpu")], unsure=partial, partial=partial)


def _calls_itself(target: Any) -> bool:
    """Whether a class says by `__call__` how it is called: one that is no module, or a module that has its own."""
    if not hasattr(target, "forward"):
        return True
    order = inspect.getmro(target) if isinstance(target, type) else ()
    owner = next((base for base in order if "__call__" in vars(base)), None)
    return owner not in (None, nn.Module) and bool(signature_of(target.__call__))


def _source(function: Any) -> str:
    """The signature and the docstring of a function as they are written, with their comments."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        return ""
    doc = function.__doc__ or ""
    first_body = text.find(doc[:40]) + len(doc) if doc and doc[:40] in text else text.find("\n", text.find("):"))
    return text[:first_body] if first_body > 0 else text


def _docs_above(target: Any) -> list[str]:
    """What a class says of itself: of its arguments there, where its `forward` says nothing."""
    return [target.__doc__] if isinstance(target, type) and target.__doc__ else []


def optional_start(required: Mapping[str, Any], optional: Mapping[str, Any]) -> dict[str, Any]:
    """A target with optional parameters only still wants its first tensor."""
    if required:
        return {}
    first = next((name for name, value in optional.items() if isinstance(value, TensorSpec)), None)
    return {first: optional[first]} if first is not None else {}


def _shown(value: Any) -> str:
    if isinstance(value, TensorSpec):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, Several):
        return f"{value.kind} of {len(value.items)}"
    if isinstance(value, Described):
        return f"{value.cls.__name__}(...)"
    return repr(value)[:40]
