"""Tensors that eager code makes: their sizes, strides and dtypes, as far as they follow from what they are made of."""

from __future__ import annotations

import ast
from typing import Any, Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.results import Args, Keywords, exact_argument
from tclint.torch_facts import dtypes, facts, layouts, sizes, traits
from tclint.torch_facts.layouts import Layout
from tclint.values import (
    ARRAY,
    GRADIENT_UNKNOWN,
    NEEDS_GRAD,
    NO_GRADIENT,
    NONE,
    PARAMETER,
    Const,
    External,
    Scalar,
    Seq,
    Tensor,
    Value,
)
from tclint.values.constant import is_none


def is_int(part: Value) -> bool:
    if isinstance(part, Const):
        return isinstance(part.value, int) and not isinstance(part.value, bool)
    return isinstance(part, Scalar) and part.type == "int"


def in_pieces(node: ast.AST) -> bool:
    """Whether an expression is a view that does not lie in one piece: some columns of rows, every other element, a transposed matrix."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        rows, *columns = node.slice.elts
        cut = [each for each in columns if isinstance(each, ast.Slice) and (each.lower or each.upper or each.step)]
        one = any(isinstance(each, ast.Constant) and type(each.value) is int for each in columns)
        return isinstance(rows, ast.Slice) and (bool(cut) or one)
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Slice)
        and isinstance(node.slice.step, ast.Constant)
    ):
        return node.slice.step.value != 1
    if isinstance(node, ast.Attribute):
        return node.attr in facts.named("is a transposed view")
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and in_pieces(node.func)


def sliced(tensor: Tensor, parts: list[Value]) -> Layout | None:
    """The layout of `x[:n, 0]`, where the shape of x and all bounds are numbers."""
    if not isinstance(tensor.shape, tuple):
        return None
    told: list[Any] = []
    for part in parts:
        if isinstance(part, Seq) and part.kind == "slice" and part.items is not None:
            bounds = [None if is_none(b) else b.value if isinstance(b, Const) else "?" for b in part.items]
            if not all(b is None or isinstance(b, int) for b in bounds):
                return None
            told.append(slice(*bounds))
        elif is_int(part):
            told.append(0)
        elif is_none(part):
            told.append(None)
        elif isinstance(part, External) and part.name == "builtins.Ellipsis":
            told.append(Ellipsis)
        else:
            return None
    return layouts.sliced(Layout(tensor.shape, tensor.strides), told)


def picked(tensor: Tensor, parts: list[Value]) -> tuple[int | None, ...] | None:
    """The sizes of `x[idx]`, `x[:, idx]` and `x[rows, idx]`: indices that are tensors or lists of numbers, side by side, and
    whole dimensions."""
    places = [at for at, part in enumerate(parts) if _index_sizes(part) is not None or is_int(part)]
    if not isinstance(tensor.shape, tuple) or not places or len(parts) > len(tensor.shape):
        return None
    if places != list(range(places[0], places[-1] + 1)):
        return None
    whole = (NONE.key,) * 3
    for at, part in enumerate(parts):
        slices = isinstance(part, Seq) and part.kind == "slice" and tuple(b.key for b in part.items or ()) == whole
        if at not in places and not slices:
            return None
    chosen: Layout | None = Layout(())
    for at in places:
        chosen = layouts.broadcast(chosen, Layout(_index_sizes(parts[at]) or ())) if chosen is not None else None
    return (*tensor.shape[: places[0]], *chosen.sizes, *tensor.shape[places[-1] + 1 :]) if chosen is not None else None


def _index_sizes(part: Value) -> tuple[int | None, ...] | None:
    if isinstance(part, Tensor):
        return part.shape if isinstance(part.shape, tuple) and part.dtype == "i" else None
    if isinstance(part, Seq) and part.kind == "list" and part.items and all(map(is_int, part.items)):
        return (len(part.items),)
    return None


def laid_out(frame: Frame, tensor: Tensor, name: str, args: Args, keywords: Keywords, result: Value) -> Value:
    """What a method of a tensor that eager code has made gives, with its sizes, strides and dtype where they follow."""
    if isinstance(result, Seq) and result.kind == "tuple" and name in layouts.PAIRS and result.items:
        laid = [laid_out(frame, tensor, name, args, keywords, part) for part in result.items]
        last = laid[-1]
        if len(laid) == 2 and isinstance(last, Tensor):
            laid[-1] = last.with_(exact="int64", flags=last.flags & ~(NEEDS_GRAD | GRADIENT_UNKNOWN))
            if isinstance(laid[0], Tensor):
                laid[0] = laid[0].with_(exact=tensor.exact)
        return Seq("tuple", tuple(laid))
    if not isinstance(result, Tensor) or (tensor.flags & ARRAY and name not in _ALIKE):
        return result
    given = [*args, *keywords.values()]
    others = [value for value in given if isinstance(value, Tensor)]
    flags = result.flags
    if name in ("detach", "data"):
        flags &= ~(NEEDS_GRAD | GRADIENT_UNKNOWN | PARAMETER)
    elif name == "detach_":
        flags &= ~(NEEDS_GRAD | GRADIENT_UNKNOWN)
    elif result.dtype in ("b", "i") or traits.is_made_anew(name):
        flags = flags & ~(NEEDS_GRAD | GRADIENT_UNKNOWN) | NO_GRADIENT
    elif frame.grad is not False and not flags & PARAMETER and name != "requires_grad_":
        if any(map(_learns, (tensor, *others))):
            flags = flags & ~NO_GRADIENT | NEEDS_GRAD
        flags |= GRADIENT_UNKNOWN if any(each.flags & GRADIENT_UNKNOWN for each in (tensor, *others)) else 0
    exact = exact_argument(args, keywords) or dtypes.cast(name)
    if not exact and result.dtype == tensor.dtype and all(_keeps(tensor, each) for each in others):
        exact = tensor.exact
    elif not exact and tensor.dtype in ("f", "b"):
        exact = _OWN_DTYPES.get(result.dtype, "")
    result = result.with_(flags=flags, exact=exact)
    if not isinstance(tensor.shape, tuple) or tensor.flags & PARAMETER and result.flags & PARAMETER:
        return result
    layout: Layout | None = Layout(tensor.shape, tensor.strides)
    assert layout is not None
    if "memory_format" in keywords:
        layout = _formatted(layout, keywords)
    elif name == "to":
        pass  # as it lies
    else:
        named = {key: _told(value) for key, value in keywords.items() if key not in ("dtype", "device")}
        how = sizes.of_several if others else layouts.of_method
        layout = how(name, layout, [_told(value) for value in args], named)
    if layout is None:
        return result
    return result.with_(shape=layout.sizes, strides=layout.strides, flags=result.flags & ~PARAMETER)


def _learns(tensor: Tensor) -> bool:
    """Whether a tensor requires a gradient. A buffer is told by what it was made of."""
    return bool(tensor.flags & NEEDS_GRAD) or tensor.flags & (PARAMETER | NO_GRADIENT) == PARAMETER


def _keeps(tensor: Tensor, other: Tensor) -> bool:
    """Whether another tensor leaves the dtype as it is: one of its own, or whole numbers beside floats."""
    return other.exact == tensor.exact or (tensor.dtype == "f" and other.dtype in ("i", "b"))


_OWN_DTYPES: Final = {"i": "int64", "b": "bool"}
"""What counts, finds places or compares gives, whatever floats or bools it is given."""
_ALIKE: Final = ("add", "eq")
"""Arithmetic and comparisons are the same for arrays."""


def _formatted(layout: Layout, keywords: Keywords) -> Layout:
    asked = keywords.get("memory_format")
    if isinstance(asked, External) and asked.name == "torch.channels_last" and len(layout.sizes) == 4:
        n, c, h, w = layout.sizes
        inner = layouts.of_method("permute", Layout((n, h, w, c)), (0, 3, 1, 2), {})
        return inner or layout
    return Layout(layout.sizes, layouts.UNKNOWN_STRIDES)


def plain(value: Value) -> Any:
    """A value as plain Python, "?" where it is not known."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Seq) and value.items is not None:
        return tuple(plain(item) for item in value.items)
    return "?"


