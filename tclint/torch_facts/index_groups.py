"""Calls of a library that ask an index how many groups it speaks of, unless the caller says so.

By hand: torch_geometric is not installed where torch is asked. Every name was called under torch 2.13 (torch_geometric 2.8) with an
index alone, which breaks the graph at `int(index.max()) + 1`, and with the number of groups, which traces in one graph or comes to
another break.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple


class Argument(NamedTuple):
    """Where a call has it."""

    position: int
    keyword: str


class Grouped(NamedTuple):
    """The index that is asked, and what makes asking it unnecessary."""

    asked: Argument
    sizes: tuple[Argument, ...]
    """All of them must be told."""
    bounds: Argument | None = None
    """The ends of the groups, which say how many there are."""
    assumed: bool = False
    """Whether one that is not given is made, and asked all the same."""


_BATCH: Final = Argument(1, "batch")
_INDEX: Final = Argument(1, "index")
_ENDS: Final = Argument(2, "ptr")
_AGGREGATED: Final = Grouped(_INDEX, (Argument(3, "dim_size"),), _ENDS, assumed=True)
_NORMALISED: Final = Grouped(_BATCH, (Argument(2, "batch_size"),))
_POOLED: Final = Grouped(_BATCH, (Argument(2, "size"),))

_FUNCTIONS: Final = {
    "nn.global_add_pool nn.pool.global_add_pool nn.global_mean_pool nn.pool.global_mean_pool": _POOLED,
    "nn.global_max_pool nn.pool.global_max_pool nn.pool.glob.global_add_pool": _POOLED,
    "nn.pool.glob.global_mean_pool nn.pool.glob.global_max_pool": _POOLED,
    "utils.softmax": Grouped(_INDEX, (Argument(3, "num_nodes"),), _ENDS),
    "utils.scatter": Grouped(_INDEX, (Argument(3, "dim_size"),)),
    "utils.degree": Grouped(Argument(0, "index"), (Argument(1, "num_nodes"),)),
    "utils.one_hot": Grouped(Argument(0, "index"), (Argument(1, "num_classes"),)),
    "utils.to_dense_batch": Grouped(_BATCH, (Argument(3, "max_num_nodes"), Argument(4, "batch_size"))),
    "utils.add_self_loops": Grouped(Argument(0, "edge_index"), (Argument(3, "num_nodes"),)),
    "utils.num_nodes.maybe_num_nodes": Grouped(Argument(0, "edge_index"), (Argument(1, "num_nodes"),)),
}
_LAYERS: Final = {
    "norm: GraphNorm GraphSizeNorm InstanceNorm LayerNorm PairNorm": _NORMALISED,
    "norm: MeanSubtractionNorm": Grouped(_BATCH, (Argument(2, "dim_size"),)),
    "aggr: SumAggregation MeanAggregation MaxAggregation MinAggregation MulAggregation StdAggregation": _AGGREGATED,
    "aggr: SoftmaxAggregation AttentionalAggregation MedianAggregation LSTMAggregation SortAggregation": _AGGREGATED,
    "aggr: Set2Set": _AGGREGATED,
}


def _named() -> Iterator[tuple[str, Grouped]]:
    for names, grouped in _FUNCTIONS.items():
        for name in names.split():
            yield f"torch_geometric.{name}", grouped
    for names, grouped in _LAYERS.items():
        room, _, classes = names.partition(": ")
        for name in classes.split():
            yield f"torch_geometric.nn.{name}.__call__", grouped
            yield f"torch_geometric.nn.{room}.{name}.__call__", grouped


CALLS: Final[Mapping[str, Grouped]] = dict(_named())
