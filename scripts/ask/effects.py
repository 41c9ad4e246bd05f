"""What can be tried of the effects that the overlay has by hand: a function for each, which says whether a name has it."""

from __future__ import annotations

import builtins
import collections
import copy
import importlib
import inspect
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Check = Callable[[str], bool]
CHECKS: dict[str, Check] = {}


def check(*effects: str) -> Callable[[Check], Check]:
    """Says which effects a function tries, name by name. What it raises is `could not`."""

    def keep(function: Check) -> Check:
        CHECKS.update(dict.fromkeys(effects, function))
        return function

    return keep


def found(name: str) -> Any:
    """The object of a dotted name; `Tensor.` and `tensor#` are methods of torch.Tensor, `ndarray.` of numpy's."""
    name = name.replace("tensor#", "torch.Tensor.").replace("#", ".")
    if name.startswith("Tensor."):
        name = f"torch.{name}"
    elif name.startswith("ndarray."):
        name = f"numpy.{name}"
    parts = name.split(".")
    owner = importlib.import_module(parts[0])
    for place, part in enumerate(parts[1:], 1):
        if hasattr(owner, part):
            owner = getattr(owner, part)
        elif inspect.ismodule(owner):
            owner = importlib.import_module(".".join(parts[: place + 1]))
        else:  # a function that hides the file it is in: torch._higher_order_ops.cond
            owner = getattr(importlib.import_module(".".join(parts[:place])), part)
    return owner


def short(name: str) -> str:
    return name.rpartition(".")[2].rpartition("#")[2]


def tensor(*shape: int) -> Any:
    import torch

    return torch.arange(1.0, 1.0 + torch.Size(shape).numel()).reshape(shape)


def first() -> Any:
    import torch

    return torch.tensor([0])


def arguments(method: str) -> tuple[Any, ...]:
    """What a method of a tensor of shape (4, 4) is given."""
    two = {
        "transpose",
        "swapaxes",
        "swapdims",
        "movedim",
        "moveaxis",
        "transpose_",
        "swapaxes_",
        "swapdims_",
        "permute",
    }
    special: dict[str, tuple[Any, ...]] = {
        "expand": (2, 4, 4),
        "expand_as": (tensor(2, 4, 4),),
        "broadcast_to": ((2, 4, 4),),
        "unfold": (0, 2, 1),
        "unsqueeze_": (0,),
        "stride": (),
        "copy_": (tensor(4, 4),),
        "fill_": (2.0,),
        "geometric_": (0.5,),
        "set_": (tensor(4, 4),),
        "split": (2,),
        "chunk": (2,),
        "fill_diagonal_": (2.0,),
        "index_copy_": (0, first(), tensor(1, 4)),
        "index_fill_": (0, first(), 2.0),
        "masked_fill_": (tensor(4, 4) > 5, 2.0),
        "masked_scatter_": (tensor(4, 4) > 5, tensor(4, 4)),
        "scatter_": (0, first().reshape(1, 1), 2.0),
        "put_": (first(), tensor(1)),
        "index_put_": ((first(),), tensor(4)),
        "apply_": (lambda v: v + 1,),
        "map_": (tensor(4, 4), lambda a, b: a + b),
        "map2_": (tensor(4, 4), tensor(4, 4), lambda a, b, c: a + b + c),
    }
    return (1, 0) if method in two else special.get(method, ())


def called(name: str, start: Any) -> Any:
    """What a method or attribute of a tensor gives."""
    method = getattr(start, short(name))
    return method(*arguments(short(name))) if callable(method) else method


@check("gives a view with other strides", "is a transposed view", "repeats without a copy")
def lies_otherwise(name: str) -> bool:
    x = tensor(4, 4)
    made = called(name, x)
    return made.data_ptr() == x.data_ptr() and made.stride()[-2:] != x.stride() or 0 in made.stride()


@check("changes the dimensions in place")
def turns(name: str) -> bool:
    x = tensor(1, 4, 4) if short(name) in ("squeeze_",) else tensor(2, 4)
    before = (x.shape, x.stride())
    getattr(x, short(name))(*arguments(short(name)))
    return (x.shape, x.stride()) != before