def _told(value: Value) -> Any:
    """The same; of a tensor how it lies."""
    if not isinstance(value, Tensor):
        return plain(value)
    return Layout(value.shape, value.strides) if isinstance(value.shape, tuple) else "?"


def joined(tensors: Args, dim: Value | None, stacked: bool, result: Tensor) -> Tensor:
    """What `torch.cat` and `torch.stack` give."""
    parts = [t for t in tensors if isinstance(t, Tensor)]
    if len(parts) != len(tensors) or not parts:
        return result
    first = parts[0].exact
    unsure = GRADIENT_UNKNOWN if any(part.flags & GRADIENT_UNKNOWN for part in parts) else 0
    exact = first if all(part.exact == first for part in parts) else ""
    result = result.with_(exact=exact, flags=result.flags | unsure)
    known = [Layout(part.shape, part.strides) for part in parts if isinstance(part.shape, tuple)]
    layout = layouts.joined(known, plain(dim) if dim is not None else 0, stacked) if len(known) == len(parts) else None
    if layout is None:
        return result
    varied = frozenset().union(*(part.varied for part in parts)) if not stacked else frozenset()
    varied = frozenset(dim for dim in varied if layout.sizes[dim] is None)
    return result.with_(shape=layout.sizes, strides=layout.strides, varied=varied)


