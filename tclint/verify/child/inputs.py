"""Where a target and its calls come from: the sources in their order, each giving an `Example` or saying why not."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import islice
from types import CellType, FunctionType, GeneratorType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import torch

from tclint.verify import usage
from tclint.verify.child.load import find, load
from tclint.verify.job import Candidate, Job
from tclint.verify.makers import key_of
from tclint.verify.registered import registered


@dataclass(frozen=True)
class Call:
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Example:
    """A target that can be made again and again, each time fresh, and the calls to make."""

    source: str
    build: Callable[[], Callable[..., Any]]
    calls: Callable[[], list[Call]]
    wrap: bool = True
    """False where the program compiles by itself."""
    given: bool = False
    """The calls are a sequence somebody chose: no sweep is added to them."""
    by_hand: bool = False
    """Somebody wrote it for tclint, and says by it what is compiled."""
    reference: Callable[[], Any] | None = None
    """What the calls must give, computed another way: a graph captured by hand cannot be switched off."""
    unsure: bool = False
    """Something was put into the calls that nobody says is of the right kind: what happens is real, what does not is not."""
    partial: bool = False
    """A call raises in the end, compiled or not: what it does before that is real all the same."""
    seen: bool = False
    """Somebody has seen it run a line that is asked about."""


ITEMS = 16
"""Most that is taken from a generator."""


def consumed(result: Any, read: Callable[[Any], Any] = lambda item: item) -> Any:
    """What a call gives, read. A generator has done nothing yet: its first items are taken, and each read before the next."""
    return [read(item) for item in islice(result, ITEMS)] if isinstance(result, GeneratorType) else read(result)


class NoInputs(Exception):
    """A source cannot serve this target; the words say what is missing."""

    def __init__(
        self, words: str, heard: tuple[Exception, ...] = (), nearest: tuple[Mapping[str, Any], ...] = ()
    ) -> None:
        super().__init__(words)
        self.heard = heard
        """What the target raised when it was called: the first time, and where it got furthest."""
        self.nearest = nearest
        """The arguments with which it got furthest, one set for each line at which it ended."""
        self.partial: tuple[Example, ...] = ()
        """Examples that run a part of the target, and raise then."""
        self.further: Callable[[], Example | None] | None = None
        """What is left to try once other sources have failed, too."""


class BadFactory(Exception):
    """A factory of the configuration that cannot be imported or does not work; the words name its key."""


Source = Callable[[Job, Candidate, ModuleType], Example | None]
"""None: not applicable. NoInputs: applicable, but failed."""


def as_calls(value: Any) -> list[Call]:
    """The calls a factory returned, in any of the shapes people write."""
    if isinstance(value, Call):
        return [value]
    if isinstance(value, torch.Tensor):
        return [Call((value,))]
    if isinstance(value, Mapping):
        return [Call((), dict(value))]
    if not isinstance(value, (list, tuple)):
        return [Call((value,))]
    if isinstance(value, list) and value and all(isinstance(item, (tuple, list, Mapping, Call)) for item in value):
        return [as_call(item) for item in value]
    return [as_call(value)]


def as_call(value: Any) -> Call:
    if isinstance(value, Call):
        return value
    if isinstance(value, Mapping):
        return Call((), dict(value))
    if (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and isinstance(value[0], (tuple, list))
        and isinstance(value[1], Mapping)
        and all(isinstance(key, str) for key in value[1])
    ):
        return Call(tuple(value[0]), dict(value[1]))
    if isinstance(value, (tuple, list)):
        return Call(tuple(value))
    return Call((value,))


def module_of(value: Any) -> torch.nn.Module | None:
    """The module that something is, or whose method it is."""
    owner = value.__self__ if isinstance(value, MethodType) else value
    return owner if isinstance(owner, torch.nn.Module) else None


def on_device(value: Any, device: str, dtype: torch.dtype | None = None) -> Any:
    """Tensors and modules of a nested value on a device, floating ones in a dtype."""
    if (module := module_of(value)) is not None:
        module.to(device, dtype)
        return value
    if isinstance(value, torch.Tensor):
        return value.to(device, dtype) if dtype and value.is_floating_point() else value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(on_device(item, device, dtype) for item in value))
    if type(value) in (list, tuple):
        return type(value)(on_device(item, device, dtype) for item in value)
    if type(value) is dict:
        return {key: on_device(item, device, dtype) for key, item in value.items()}
    if type(value) is SimpleNamespace:
        return SimpleNamespace(**on_device(vars(value), device, dtype))
    if isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            _move_into(cell, device, dtype)
    return value


def _move_into(cell: CellType, device: str, dtype: torch.dtype | None) -> None:
    """The module or tensor that a function of a function works on: no argument holds it."""
    try:
        held = cell.cell_contents
    except ValueError:
        # A name that is bound later.
        return
    if isinstance(held, (torch.nn.Module, torch.Tensor)):
        cell.cell_contents = on_device(held, device, dtype)


def made_on(example: Example, device: str) -> Example:
    """The example whose tensors are made on a device, as a program makes them there."""

    def build() -> Any:
        with torch.device(device):
            return example.build()

    def calls() -> list[Call]:
        with torch.device(device):
            return example.calls()

    return replace(example, source=f"{example.source}, made on {device}", build=build, calls=calls)


def moved_whole(example: Example, device: str) -> Example:
    """The example with everything that its modules hold on a device, their plain attributes too."""

    def calls() -> list[Call]:
        return [Call(_whole(call.args, device), _whole(dict(call.kwargs), device)) for call in example.calls()]

    source = f"{example.source}, moved to {device} with all that it holds"
    return replace(example, source=source, build=lambda: _whole(example.build(), device), calls=calls)


def _whole(value: Any, device: str) -> Any:
    moved = on_device(value, device)
    held = list(moved.values()) if isinstance(moved, dict) else moved if isinstance(moved, (list, tuple)) else [moved]
    for module in filter(None, map(module_of, held)):
        for part in module.modules():
            for name, attribute in list(vars(part).items()):
                if not name.startswith("_") and isinstance(attribute, (torch.Tensor, list, tuple, dict)):
                    vars(part)[name] = on_device(attribute, device)
    return moved


def _resolve(reference: str) -> Any:
    module, _, name = reference.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _from_factory(factory: Callable[[], Any], source: str, key: str = "") -> Example:
    """A factory returns the callable and its calls; or the callable alone, whose calls take no argument.

    `key`: the configuration names it so, and to go on without it would answer another question.
    """

    def made() -> tuple[Any, Any]:
        try:
            value = factory()
        except Exception as error:
            if not key:
                raise
            raise BadFactory(f"{key}: {source} raised {type(error).__name__}: {error}") from error
        if isinstance(value, tuple) and len(value) == 2 and callable(value[0]):
            return value
        if callable(value):
            return value, [Call()]
        words = f"{source} returned {type(value).__name__}: return (callable, [call, ...])"
        raise BadFactory(f"{key}: {words}") if key else NoInputs(words)

    # A factory with `wrap = False` gives a program that compiles by itself.
    wrap = bool(getattr(factory, "wrap", True))
    return Example(source, lambda: made()[0], lambda: as_calls(made()[1]), wrap=wrap, given=True, by_hand=True)


def configured(job: Job, candidate: Candidate, module: ModuleType) -> Example | None:
    key = key_of(candidate.path, candidate.name, job.factories)
    if key is None:
        return None
    reference = job.factories[key]
    try:
        factory = _resolve(reference)
    except Exception as error:
        # The user has said where the inputs come from: to go on with others would answer another question.
        raise BadFactory(f"{key}: {reference} cannot be imported: {type(error).__name__}: {error}") from error
    return _from_factory(factory, f"factory {reference}", key)


def check_factories(job: Job) -> None:
    """Refuse a factory that cannot be imported, also of a target that is not reached."""
    for candidate in job.candidates:
        configured(job, candidate, ModuleType("unread"))


@lru_cache(maxsize=1)
def _load_examples(root: str) -> None:
    """Import the project's files of examples, so that they are registered."""
    for path in usage.files_with("@tclint.example", root):
        try:
            load(path, root)
        except Exception as error:
            raise NoInputs(f"{path} cannot be imported: {type(error).__name__}: {error}") from error