@check("gives what has no gradient")
def has_no_gradient(name: str) -> bool:
    x = tensor(1).requires_grad_()
    try:
        made = called(name, x)
    except RuntimeError:
        return True  # asks for a detached tensor first
    return not getattr(made, "requires_grad", False)


@check("converts to a dtype", "converts to the usual dtype")
def converts(name: str) -> bool:
    import torch

    wanted = getattr(torch, {"byte": "uint8", "char": "int8"}.get(short(name), short(name)))
    return bool(called(name, tensor(4, 4)).dtype == wanted)


SIZES: dict[str, tuple[Any, ...]] = {
    "Bilinear": (4, 4, 4),
    "GroupNorm": (2, 4),
    "LayerNorm": (4,),
    "RMSNorm": (4,),
    "PReLU": (),
    "MultiheadAttention": (4, 2),
    "TransformerEncoderLayer": (4, 2, 8),
    "TransformerDecoderLayer": (4, 2, 8),
    "Transformer": (4, 2, 1, 1, 8),
    "RReLU": (),
}


def module(name: str) -> Any:
    kind = short(name)
    if kind in SIZES:
        return found(name)(*SIZES[kind])
    if "Dropout" in kind:
        return found(name)()
    given = (4,) if "Norm" in kind else (4, 4, 3) if "Conv" in kind else (4, 4)
    return found(name)(*given)


@check("has parameters of its own")
def has_parameters(name: str) -> bool:
    return any(True for _ in module(name).parameters())


@check("computes something else in training")
def looks_at_training(name: str) -> bool:
    made = module(name)
    kind = short(name)
    x = -tensor(2, 4, *(4 for _ in range(int(kind[-2]) if kind[-1:] == "d" else 0)))
    return not made.train()(x).equal(made.eval()(x))


@check("is a method of every module", "registers what its module holds", "walks the modules in a module")
def of_every_module(name: str) -> bool:
    import torch

    return callable(getattr(torch.nn.Module, name, None))


@check("gives its module back", "gives the module itself", "casts a module to another dtype")
def gives_itself(name: str) -> bool:
    import torch

    made = torch.nn.Linear(2, 2)
    given = {"to": ("cpu",), "type": (torch.float64,), "apply": (lambda m: None,)}.get(name, ())
    if name == "to_empty":
        return made.to_empty(device="cpu") is made
    return getattr(made, name)(*given) is made


@check("holds modules and has no forward")
def has_no_forward(name: str) -> bool:
    import torch

    return found(name).forward is torch.nn.Module.forward


@check("is a method of tensors alone", "is an attribute of tensors alone")
def of_tensors_alone(name: str) -> bool:
    import torch

    others = (str, bytes, list, dict, set, tuple, int, float, slice, range, Path, torch.nn.Module)
    return hasattr(torch.Tensor, name) and not any(hasattr(each, name) for each in others)


@check("is true while compiling", "is false while compiling", "is None while compiling")
def answers_while_compiling(name: str) -> Any:
    import torch

    asked, told = found(name), []

    def traced(x: Any) -> Any:
        answer = asked()
        return x + (1 if answer is True else 2 if answer is False else 3 if answer is None else 4)

    torch._dynamo.reset()
    told = int(torch.compile(traced, backend="eager", fullgraph=True)(torch.zeros(())))
    return {1: True, 2: False, 3: None}[told]


@check("gives a size")
def gives_a_size(name: str) -> bool:
    x = tensor(4, 4)
    made = called(name, x)
    return isinstance(made, (int, tuple)) and made == called(name, x * 0)


@check("parts a tensor along a dimension")
def parts(name: str) -> bool:
    x = tensor(4, 4)
    made = called(name, x)
    return isinstance(made, (tuple, list)) and sum(each.numel() for each in made) == x.numel()


@check("does the same on tensors under its own name", "is taken of a number as of a tensor")
def same_on_tensors(name: str) -> bool:
    import torch

    function, twin = found(name), getattr(torch, short(name))
    many = 2 if short(name) in ("hypot", "atan2", "pow") else 1
    numbers = (0.25, 0.5)[:many]
    return abs(function(*numbers) - twin(*map(torch.tensor, numbers)).item()) < 1e-5