def summed(equation: Value, tensors: Args, result: Tensor) -> Tensor:
    """What `torch.einsum` gives."""
    parts = [t for t in tensors if isinstance(t, Tensor)]
    if len(parts) != len(tensors) or not parts:
        return result
    exact = parts[0].exact if all(part.exact == parts[0].exact for part in parts) else ""
    unsure = GRADIENT_UNKNOWN if any(part.flags & GRADIENT_UNKNOWN for part in parts) else 0
    known = [Layout(part.shape, part.strides) for part in parts if isinstance(part.shape, tuple)]
    layout = layouts.summed(plain(equation), known) if len(known) == len(parts) else None
    result = result.with_(exact=exact, flags=result.flags | unsure)
    return result.with_(shape=layout.sizes, strides=layout.strides) if layout is not None else result


def chosen(condition: Value, options: Args, result: Tensor) -> Tensor:
    """What `torch.where` gives."""
    tensors = [each for each in (condition, *options) if isinstance(each, Tensor)]
    known = [Layout(each.shape, each.strides) for each in tensors if isinstance(each.shape, tuple)]
    given = [each for each in options if isinstance(each, Tensor)]
    if len(known) != len(tensors) or len(options) != 2 or not given:
        return result
    exact = given[0].exact if all(_keeps(given[0], each) for each in given) else ""
    unsure = GRADIENT_UNKNOWN if any(each.flags & GRADIENT_UNKNOWN for each in given) else 0
    layout: Layout | None = known[0]
    for each in known[1:]:
        layout = layouts.broadcast(layout, each) if layout is not None else None
    result = result.with_(exact=exact, flags=result.flags | unsure)
    return result.with_(shape=layout.sizes, strides=layout.strides) if layout is not None else result


def padded_together(tensors: Args, batch_first: Value | None, result: Tensor) -> Tensor:
    """What `pad_sequence` gives."""
    parts = [t for t in tensors if isinstance(t, Tensor)]
    known = [Layout(part.shape, part.strides) for part in parts if isinstance(part.shape, tuple)]
    if len(known) != len(tensors) or not parts:
        return result
    exact = parts[0].exact if all(part.exact == parts[0].exact for part in parts) else ""
    unsure = GRADIENT_UNKNOWN if any(part.flags & GRADIENT_UNKNOWN for part in parts) else 0
    first = plain(batch_first) if batch_first is not None else False
    layout = layouts.padded_together(known, first)
    result = result.with_(exact=exact, flags=result.flags | unsure)
    if layout is None and isinstance(first, bool) and any(0 in part.varied for part in parts):
        # As long as the longest, and each is of another length every time.
        return result.with_(shape=(None, None, *known[0].sizes[1:]), varied=frozenset({int(first)}))
    return result.with_(shape=layout.sizes, strides=layout.strides) if layout is not None else result