def by_example(job: Job, candidate: Candidate, module: ModuleType) -> Example | None:
    try:
        target, _ = find(module, candidate.name)
    except LookupError:
        return None
    _load_examples(job.root)
    factory = registered(target)
    if factory is None:
        return None
    return _from_factory(factory, f"@tclint.example in {factory.__module__}.{factory.__qualname__}")


def get_inputs_convention(job: Job, candidate: Candidate, module: ModuleType) -> Example | None:
    """`Model`, `get_init_inputs()`, `get_inputs()`: the convention of KernelBench."""
    get_inputs = getattr(module, "get_inputs", None)
    if not callable(get_inputs):
        return None
    owner = candidate.name.split(".")[0]
    model = getattr(module, "Model", None) or getattr(module, owner, None)
    if not isinstance(model, type):
        return None
    get_init_inputs = getattr(module, "get_init_inputs", list)

    def build() -> Any:
        call = as_call(get_init_inputs())
        return model(*call.args, **call.kwargs)

    return Example(f"{model.__name__}(*get_init_inputs()), get_inputs()", build, lambda: [as_call(get_inputs())])


def testcases_convention(job: Job, candidate: Candidate, module: ModuleType) -> Example | None:
    """`TESTCASES = [(Class, init, inputs, ...)]`, each a function or a value, in the shape ([args], {kwargs})."""
    cases = getattr(module, "TESTCASES", None)
    if not isinstance(cases, (list, tuple)):
        return None
    owner = candidate.name.split(".")[0]
    usable = [case for case in cases if isinstance(case, (list, tuple)) and len(case) >= 3 and callable(case[0])]
    mine = [case for case in usable if getattr(case[0], "__name__", "") == owner] or usable
    if not mine:
        raise NoInputs("TESTCASES holds no entry of the shape (Class, init, inputs)")
    target, init, inputs = mine[0][:3]

    def build() -> Any:
        call = as_call(init() if callable(init) else init)
        return target(*call.args, **call.kwargs)

    return Example(
        f"TESTCASES entry of {getattr(target, '__name__', target)}",
        build,
        lambda: [as_call(inputs() if callable(inputs) else inputs)],
    )


def main_convention(job: Job, candidate: Candidate, module: ModuleType) -> Example | None:
    """`main(device)` runs the program; `reference(device)` gives the same values without CUDA graphs."""
    main = getattr(module, "main", None)
    if not inspect.isfunction(main) or list(inspect.signature(main).parameters) != ["device"]:
        return None
    other = getattr(module, "reference", None)
    reference = partial(other, job.device) if inspect.isfunction(other) else None
    return Example("main(device)", lambda: main, lambda: [Call((job.device,))], False, True, True, reference)


CONVENTIONS: tuple[Source, ...] = (
    configured,
    by_example,
    get_inputs_convention,
    testcases_convention,
    main_convention,
)