@check("does the same on sizes as math")
def same_as_math(name: str) -> bool:
    import math

    given: Any = [2, 3] if short(name) == "prod" else 9
    return bool(found(name)(given) == getattr(math, short(name))(given))


@check("is of numpy, and torch has its twin")
def has_a_twin(name: str) -> bool:
    import torch._numpy

    return hasattr(torch._numpy, short(name))


@check("walks any iterable")
def walks(name: str) -> bool:
    asked = []

    class Watched:
        def __iter__(self) -> Iterator[int]:
            asked.append(1)
            return iter([1, 2])

    made = getattr(builtins, short(name))(Watched())
    list(made) if hasattr(made, "__next__") else None
    return bool(asked)


@check("never ends")
def goes_on(name: str) -> bool:
    made = found(name)(*(() if short(name) == "count" else ([1, 2],)))
    return len(list(itertools.islice(made, 1000))) == 1000


@check("takes a key")
def takes_a_key(name: str) -> bool:
    return found(name)([1, -2], key=abs) in (-2, 1, [1, -2])


@check("takes a 0-d tensor for a number")
def promotes_as_a_number(name: str) -> bool:
    import torch

    x, number = tensor(4, 4).half(), torch.tensor(2.0)
    made = found(name)(x > 0, x, number) if short(name) == "where" else found(name)(x, number)
    return bool(made.dtype == torch.half)


@check("runs a recurrent network")
def is_refused(name: str) -> bool:
    import torch

    torch._dynamo.reset()
    made = found(name.removesuffix(".forward"))(4, 4)
    try:
        torch.compile(made, backend="eager", fullgraph=True)(tensor(2, 3, 4))
    except Exception:
        return True
    return False


@check("draws from a generator")
def takes_a_generator(name: str) -> bool:
    documented = inspect.getdoc(found(name)) or ""
    return "generator" in documented


@check("moves memory and leaves the values", "asks where memory lies")
def leaves_values(name: str) -> bool:
    x = tensor(4, 4)
    kept = copy.deepcopy(x)
    called(name, x)
    return bool(x.equal(kept))


@check("is the same done twice")
def is_done_once(name: str) -> bool:
    import torch

    x, seen = tensor(4, 4), []
    for _ in range(2):
        torch.manual_seed(0)
        x = called(name, x)
        seen.append(x.clone())
    return bool(seen[0].equal(seen[1]))


@check("writes its receiver")
def writes(name: str) -> bool:
    import torch

    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name == f"aten::{short(name)}"]
    if not schemas:
        x = tensor(4, 4)
        called(name, x)
        return not x.equal(tensor(4, 4))
    return any(s.arguments[0].alias_info is not None and s.arguments[0].alias_info.is_write for s in schemas)


def returned(name: str) -> set[str]:
    """What the schemas of an operator say comes out, or the annotation of a function."""
    import torch

    owner = name.startswith(("tensor#", "torch.")) and name.count(".") + name.count("#") < 2
    schemas = [s for s in torch._C._jit_get_all_schemas() if owner and s.name == f"aten::{short(name)}"]
    if schemas:
        return {str(s.returns[0].type) if len(s.returns) == 1 else "" if s.returns else "None" for s in schemas}
    told = inspect.signature(found(name)).return_annotation
    return {told if isinstance(told, str) else getattr(told, "__name__", str(told))}


def by_schema(kinds: frozenset[str]) -> Check:
    def agrees(name: str) -> bool:
        told = returned(name)
        if told == {"_empty"}:
            raise ValueError(f"{name} says nothing")
        return bool(told & kinds)

    return agrees


for _effect, _kinds in {
    "gives a tensor, by its schema": {"Tensor", "torch.Tensor", "Self", "torch._C.Tensor"},
    "gives a bool, by its schema": {"bool"},
    "gives an int, by its schema": {"int", "_int"},
    "gives nothing, by its schema": {"None", "NoneType"},
}.items():
    check(_effect)(by_schema(frozenset(_kinds)))


