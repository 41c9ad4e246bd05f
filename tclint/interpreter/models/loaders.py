"""Data sets and loaders: how long they are, and which batches a loop over them gets."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Handler, Keywords, instance
from tclint.interpreter.models.laid_out import joined
from tclint.torch_facts import dtypes
from tclint.torch_facts.dtypes import letter_of
from tclint.values import (
    HOST,
    INT,
    PROVEN,
    UNKNOWN,
    Const,
    Dict,
    FunctionValue,
    Instance,
    Method,
    Object,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Value,
)
from tclint.values.moments import COLLATED, KEPT

LOADER: Final = "torch.utils.data.DataLoader"
_TENSORS: Final = "torch.utils.data.TensorDataset"
_SUBSET: Final = "torch.utils.data.Subset"
_ROWS: Final = 48
"""Rows of a data set that are collated one by one."""
_BATCHES: Final = 24
"""Batches that are told one by one."""


def _tensor_dataset(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    known = all(isinstance(a, Tensor) for a in args) and not open_ended
    return Object(_TENSORS, frame.origin(node), "", Seq("dataset", tuple(args)) if known else None)


def _subset(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`Subset(dataset, indices)`: as many rows as there are indices."""
    indices = args[1] if len(args) > 1 else keywords.get("indices")
    many = indices.known_items(frame) if indices is not None else None
    return _part(frame, node, args[0], len(many) if many is not None else None) if args else UNKNOWN


def _part(frame: Frame, node: ast.AST, dataset: Value, many: int | None) -> Value:
    """A part of a data set, with so many of its rows."""
    held = Seq("dataset", (dataset, Const(many))) if many is not None else None
    return Object(_SUBSET, frame.origin(node), "", held)


