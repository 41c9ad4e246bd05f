"""Sizes of what operations on several tensors give, and of what the modules of torch hold and give."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tclint.torch_facts.layouts import UNKNOWN_STRIDES, Arguments, Layout, broadcast, of_method

Sizes = tuple[int | None, ...]


def of_several(name: str, first: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    """The layout of `x.name(…)` where other tensors are among the arguments: those are layouts, "?" where nobody knows."""
    name = name.removesuffix("_")
    if name in _LIKE_FIRST:
        return first
    if name in ELEMENTWISE:
        found: Layout | None = first
        for other in (*args, *keywords.values()):
            if other == "?" or found is None:
                return None
            if isinstance(other, Layout):
                found = broadcast(found, other)
        return found
    rule = _SEVERAL.get(name)
    try:
        sizes = rule(first.sizes, args, keywords) if rule is not None else None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None  # a call that torch refuses, or one that we cannot read
    plain = name in _FRESH or all(
        isinstance(each, Layout) and each.strides is None for each in (first, *args) if isinstance(each, Layout)
    )
    return Layout(sizes, None if plain else UNKNOWN_STRIDES) if sizes is not None else None


def _matmul(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes | None:
    other = args[0].sizes
    if len(sizes) == 1 or len(other) == 1:
        if len(other) == 1:
            return sizes[:-1]
        return (*other[:-2], other[-1])
    batch = broadcast(Layout(sizes[:-2]), Layout(other[:-2]))
    return (*batch.sizes, sizes[-2], other[-1]) if batch is not None else None


def _index_select(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes:
    dim, index = (*args, *(keywords[name] for name in ("dim", "index") if name in keywords))
    dim %= len(sizes)
    return (*sizes[:dim], index.sizes[0], *sizes[dim + 1 :])


def _gather(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes:
    found: Sizes = (args[1] if len(args) > 1 else keywords["index"]).sizes
    return found


def _like_other(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes:
    found: Sizes = args[0].sizes
    return found


def _linear(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes:
    return (*sizes[:-1], args[0].sizes[0])


def _embedding(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes:
    return (*sizes, args[0].sizes[1])


def _outer(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes:
    return (sizes[0], args[0].sizes[0])


def _cdist(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes:
    return (*sizes[:-1], args[0].sizes[-2])


def _attended(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes:
    """Of `F.scaled_dot_product_attention(query, key, value)`."""
    value = args[1] if len(args) > 1 else keywords["value"]
    return (*sizes[:-1], value.sizes[-1])


def _loss(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes | None:
    return () if keywords.get("reduction", "mean") in ("mean", "sum") and len(args) == 1 else None


def _convolved(sizes: Sizes, args: Arguments, keywords: Mapping[str, Any]) -> Sizes | None:
    weight = args[0].sizes
    names = ("bias", "stride", "padding", "dilation")
    given = {**dict(zip(names, args[1:], strict=False)), **keywords}
    return _windows(sizes, weight[0], weight[2:], given)


_LIKE_FIRST: Final = frozenset(
    "index_add index_copy index_fill masked_fill masked_scatter scatter scatter_add scatter_reduce type_as copy "
    "layer_norm batch_norm group_norm instance_norm rms_norm prelu heaviside".split()
)
"""Operations whose other tensors have no say in the sizes."""
ELEMENTWISE: Final = frozenset(
    "add sub subtract rsub mul multiply div divide true_divide floor_divide remainder fmod pow atan2 arctan2 maximum "
    "minimum max min fmax fmin lerp eq ne lt le gt ge greater less not_equal greater_equal less_equal logical_and "
    "logical_or logical_xor bitwise_and bitwise_or bitwise_xor copysign hypot addcmul addcdiv clamp clip clamp_min "
    "clamp_max where xlogy logaddexp isclose".split()
)
"""Operations of several tensors, element by element."""
_FRESH: Final = frozenset("matmul mm bmm linear".split())
"""Operations whose results lie in one piece, however what they get does."""
_SEVERAL: Final[dict[str, Callable[[Sizes, Arguments, Mapping[str, Any]], Sizes | None]]] = {
    **dict.fromkeys(("matmul", "mm", "bmm", "mv"), _matmul),
    **dict.fromkeys(("dot", "vdot", "inner"), lambda sizes, args, _: () if len(sizes) == 1 else None),
    "index_select": _index_select,
    **dict.fromkeys(("gather", "take_along_dim"), _gather),
    **dict.fromkeys(("expand_as", "view_as", "reshape_as", "take"), _like_other),
    "linear": _linear,
    "embedding": _embedding,
    "outer": _outer,
    "cdist": _cdist,
    "scaled_dot_product_attention": _attended,
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _convolved),
    **dict.fromkeys(
        (
            "cross_entropy mse_loss l1_loss smooth_l1_loss nll_loss huber_loss kl_div binary_cross_entropy "
            "binary_cross_entropy_with_logits"
        ).split(),
        _loss,
    ),
}


# --- modules ----------------------------------------------------------------------------------------------------------


def made(name: str, args: Arguments, keywords: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a module of torch is made with, by the names of its parameters, as far as its sizes depend on them; None where
    some of that is not known."""
    names = _PARAMETERS.get(_family(name), ())
    given = {**dict(zip(names, args, strict=False)), **{key: v for key, v in keywords.items() if key in names}}
    return given if "?" not in given.values() else None