CONTEXTS: dict[str, tuple[Any, ...]] = {
    "torch.autocast": ("cpu",),
    "torch.amp.autocast": ("cpu",),
    "torch.autograd.graph.saved_tensors_hooks": (lambda t: t, lambda t: t),
    "torch.autograd.set_detect_anomaly": (True,),
    "torch.autograd.set_multithreading_enabled": (True,),
    "contextlib.redirect_stdout": (sys.stderr,),
    "contextlib.redirect_stderr": (sys.stderr,),
    "contextlib.chdir": (".",),
    "torch.backends.mkl.verbose": (0,),
    "torch.backends.mkldnn.verbose": (0,),
    "torch.profiler.itt.range": ("a",),
    "torch.serialization.safe_globals": ([],),
    "torch.utils.checkpoint.set_checkpoint_debug_enabled": (False,),
    "torch.utils.checkpoint.set_checkpoint_early_stop": (False,),
    "unittest.mock.patch": ("os.sep", "/"),
    "unittest.mock.patch.dict": ({"a": 1}, {"a": 2}),
    "unittest.mock.patch.object": (sys, "argv", []),
}


def entered(name: str) -> bool:
    """Whether the graph holds both sides of `with name(…):`."""
    import torch

    context, given = found(name), CONTEXTS.get(name, ())

    def traced(x: Any) -> Any:
        x = x + 1
        with context(*given):
            x = x * 2
        return x - 1

    traced(torch.ones(2))
    torch._dynamo.reset()
    try:
        torch.compile(traced, backend="eager", fullgraph=True)(torch.ones(2))
    except Exception:
        return False
    return True


check("is a context that Dynamo enters")(entered)
check("is a context that Dynamo cannot enter")(lambda name: not entered(name))


@check("fails where it is given a number", "fails where it is given nothing")
def fails(name: str) -> bool:
    function = found(name)
    for given in (3,), ([],):
        try:
            function(*given)
        except (TypeError, ValueError):
            return True
    return False


@check("gives the tensors of a module", "cannot be handed over at a graph break")
def gives_tensors(name: str) -> bool:
    import torch

    made = list(found(name)(torch.nn.BatchNorm1d(2)))
    return all(isinstance(each[-1] if isinstance(each, tuple) else each, torch.Tensor) for each in made)


@check("computes a float with numpy", "computes a number with numpy")
def computes_a_number(name: str) -> bool:
    import numpy

    many = {"power", "maximum", "minimum", "divide", "true_divide"}
    return isinstance(found(name)(*(2.0, 3.0)[: 2 if short(name) in many else 1]), numpy.number)


@check("makes an array")
def makes_an_array(name: str) -> bool:
    import numpy

    given: dict[str, tuple[Any, ...]] = {"linspace": (0, 1, 3), "full": (3, 1.0), "stack": ([[1], [2]],)}
    return isinstance(found(name)(*given.get(short(name), (3,))), numpy.ndarray)


@check("makes a tensor that may share its data")
def shares(name: str) -> bool:
    import numpy

    array = numpy.ones(3)
    return bool(found(name)(array).data_ptr() == array.ctypes.data)


@check("is a number type of numpy")
def is_a_number_type(name: str) -> bool:
    import numpy

    return issubclass(found(name), numpy.generic)


@check("is a dtype of floats that is not the default")
def is_another_float(name: str) -> bool:
    import torch

    return bool(found(name).is_floating_point and found(name) != torch.get_default_dtype())


@check("may give the tensor itself")
def may_give_itself(name: str) -> bool:
    import torch

    wanted = {"cdouble": "complex128", "chalf": "complex32", "byte": "uint8", "char": "int8"}.get(
        short(name), short(name)
    )
    x = tensor(4, 4).to(getattr(torch, wanted)) if hasattr(torch, wanted) and "atleast" not in name else tensor(4, 4, 4)
    made = found(name)(x)
    return made is x or made.data_ptr() == x.data_ptr()


@check("appends", "adds a value to a sequence")
def is_of_a_container(name: str) -> bool:
    return any(hasattr(kind, name) for kind in (list, set, collections.deque))


@check("is a method of module containers")
def is_of_module_containers(name: str) -> bool:
    import torch

    return hasattr(torch.nn.ModuleList, name) or hasattr(torch.nn.ModuleDict, name)