def _split(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`random_split(dataset, lengths)`: the lengths may be parts of the whole."""
    wanted = args[1] if len(args) > 1 else keywords.get("lengths")
    items = wanted.known_items(frame) if wanted is not None else None
    lengths = [item.value for item in items or () if isinstance(item, Const) and isinstance(item.value, (int, float))]
    if not args or items is None or len(lengths) != len(items):
        return UNKNOWN
    if sum(lengths) <= 1.0001 and any(isinstance(each, float) for each in lengths):
        whole = _length(frame, node, args[0])
        if whole is None:
            return Seq("list", tuple(_part(frame, node, args[0], None) for _ in lengths))
        lengths = [int(whole * each) for each in lengths]
        for place in range(whole - int(sum(lengths))):  # what is left over goes to the first ones, one by one
            lengths[place % len(lengths)] += 1
    return Seq("list", tuple(_part(frame, node, args[0], int(each)) for each in lengths))


def _loader(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`DataLoader(dataset, batch_size)`: its batches where eager code knows how long the data set is, and what is in it."""
    if frame.region is not None or open_ended or not args:
        return Object(LOADER, frame.origin(node))
    size = args[1] if len(args) > 1 else keywords.get("batch_size", Const(1))
    cut = keywords.get("drop_last", Const(False))
    many = _length(frame, node, args[0])
    plain = not {"batch_sampler", "sampler"} & keywords.keys() and len(args) < 3
    if "collate_fn" in keywords:
        batches = None
        if plain and _is_no(keywords.get("shuffle")) and isinstance(size, Const) and isinstance(cut, Const):
            batches = _in_turn(frame, node, args[0], many, size.value, bool(cut.value))
        return _collating(frame, node, keywords["collate_fn"], args[0], batches)
    if not (plain and many is not None and isinstance(size, Const) and isinstance(cut, Const)):
        return Object(LOADER, frame.origin(node))
    row = _row(frame, node, args[0])
    if size.value is None or type(size.value) is not int or size.value < 1 or row is None:
        return Object(LOADER, frame.origin(node))
    whole, rest = divmod(many, size.value)
    if whole > _BATCHES:
        return Object(LOADER, frame.origin(node), "", Seq("loader", _told(frame, row, size.value, 2, rest, cut)))
    return Object(LOADER, frame.origin(node), "", Seq("list", _told(frame, row, size.value, whole, rest, cut)))


def _is_no(flag: Value | None) -> bool:
    return flag is None or isinstance(flag, Const) and not flag.value


def _in_turn(
    frame: Frame, node: ast.AST, dataset: Value, many: int | None, size: object, cut: bool
) -> list[tuple[Value, ...]] | None:
    """The rows of each batch, where they come in their order and the sizes of all of them are known."""
    if many is None or many > _ROWS or not isinstance(size, int) or size < 1:
        return None
    if isinstance(dataset, Object):  # of torch's own: what its rows are is told once for all of them
        return None
    rows = [dataset.item(frame, node, Const(place)) for place in range(many)]
    if not all(_is_measured(row) for row in rows):
        return None
    batches = [tuple(rows[start : start + size]) for start in range(0, many, size)]
    return batches[:-1] if cut and many % size else batches


def _is_measured(row: Value) -> bool:
    """Whether all that is in a row is known, of tensors how large they are."""
    if isinstance(row, Seq):
        return row.items is not None and all(map(_is_measured, row.items))
    if isinstance(row, Dict):
        return row.elem is None and all(map(_is_measured, row.items.values()))
    if isinstance(row, Tensor):
        return isinstance(row.shape, tuple) and None not in row.shape
    return isinstance(row, (Const, Scalar))


def _collating(
    frame: Frame, node: ast.AST, collate: Value, dataset: Value, batches: Sequence[tuple[Value, ...]] | None
) -> Value:
    """A loader whose batches a function of the program makes, one by one or out of rows that nobody knows."""
    if not isinstance(collate, (FunctionValue, Instance, Method, Partial)):
        return Object(LOADER, frame.origin(node))
    if batches is not None:
        made = tuple(collate.call(frame, node, [Seq("list", rows)], {}) for rows in batches)
        return Object(LOADER, frame.origin(node), "", Seq("list", made))
    row = _row(frame, node, dataset)
    batch = _made_anew(collate.call(frame, node, [Seq("list", None, row if row is not None else UNKNOWN)], {}))
    return Object(LOADER, frame.origin(node), "", Seq("loader", None, batch))


def _made_anew(batch: Value) -> Value:
    """A batch, with those of its lists told that are of another length in every one."""
    if isinstance(batch, Seq):
        length = COLLATED if batch.length == KEPT else batch.length
        if batch.items is None:
            return Seq(batch.kind, None, batch.elem, length)
        return batch.holding_items([_made_anew(item) for item in batch.items])
    if isinstance(batch, Dict):
        items = {name: _made_anew(value) for name, value in batch.items.items()}
        return Dict(items, _made_anew(batch.elem) if batch.elem is not None else None, batch.kind)
    return batch


def _told(frame: Frame, row: Value, size: int, whole: int, rest: int, cut: Const) -> tuple[Value, ...]:
    batches = [_batch(frame, row, size)] * whole
    if rest and not cut.value:
        batches.append(_batch(frame, row, rest))
    return tuple(batches)


def _length(frame: Frame, node: ast.AST, dataset: Value) -> int | None:
    """How many rows a data set has."""
    if isinstance(dataset, Object) and dataset.name == _SUBSET and isinstance(dataset.args, Seq):
        counted = (dataset.args.items or (INT,))[-1]
        return counted.value if isinstance(counted, Const) else None
    if isinstance(dataset, Object) and dataset.name == _TENSORS and isinstance(dataset.args, Seq):
        first = (dataset.args.items or (INT,))[0]
        return first.shape[0] if isinstance(first, Tensor) and isinstance(first.shape, tuple) and first.shape else None
    if isinstance(dataset, Tensor):
        return dataset.shape[0] if isinstance(dataset.shape, tuple) and dataset.shape else None
    if isinstance(dataset, Seq):
        return len(dataset.items) if dataset.items is not None else None
    if isinstance(dataset, Instance) and frame.interp.classes.find_method(dataset.cls, "__len__") is not None:
        many = dataset.call_method(frame, node, "__len__", [], {})
        return many.value if isinstance(many, Const) and type(many.value) is int else None
    return None


def _row(frame: Frame, node: ast.AST, dataset: Value) -> Value | None:
    """What one row of a data set is, as far as all of them are alike."""
    if isinstance(dataset, Object) and dataset.name == _SUBSET and isinstance(dataset.args, Seq):
        return _row(frame, node, dataset.args.items[0]) if dataset.args.items else None
    if isinstance(dataset, Object) and isinstance(dataset.args, Seq):
        return Seq("tuple", tuple(t.item(frame, node, INT) for t in dataset.args.items or ()))
    if isinstance(dataset, (Tensor, Instance)):
        return dataset.item(frame, node, INT)
    if isinstance(dataset, Seq) and dataset.items:
        rows = {row.key: row for row in dataset.items}
        return next(iter(rows.values())) if len(rows) == 1 else None
    return None


def _batch(frame: Frame, row: Value, size: int) -> Value:
    """So many rows as one batch: what `default_collate` makes of them."""
    if isinstance(row, Tensor):
        plain = row.with_(flags=row.flags & ~HOST)
        return joined([plain] * size, Const(0), True, Tensor(PROVEN, row.dtype, -1, row.flags, row.origin))
    if isinstance(row, Seq) and row.items is not None:
        return Seq("tuple" if row.kind == "tuple" and not row.items else "list", _each(frame, row.items, size))
    if isinstance(row, Dict) and row.elem is None:
        return Dict(dict(zip(row.items, _each(frame, list(row.items.values()), size), strict=True)))
    if isinstance(row, (Const, Scalar)) and row.python_type in dtypes.PYTHON:
        dtype = dtypes.PYTHON[row.python_type]
        return Tensor(
            PROVEN,
            letter_of(dtype),
            1,
            HOST,
            frame.origin(ast.Pass()),
            shape=(size,),
            exact=dtype.removeprefix("torch."),
        )
    return Seq("list", None, row)


def _each(frame: Frame, parts: Sequence[Value], size: int) -> tuple[Value, ...]:
    return tuple(_batch(frame, part, size) for part in parts)


BY_NAME: Final[dict[str, Handler]] = {
    LOADER: _loader,
    "torch.utils.data.dataloader.DataLoader": _loader,
    _TENSORS: _tensor_dataset,
    _SUBSET: _subset,
    "torch.utils.data.ConcatDataset": instance,
    "torch.utils.data.random_split": _split,
}