def held(name: str, given: Mapping[str, Any]) -> dict[str, Sizes]:
    """The sizes of the parameters of a module."""
    family = _family(name)
    found: dict[str, Sizes] = {}
    try:
        if family == "Linear":
            found = {"weight": (given["out_features"], given["in_features"]), "bias": (given["out_features"],)}
        elif family == "Embedding":
            found = {"weight": (given["num_embeddings"], given["embedding_dim"])}
        elif family == "Conv":
            groups, rank = given.get("groups", 1), int(name[-2])
            kernel = _each(given["kernel_size"], rank)
            weight = (given["out_channels"], given["in_channels"] // groups, *kernel)
            found = {"weight": weight, "bias": (given["out_channels"],)}
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return {}
    return {key: sizes for key, sizes in found.items() if all(type(size) is int for size in sizes)}


def has_parameters(name: str) -> bool:
    """Whether a module computes with parameters of its own."""
    family = _family(name)
    return family not in _WITHOUT if family != "Same" else name.rpartition(".")[2] in _NORMS


def is_known(name: str) -> bool:
    """Whether what a module gives is known by its name."""
    return _family(name) in _MODULES


def parameters_of(name: str) -> tuple[str, ...]:
    """The names of the parameters of a module that has some, nothing where they are not known."""
    family = _family(name)
    if family in ("Linear", "Conv", "ConvTranspose") or name.rpartition(".")[2].endswith(("LayerNorm", "GroupNorm")):
        return ("weight", "bias")
    if name.rpartition(".")[2].startswith("BatchNorm"):
        return ("weight", "bias")
    return ("weight",) if family == "Embedding" else ()


def given_by(name: str, given: Mapping[str, Any], sizes: Sizes) -> Sizes | None:
    """The sizes of what a module gives for a tensor of some sizes; None where they are not known."""
    family = _family(name)
    try:
        return _MODULES[family](name, given, sizes) if family in _MODULES else None
    except (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


@functools.cache
def _family(name: str) -> str:
    short = name.rpartition(".")[2]
    for family in ("AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "MaxPool"):
        if short.startswith(family) and short[len(family) :] in ("1d", "2d", "3d"):
            return "AdaptivePool" if family.startswith("Adaptive") else "Pool"
    if short in ("Conv1d", "Conv2d", "Conv3d"):
        return "Conv"
    if short in ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"):
        return "ConvTranspose"
    return "Same" if short in _KEEPING else short


def _each(value: Any, rank: int) -> tuple[int, ...]:
    found = tuple(value) if isinstance(value, tuple) else (value,) * rank
    if not all(type(each) is int for each in found):
        raise ValueError(value)
    return found


def _windows(sizes: Sizes, channels: Any, kernel: Sequence[Any], given: Mapping[str, Any]) -> Sizes | None:
    """The sizes after a window has gone over the last dimensions."""
    rank = len(kernel)
    if given.get("padding", 0) == "same":
        return (*sizes[: -rank - 1], channels, *sizes[-rank:])
    stride, dilation = _each(given.get("stride", 1), rank), _each(given.get("dilation", 1), rank)
    padding = _each(given.get("padding", 0), rank)
    moved: list[int | None] = []
    for size, k, s, p, d in zip(sizes[-rank:], kernel, stride, padding, dilation, strict=True):
        steps = (size + 2 * p - d * (k - 1) - 1) / s if size is not None else None
        moved.append(None if steps is None else (math.ceil if given.get("ceil_mode") else math.floor)(steps) + 1)
    return (*sizes[: -rank - 1], channels, *moved)


def _module_linear(name: str, given: Mapping[str, Any], sizes: Sizes) -> Sizes:
    return (*sizes[:-1], given["out_features"])


def _module_embedding(name: str, given: Mapping[str, Any], sizes: Sizes) -> Sizes:
    return (*sizes, given["embedding_dim"])


def _module_conv(name: str, given: Mapping[str, Any], sizes: Sizes) -> Sizes | None:
    kernel = _each(given["kernel_size"], int(name[-2]))
    return _windows(sizes, given["out_channels"], kernel, given)


def _module_pool(name: str, given: Mapping[str, Any], sizes: Sizes) -> Sizes | None:
    if name.rpartition(".")[2].startswith("Avg"):  # its parameters have another order from the fourth on
        given = {key: value for key, value in given.items() if key not in ("dilation", "return_indices")}
    kernel = _each(given["kernel_size"], int(name[-2]))
    step = given.get("stride")
    return _windows(sizes, sizes[-len(kernel) - 1], kernel, {**given, "stride": kernel if step is None else step})


def _module_adaptive(name: str, given: Mapping[str, Any], sizes: Sizes) -> Sizes:
    rank = int(name[-2])
    wanted = given["output_size"]
    wanted = wanted if isinstance(wanted, tuple) else (wanted,) * rank
    new = tuple(old if size is None else size for old, size in zip(sizes[-rank:], wanted, strict=True))
    return (*sizes[:-rank], *new)


def _module_upsample(name: str, given: Mapping[str, Any], sizes: Sizes) -> Sizes | None:
    found = of_method("interpolate", Layout(sizes), (given.get("size"), given.get("scale_factor")), {})
    return found.sizes if found is not None else None


def _module_transposed(name: str, given: Mapping[str, Any], sizes: Sizes) -> Sizes:
    rank = int(name[-2])
    kernel, stride = _each(given["kernel_size"], rank), _each(given.get("stride", 1), rank)
    if given.get("dilation", 1) != 1:
        raise ValueError(given)
    padding, extra = _each(given.get("padding", 0), rank), _each(given.get("output_padding", 0), rank)
    each = zip(sizes[-rank:], kernel, stride, padding, extra, strict=True)
    new = (None if size is None else (size - 1) * s - 2 * p + k + e for size, k, s, p, e in each)
    return (*sizes[: -rank - 1], given["out_channels"], *new)


def _module_flatten(name: str, given: Mapping[str, Any], sizes: Sizes) -> Sizes | None:
    start, end = given.get("start_dim", 1) % len(sizes), given.get("end_dim", -1) % len(sizes)
    middle = [size for size in sizes[start : end + 1] if size is not None]
    whole = len(middle) == end + 1 - start
    return (*sizes[:start], math.prod(middle) if whole else None, *sizes[end + 1 :])


_KEEPING: Final = frozenset(
    "Identity ReLU ReLU6 LeakyReLU PReLU ELU CELU SELU GELU SiLU Mish Hardswish Hardsigmoid Hardtanh Sigmoid Tanh Softplus "
    "Softsign LogSigmoid Softmax LogSoftmax Softmax2d Softmin Dropout Dropout1d Dropout2d Dropout3d AlphaDropout LayerNorm "
    "RMSNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d "
    "TransformerEncoderLayer TransformerEncoder".split()
)
"""Modules that keep the sizes of what they get."""
_NORMS: Final = frozenset(
    "PReLU LayerNorm RMSNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d TransformerEncoderLayer "
    "TransformerEncoder".split()
)
"""Those among them that have parameters, unless they are told otherwise."""
_WITHOUT: Final = frozenset("Pool AdaptivePool Flatten Upsample".split())
_MODULES: Final[dict[str, Callable[[str, Mapping[str, Any], Sizes], Sizes | None]]] = {
    "Same": lambda name, given, sizes: sizes,
    "Linear": _module_linear,
    "Embedding": _module_embedding,
    "EmbeddingBag": lambda name, given, sizes: (sizes[0], given["embedding_dim"]) if len(sizes) == 2 else None,
    "Conv": _module_conv,
    "Pool": _module_pool,
    "AdaptivePool": _module_adaptive,
    "Flatten": _module_flatten,
    "Upsample": _module_upsample,
    "ConvTranspose": _module_transposed,
    "GRUCell": lambda name, given, sizes: (*sizes[:-1], given["hidden_size"]),
    "RNNCell": lambda name, given, sizes: (*sizes[:-1], given["hidden_size"]),
}
_PARAMETERS: Final[dict[str, tuple[str, ...]]] = {
    "Linear": ("in_features", "out_features"),
    "Embedding": ("num_embeddings", "embedding_dim"),
    "EmbeddingBag": ("num_embeddings", "embedding_dim"),
    "Conv": ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups"),
    "Pool": ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"),
    "AdaptivePool": ("output_size",),
    "Flatten": ("start_dim", "end_dim"),
    "Upsample": ("size", "scale_factor"),
    "ConvTranspose": (
        "in_channels",
        "out_channels",
        "kernel_size",
        "stride",
        "padding",
        "output_padding",
        "groups",
        "bias",
        "dilation",
    ),
    "GRUCell": ("input_size", "hidden_size"),
    "RNNCell": ("input_size", "hidden_size"),
}
"""The parameters of constructors that decide on sizes, in their order."""
