"""Functions of torch, by their dotted names. The facts about them are in torch_facts."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from tclint import events
from tclint.interpreter import sighted
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import tensors
from tclint.interpreter.models.factories import factory, nested_sizes
from tclint.interpreter.models.functions import Handler
from tclint.interpreter.models.laid_out import chosen as chosen_from
from tclint.interpreter.models.laid_out import in_pieces, joined, laid_out, padded_together, parted, summed
from tclint.interpreter.models.measured import measured, varies
from tclint.interpreter.models.results import (
    Args,
    Keywords,
    dtype_argument,
    first_tensor,
    is_number,
    is_sized_by_values,
    literal_dtype,
    of_kind,
    reduces_to_pair,
    result_dtype,
    result_ndim,
    way_of,
)
from tclint.torch_facts import calls, facts, returns, traits
from tclint.torch_facts.layouts import JOINS, PAIRS
from tclint.values import (
    ARRAY,
    BOOL,
    CONSTANT,
    DATA_SIZED,
    FALSE,
    FOLDED,
    HOST,
    INPUT,
    NAMED,
    NEEDS_GRAD,
    NO_GRADIENT,
    NONE,
    PARAMETER,
    PROVEN,
    RAW,
    SPARSE,
    STEADY,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    External,
    Object,
    Origin,
    Seq,
    Tensor,
    Value,
    tensor_of,
)
from tclint.values.value import NUMBER, SEQUENCE

# Answers that Dynamo knows while it traces.
WHILE_COMPILING: Final[Mapping[str, Value]] = {
    **dict.fromkeys(facts.named("is true while compiling"), TRUE),
    **dict.fromkeys(facts.named("is false while compiling"), FALSE),
    **dict.fromkeys(facts.named("is None while compiling"), NONE),
    "torch.overrides.is_tensor_like": BOOL,
}


def _while_compiling(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    return WHILE_COMPILING[name] if frame.region is not None else BOOL


def _is_tensor(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    if args:
        if isinstance(args[0], Tensor) and args[0].conf > NAMED:
            return TRUE
        if args[0].rank in (NUMBER, SEQUENCE) or isinstance(args[0], Dict):
            return FALSE
    return BOOL


def _bool(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    return BOOL


def _parameter(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    data = args[0] if args else keywords.get("data")
    if frame.region is None and isinstance(data, Tensor) and isinstance(data.shape, tuple):
        wanted = keywords.get("requires_grad")
        flags = PARAMETER | (NO_GRADIENT if isinstance(wanted, Const) and not wanted.value else NEEDS_GRAD)
        return Tensor(PROVEN, data.dtype, -1, flags, frame.origin(node), shape=data.shape, exact=data.exact)
    layout = data.flags & SPARSE if isinstance(data, Tensor) else 0
    return Tensor(PROVEN, "", -1, PARAMETER | layout, frame.origin(node))


def _tensor(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    letter = _TENSOR_CLASSES[name[6:].removesuffix("Tensor")]
    shape = nested_sizes(args[0]) if frame.region is None and args and isinstance(args[0], Seq) else None
    return Tensor(PROVEN, letter, -1, HOST, frame.origin(node), shape=shape)


def _object(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    return Object(name, frame.origin(node))


def _stream(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """In eager code streams and events are told apart by where they are made."""
    if frame.region is not None:
        return function(frame, node, name, args, keywords)
    return Object("torch.cuda.Event" if name.endswith("Event") else "torch.cuda.Stream", frame.origin(node))


def _unknown(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    return UNKNOWN


def _where(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    if len(args) + len(keywords) == 1:
        return Seq("tuple", None, Tensor(PROVEN, "i", 1, DATA_SIZED, frame.origin(node)))
    # The condition chooses; what is chosen from gives the type.
    chosen = [*args[1:], *(keywords[name] for name in ("input", "other") if name in keywords)]
    types = {value.dtype if isinstance(value, Tensor) else literal_dtype(value) for value in chosen}
    host = HOST if chosen and all(isinstance(v, Tensor) and v.flags & HOST for v in (*args[:1], *chosen)) else 0
    result = Tensor(PROVEN, types.pop() if len(types) == 1 else "", -1, host, frame.origin(node))
    return chosen_from(args[0], chosen, result) if frame.region is None and args else result


# `torch.Tensor` and the classes with a dtype in their names.
_TENSOR_CLASSES: Final = {"": "f", "Float": "f", "Long": "i", "Bool": "b", "Int": "i"}

_SCRIPT_CLASSES: Final = "torch.classes."
_SPARSE_TYPES: Final = frozenset(facts.named("is a type of sparse tensors"))
_SCALERS: Final = (
    name.removesuffix(".step") for name in facts.named("checks its errors on the host") if name.endswith(".step")
)

BY_NAME: Final[dict[str, Handler]] = {
    **dict.fromkeys(WHILE_COMPILING, _while_compiling),
    **dict.fromkeys((f"torch.{kind}Tensor" for kind in _TENSOR_CLASSES), _tensor),
    **dict.fromkeys(facts.named("makes a parameter or buffer"), _parameter),
    **dict.fromkeys(("torch.is_floating_point", "torch.is_complex"), _bool),
    **dict.fromkeys(("torch.cond", "torch.func.functional_call"), _unknown),
    **dict.fromkeys(facts.named("is a context that Dynamo enters"), _object),
    **dict.fromkeys(("torch.cuda.CUDAGraph", "torch.Generator", *_SCALERS), _object),
    **dict.fromkeys(facts.named("makes an object of its own class"), _object),
    **dict.fromkeys(facts.named("gives a stream or an event"), _stream),
    "torch.is_tensor": _is_tensor,
    "torch.where": _where,
}
"""What is known of single functions; the rest is answered by what the facts say about them."""


_AS_PASSED: Final = INPUT | RAW
_VALIDATED: Final = frozenset(facts.named("validates its parameters on the host"))


def _is_sized_by_values(name: str, args: Args, keywords: Keywords) -> bool:
    """Whether the size of a result depends on values. An argument by keyword stands where the facts know: `num_classes=5`."""
    if not is_sized_by_values(name, args[1:], keywords):
        return False
    answer = calls.answer(facts.canonical(name), facts.NEWEST) if keywords else None
    placed = [*args]
    for burned in answer.burned if answer is not None else ():
        if burned.position == len(placed) and burned.keyword is not None and burned.keyword in keywords:
            placed.append(keywords[burned.keyword])
    return len(placed) == len(args) or traits.is_sized_by_values(name, way_of(placed[1:], keywords))


def _of_several(frame: Frame, written: Seq) -> str:
    """What is wrong with the tensors of `out=(a, b)`, as far as it shows where they are made."""
    made = [each.origin.node for each in written.items or () if isinstance(each, Tensor)]
    handed = [tensor for each in written.items or () for tensor in _handed_in(frame, each)]
    if any(each is not None and in_pieces(each) for each in made) or any(each.strides for each in handed):
        return "do not lie in one piece"
    return "are of another size" if any(map(_is_empty, made)) or any(map(_has_nothing, handed)) else ""


def _handed_in(frame: Frame, value: Value) -> list[Tensor]:
    """What the calls in sight pass for an argument that is used as it came."""
    evidence = frame.region.evidence if frame.region is not None else None
    if evidence is None or not isinstance(value, Tensor) or value.flags & _AS_PASSED != _AS_PASSED:
        return []
    return [each for each in evidence.values.get(value.base, ()) if isinstance(each, Tensor)]


def _has_nothing(tensor: Tensor) -> bool:
    return isinstance(tensor.shape, tuple) and 0 in tensor.shape


def _is_true(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is True


def _is_empty(made: ast.AST | None) -> bool:
    """Whether a tensor is made without elements, for somebody to resize: `torch.empty(0)`."""
    size = made.args if isinstance(made, ast.Call) else ()
    return len(size) == 1 and isinstance(size[0], ast.Constant) and size[0].value == 0


def _does_not_fit(frame: Frame, name: str, args: Args, keywords: Keywords, written: Tensor) -> bool:
    """Whether a result has another shape than the tensor it is to be written into: all sizes known, as the calls in sight have them."""
    given = args[0] if args else None
    if (
        frame.region is None
        or not isinstance(given, Tensor)
        or not _is_known(given.shape)
        or not _is_known(written.shape)
    ):
        return False
    rest = {key: value for key, value in keywords.items() if key != "out"}
    made = laid_out(frame, given, name.rpartition(".")[2], args[1:], rest, Tensor(PROVEN))
    return isinstance(made, Tensor) and _is_known(made.shape) and made.shape != written.shape


def _is_known(shape: object) -> bool:
    return isinstance(shape, tuple) and all(isinstance(size, int) for size in shape)


def function(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    """The value of a call of `torch.…`; of what eager code makes also how it lies in memory."""
    if frame.region is not None:
        used = next((each for each in args if type(each) is Tensor and each.flags & SPARSE), None)
        if used is not None:
            frame.interp.emitter.emit(events.SparseUse, frame, node, used, False)
    if _is_true(keywords.get("validate_args")) and name in _VALIDATED:
        frame.interp.emitter.feature(frame, node, "distribution that is told to validate its arguments")
    if "out" in keywords and isinstance(node, ast.Call):
        written, given = keywords["out"], next((each.value for each in node.keywords if each.arg == "out"), None)
        handed = _handed_in(frame, written)
        if isinstance(written, Tensor) and (
            any(each and in_pieces(each) for each in (given, written.origin.node)) or any(t.strides for t in handed)
        ):
            frame.interp.emitter.feature(frame, node, "out= that does not lie in one piece")
        if isinstance(written, Tensor) and (
            _is_empty(written.origin.node)
            or any(map(_has_nothing, handed))
            or _does_not_fit(frame, name, args, keywords, written)
            or sighted.is_other_than_out(frame, node)
        ):
            frame.interp.emitter.feature(frame, node, "out= of another size")
        if isinstance(written, Seq) and (how := _of_several(frame, written)):
            frame.interp.emitter.feature(frame, node, f"out= with several that {how}")
        if isinstance(written, Tensor) and given is not None:
            frame.interp.recordings.write(frame, given, node, keeps=False)
    result = tensors.still_sparse(name, args, _function(frame, node, name, args, keywords))
    if isinstance(result, Tensor) and result.conf != PROVEN and result.origin.node is node:
        # Whatever it was given: what torch computes is a tensor.
        result = result.with_(conf=PROVEN)
    short = name.rpartition(".")[2]
    if frame.region is None and short in tensors.PARTING and args and isinstance(args[0], Tensor):
        return parted(frame, node, args[0], short, args[1:], keywords) or result
    if frame.region is None and isinstance(result, Seq) and short in PAIRS and args and isinstance(args[0], Tensor):
        return laid_out(frame, args[0], short, args[1:], keywords, result)
    if frame.region is not None or not isinstance(result, Tensor) or not args:
        return result
    if isinstance(args[0], Tensor):
        return laid_out(frame, args[0], short, args[1:], keywords, result)
    if name in JOINS and isinstance(args[0], Seq) and args[0].items is not None:
        return joined(args[0].items, args[1] if len(args) > 1 else keywords.get("dim"), JOINS[name], result)
    if short == "einsum":
        return summed(args[0], args[1:], result)
    if short == "pad_sequence" and isinstance(args[0], Seq):
        elem = args[0].elem
        parts = args[0].items or ((elem,) if isinstance(elem, Tensor) and elem.varied else ())
        return padded_together(parts, args[1] if len(args) > 1 else keywords.get("batch_first"), result)
    return result


def _function(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    """By what kind of thing the facts say it returns."""
    origin = frame.origin(node)
    if name.startswith(_SCRIPT_CLASSES):
        return Object("torch.ScriptObject", origin, name.removeprefix(_SCRIPT_CLASSES))
    if traits.makes_tensor(name):
        made = factory(name, args, keywords, origin)
        apart = "requires_grad" not in keywords
        return made.with_(flags=made.flags | NO_GRADIENT) if apart else made
    short = name.rpartition(".")[2]
    if name.startswith(("torch.nested.", "torch.sparse_")) or name in _SPARSE_TYPES:
        layout = keywords.get("layout")
        jagged = isinstance(layout, External) and layout.name == "torch.jagged"
        return Tensor(PROVEN, "", -1, 0 if jagged else SPARSE, origin)
    if name.endswith("_like") and args:
        base = tensor_of(args[0])
        dtype = dtype_argument((), keywords) or (base.dtype if base else "")
        return Tensor(PROVEN, dtype, base.ndim if base else -1, (base.flags & (HOST | ARRAY)) if base else 0, origin)
    first = first_tensor(args, keywords)
    if first is not None and _gives_itself(name, short, keywords):
        told = measured(frame, name, None, args, keywords, origin)
        if isinstance(told, Tensor) and (told.dtype or first.dtype) == first.dtype or told is UNKNOWN:
            if isinstance(args[0] if args else first, Tensor):
                return first.view(origin, first.ndim)
        else:
            return told
    if short.startswith("dropout") and first is not None:
        training = keywords.get("training", args[2] if len(args) > 2 else None)
        if isinstance(training, Const) and training.value is False:
            return first.view(origin, first.ndim)
    if name == "torch.clone" and first is not None:
        return first.derived(origin, first.dtype, first.ndim)
    if short == "expand_copy" and first is not None:
        return first.derived(origin, first.dtype)
    if first is not None and "." not in name[6:] and traits.is_view_function(name):
        if name == "torch.broadcast_to":
            return tensors.method(frame, node, first, "expand", args[1:], keywords)
        if returns.kind(name) == "tensors":
            return Seq("tuple", None, first.view(origin))
        if returns.kind(f"tensor#{short}") == "tensor":
            return tensors.method(frame, node, first, short, args[1:], keywords)
    kind = returns.kind(facts.canonical(name))
    if kind == returns.MIXED:
        return measured(frame, name, None, args, keywords, origin)
    if kind is None or kind == "none" or (len(args) + len(keywords) > 1 and varies(frame, name)):
        result = measured(frame, name, None, args, keywords, origin)
        if kind is None or isinstance(result, Seq) or kind == "none":
            return result
    if kind == "tensor":
        return _computed(name, short, first, args, keywords, origin)
    if kind == "tensors":
        shared = first is not None and traits.is_view_function(name)
        return Seq(
            "tuple", None, first.view(origin) if first is not None and shared else Tensor(PROVEN, "", -1, 0, origin)
        )
    result = of_kind(kind, first, origin, name, args[1:], keywords)
    if isinstance(result, Seq) and result.items:
        seen = measured(frame, name, None, args, keywords, origin)
        if isinstance(seen, Seq) and seen.items is not None and len(seen.items) == len(result.items):
            pairs = zip(result.items, seen.items, strict=True)
            return Seq("tuple", tuple(a if isinstance(b, Tensor) else b for a, b in pairs))
    if isinstance(result, Tensor) and _is_sized_by_values(name, args, keywords):
        return result.with_(flags=result.flags | DATA_SIZED)
    return result


def _gives_itself(name: str, short: str, keywords: Keywords) -> bool:
    """`torch.relu_(x)`, `F.relu(x, inplace=True)`, and what returns its argument where nothing is to be done."""
    asked = keywords.get("inplace")
    if isinstance(asked, Const) and asked.value is True:
        return True
    return short.endswith("_") and not short.endswith("__") or name in facts.named("may give the tensor itself")


def _members(args: Args) -> list[Value]:
    """What a first list holds: all of it decides on the type."""
    held = args[0].items if args and isinstance(args[0], Seq) else None
    return [tensor_of(value) or Tensor() for value in held or ()]


def _computed(name: str, short: str, first: Tensor | None, args: Args, keywords: Keywords, origin: Origin) -> Value:
    """The tensor that a function computes from its arguments."""
    if returns.gives_pair(name) and reduces_to_pair(args[1:], keywords):
        dtype = first.dtype if first else ""
        return Seq("tuple", (Tensor(PROVEN, dtype, -1, 0, origin), Tensor(PROVEN, "i", -1, 0, origin)))
    of = first or Tensor()
    ndim = result_ndim(name, of, args[1:], keywords)
    dtype = dtype_argument((), keywords) or result_dtype(name, of, [*_members(args), *args[1:]], keywords)
    flags = DATA_SIZED if _is_sized_by_values(name, args, keywords) else 0
    if first is None and all(is_number(a) for a in args) and not name.startswith("torch.rand"):
        flags |= CONSTANT
    if first is not None:
        flags |= first.flags & ARRAY
        if all(v.flags & NO_GRADIENT for v in (*args, *keywords.values()) if isinstance(v, Tensor)):
            flags |= first.flags & NO_GRADIENT
        others = [a for a in args if isinstance(a, Tensor) and a is not first]
        if not others:
            flags |= first.flags & (HOST | STEADY)
        elif ndim == 0 and all(a.flags & FOLDED for a in (first, *others)):
            flags |= FOLDED  # `torch.min` of two numbers that were made tensors
    return Tensor(PROVEN, dtype, ndim, flags, origin)