_PARTS: Final = 64
"""Parts of a tensor that are told one by one."""


def parted(frame: Frame, node: ast.AST, tensor: Tensor, name: str, args: Args, keywords: Keywords) -> Value | None:
    """The parts that `split`, `chunk` and `unbind` give of a tensor that eager code has made, where they are known."""
    if not isinstance(tensor.shape, tuple) or tensor.flags & ARRAY:
        return None
    first = 0 if name == "unbind" else 1
    given = [plain(value) for value in args]
    named = [plain(value) for key, value in keywords.items() if key != "dim"]
    dim = plain(keywords["dim"]) if "dim" in keywords else given[first] if len(given) > first else 0
    how = (given or named or [None])[0] if first else None
    if type(dim) is not int or not -len(tensor.shape) <= dim < len(tensor.shape):
        return None
    dim %= len(tensor.shape)
    size = tensor.shape[dim]
    if size is None or size > _PARTS:
        return None
    if name == "unbind":
        before: list[Value] = [Seq("slice", (NONE, NONE, NONE))] * dim
        return Seq("tuple", (tensor.item(frame, node, Seq("tuple", (*before, Const(0)))),) * size)
    if name == "chunk" and type(how) is int and how > 0:
        how = -(-size // how)
    if type(how) is int and how > 0:
        how = [min(how, size - start) for start in range(0, size, how)]
    if not isinstance(how, (list, tuple)) or not all(type(each) is int for each in how):
        return None
    whole = tensor.view(frame.origin(node), tensor.ndim)
    rows = [(*tensor.shape[:dim], each, *tensor.shape[dim + 1 :]) for each in how]
    known = [each for each in tensor.shape if each is not None]
    strides = tensor.strides
    if strides is None and dim:
        strides = layouts.contiguous(known) if len(known) == len(tensor.shape) else layouts.UNKNOWN_STRIDES
    return Seq("tuple", tuple(whole.with_(shape=row, strides=strides) for row in rows))


def leaves_gaps(parts: list[Value], node: ast.AST) -> bool:
    """Whether basic indices surely leave gaps in memory: a step, or a bound on a dimension after one of several rows."""
    written = node.slice if isinstance(node, ast.Subscript) else None
    nodes = written.elts if isinstance(written, ast.Tuple) else [written]
    one_row = True
    for i, part in enumerate(parts):
        if isinstance(part, Seq) and part.kind == "slice" and part.items is not None:
            lower, upper, step = part.items
            if isinstance(step, Const) and isinstance(step.value, int) and step.value != 1:
                return True
            if is_none(lower) and is_none(upper):
                one_row = False
            elif not one_row:
                return True
            else:
                one_row = _is_row(lower, upper, nodes[i] if i < len(nodes) else None)
        elif is_int(part):
            if not one_row:
                return True
        elif not is_none(part):
            one_row = False
    return False


def _is_row(lower: Value, upper: Value, node: ast.AST | None) -> bool:
    """Whether a slice takes one row: `:1`, `3:4`, `-1:`, `i : i + 1`."""
    first = 0 if is_none(lower) else lower.value if isinstance(lower, Const) else None
    if isinstance(first, int) and isinstance(upper, Const):
        return upper.value == first + 1 if isinstance(upper.value, int) else first == -1
    return (
        isinstance(node, ast.Slice)
        and isinstance(node.upper, ast.BinOp)
        and isinstance(node.upper.op, ast.Add)
        and isinstance(node.upper.right, ast.Constant)
        and node.upper.right.value == 1
        and node.lower is not None
        and ast.dump(node.upper.left) == ast.dump(node.lower)
    )
