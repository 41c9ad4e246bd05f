"""What a parameter probably wants, from its name, annotation and default. Shapes are tuples, dtypes are names."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

BATCH, SEQUENCE, WIDTH, SIDE, VOCABULARY = 2, 8, 32, 32, 128


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor to make."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    high: int = 2
    """Exclusive bound of integer values: small enough for any table that is looked up."""
    unit: bool = False
    """Floating values between 0 and 1, as those of images and probabilities are."""

    def with_rank(self, rank: int) -> TensorSpec:
        """The nearest shape of another rank: the batch first, the features where layers of that rank look for them."""
        width = self.shape[-1] if len(self.shape) in (2, 3) else self.shape[1] if len(self.shape) > 1 else WIDTH
        shapes = {
            0: (),
            1: (BATCH,),
            2: (BATCH, width),
            3: (BATCH, SEQUENCE, width),
            4: (BATCH, width, SIDE, SIDE),
            5: (BATCH, width, 4, SIDE, SIDE),
        }
        return replace(self, shape=shapes.get(rank, self.shape))


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple, list or dict of things to make."""

    items: tuple[Any, ...]
    kind: str = "tuple"


_PEER = r"(from|to|left|right|src|dst|source|dest|peer|prev|next|local|global|node)_rank"

_NUMBERS: tuple[tuple[str, int | float], ...] = (
    (r"dropout|drop_?(rate|path|prob)|^drop|_drop$|^p$|_prob$|pdrop", 0.0),
    (r"eps(ilon)?$", 1e-5),
    (r"(^|_)v?_?min$|(^|_)(low|lower|lower_bound)$", 0),
    (
        r"^(?!.*_(dims?|size|channels|features|units|layers|heads)$).*"
        r"(momentum|decay|alpha|beta|gamma|temperature|_scale$|^scale$|slope|theta|std$|sigma|init_values?)",
        1.0,
    ),
    (r"vocab|num_embeddings|n_tokens|num_tokens|codebook_size|ntoken|n_words", VOCABULARY),
    (r"kv_heads|key_value_heads|kv_groups|num_groups|^groups$|n_groups", 2),
    (r"head_dim|dim_head|d_head|d_k$|d_v$|head_size|qk_dim", 8),
    (r"heads?$|n_?head|num_head|attn_heads", 4),
    (r"experts?_per|top_?k|^k$|n_active", 2),
    (r"expert", 4),
    (r"num_classes|n_classes|nclass|num_labels|n_labels|classes$", 10),
    (r"layer_idx|layer_id|block_idx|^idx$|^index$|start_pos|offset$", 0),
    (r"depth|layers?$|blocks?$|n_layer|num_layer|num_block|repeats?$|stages?$|hops$|iters?$|steps$|levels?$", 2),
    (r"kernel|ksize|window", 3),
    (r"stride|dilation", 1),
    (r"padding|^pad$", 1),
    (r"max_?(pos|seq|len|source|target|tokens)|seq_?len|length|context|block_size|n_ctx|n_positions|^n$|^t$", 64),
    (r"patch", 8),
    (r"im(g|age)_?size|resolution|^size$|input_size_hw|height|^h$|^w$", SIDE),
    (r"in_chans|img_channels|image_channels|num_channels|n_channels$", 3),
    (r"reduction|squeeze|ratio|factor|expansion|expand|mult|upscale|downscale|scale_factor|r$", 4),
    (
        r"hidden|dim|width|chan|feature|embed|d_model|n_embd|planes?$|units|nf$|ngf|ndf|size$|_c$|^c$|filters|ffn",
        WIDTH,
    ),
    # Of a process, in a group of one. Any other rank is how many dimensions a factor has.
    (rf"^{_PEER}$", 0),
    (r"rank", 4),
    (r"time|frames?$", 4),
    (r"num|^n_|count|len", 4),
)
_FLAGS = re.compile(
    r"^(use|is|with|has|do|enable|return|output|add|apply|training|causal|bias|affine|inplace|batch_first|bidirectional|"
    r"pre_?norm|residual|skip|shortcut|flash|gated|learnable|deterministic|verbose|debug|norm_first)(_|$)|_bias$|^bias"
)
_WORDS = {
    "act": "gelu", "activation": "gelu", "hidden_act": "gelu", "nonlinearity": "relu", "norm": "layer",
    "padding_mode": "zeros",
    "mode": "nearest", "reduction": "mean", "pool": "mean", "device": "cpu", "dtype": "float32",
}  # fmt: skip


_NO_NUMBER = re.compile(
    r"(^|_)(act|activation|act_fn|activation_fn|act_func|nonlinearity|mode|dtype|device|type|name)$"
)


def number_for(name: str) -> int | float | None:
    """A number for a parameter of that name; None where the name says nothing."""
    lowered = name.lower()
    if _NO_NUMBER.search(lowered):
        return None
    return next((value for pattern, value in _NUMBERS if re.search(pattern, lowered)), None)


_DEPTH = re.compile(r"depth$|(^|_)n?_?layers?$|num_(hidden_)?layers$|n_layers?$|num_blocks$")


def is_depth(name: str) -> bool:
    """Whether a number of that name counts the layers of a model."""
    return bool(_DEPTH.search(name.lower()))


_CHANNELS = re.compile(r"(^|_)(n?_?in|n?_?out|mid)?_?(chs?|chans?|channels?|nc|planes|feats?|features)(_in|_out)?$")


def is_channels(name: str) -> bool:
    """Whether a number of that name is how many channels go into a layer or come out of it."""
    return bool(_CHANNELS.search(name.lower()))


CONFIGS = ("config", "cfg", "args", "hparams", "opt", "params", "options", "conf", "settings", "hps", "configs")


def is_config(name: str) -> bool:
    """Whether something of that name holds settings."""
    lowered = name.lower()
    return lowered in CONFIGS or lowered.endswith(("_config", "_cfg", "_args", "_params", "_hparams"))


def is_flag(name: str) -> bool:
    return bool(_FLAGS.search(name.lower()))


def word_for(name: str) -> str:
    lowered = name.lower()
    # Whole words: a `model` has no `mode`.
    parts = f"_{lowered}_"
    return next((word for part, word in _WORDS.items() if f"_{part}_" in parts), "")


_IDS = re.compile(
    r"(^|_)(ids?|idx|indices|index|tokens?|labels?|targets?|tgt|src|captions?|words?|edge_index|seq|chars?)$"
)
_MASK = re.compile(r"mask")
_IMAGE = re.compile(r"im(g|age)s?$|pixel_values|frames?$|picture|photo|^rgb$|pixels")
_VIDEO = re.compile(r"video|clip")
_TIME = re.compile(r"^t$|time_?steps?|^time$|sigmas?$|^noise_level$|lengths?$|^lens$|scale$")
_POSITION = re.compile(r"position_embeddings|rotary|freqs_cis|cos_sin|rope")
_PLAIN = re.compile(
    r"^(n|k|h|w|height|width|size|start|start_pos|offset|length|seq_len|step|num_\w+|n_\w+|layer_idx|chunk_size|dim|"
    rf"{_PEER})$"
)


def tensor_for(name: str, width: int = WIDTH) -> TensorSpec:
    """The tensor that a parameter of that name most often is."""
    lowered = name.lower()
    if lowered in ("input_features", "input_values", "inputs_embeds"):
        return TensorSpec((BATCH, SEQUENCE, width))
    if lowered.endswith("valid"):
        return TensorSpec((BATCH, SEQUENCE), "bool")
    if _MASK.search(lowered):
        return TensorSpec((BATCH, SEQUENCE), "bool" if "padding" in lowered else "int64", 2)
    if _VIDEO.search(lowered):
        return TensorSpec((BATCH, 3, 4, SIDE, SIDE))
    if _IMAGE.search(lowered):
        return TensorSpec((BATCH, 3, SIDE, SIDE))
    if _IDS.search(lowered):
        return TensorSpec((BATCH, SEQUENCE), "int64", 2)
    if lowered in ("bbox",):
        return TensorSpec((BATCH, SEQUENCE, 4), "int64", 2)
    if lowered in ("input_pos", "cache_position", "cache_positions", "pos"):
        return TensorSpec((SEQUENCE,), "int64", 2)
    if _TIME.search(lowered):
        return TensorSpec((BATCH,))
    if re.search(r"^adj(_?mat\w*|acency\w*)?$", lowered):
        return TensorSpec((BATCH, SEQUENCE, SEQUENCE), unit=True)
    return TensorSpec((BATCH, SEQUENCE, width))


_EDGES = re.compile(r"edge_?(index|indices|list)$|^edges$")


def as_graph(inputs: dict[str, Any], width: int = WIDTH) -> dict[str, Any]:
    """Inputs as graph networks take them, where one of them lists edges: a row for each node, and for each edge."""
    names = {name: name.lower().rpartition(".")[2].rpartition("[")[2].rstrip("]") for name in inputs}
    if not any(_EDGES.search(last) for last in names.values()):
        return inputs
    found = dict(inputs)
    for name, value in inputs.items():
        if not isinstance(value, TensorSpec):
            continue
        last = names[name]
        if _EDGES.search(last):
            found[name] = TensorSpec((2, SEQUENCE), "int64", 2)
        elif last.startswith("edge") and re.search(r"type|label|id", last):
            found[name] = TensorSpec((SEQUENCE,), "int64", 2)
        elif last.startswith("edge") and "weight" in last:
            found[name] = TensorSpec((SEQUENCE,))
        elif last.startswith("edge"):
            found[name] = TensorSpec((SEQUENCE, value.shape[-1] if value.shape else width))
        elif last in ("batch", "batch_index", "batch_idx", "ptr"):
            found[name] = TensorSpec((SEQUENCE,), "int64", 1)
        elif len(value.shape) == 3 or value.dtype == "int64" and len(value.shape) == 2:
            found[name] = replace(value, shape=value.shape[1:])
    return found


def is_mask(name: str) -> bool:
    """Whether a parameter says which elements count."""
    return bool(_MASK.search(name.lower()))


def is_position(name: str) -> bool:
    """Whether a parameter takes the cosines and sines of rotary positions, a pair."""
    return bool(_POSITION.search(name.lower()))


def value_for(name: str, width: int = WIDTH) -> Any:
    """A call argument from its name alone: a number where names of that kind are numbers, else a tensor."""
    lowered = name.lower()
    if is_flag(lowered):
        return False
    if _PLAIN.match(lowered):
        found = number_for(lowered)
        return int(found) if found is not None else 4
    if is_position(lowered):
        part = TensorSpec((1, SEQUENCE, 8))
        return Several((part, part))
    return tensor_for(name, width)


_AXES = {
    "b": BATCH,
    "batch": BATCH,
    "bs": BATCH,
    "n": SEQUENCE,
    "s": SEQUENCE,
    "t": SEQUENCE,
    "l": SEQUENCE,
    "seq": SEQUENCE,
}
_AXES |= {"h": SIDE, "w": SIDE, "height": SIDE, "width": SIDE, "time": SEQUENCE, "tokens": SEQUENCE, "length": SEQUENCE}
_JAXTYPED = re.compile(r"^\s*(?:\w+\.)*(?P<dtype>[A-Z]\w*)\[\s*[\w.]+\s*,\s*[\"'](?P<dims>[^\"']*)[\"']\s*\]")


def from_jaxtyping(annotation: Any, width: int = WIDTH) -> TensorSpec | None:
    """The tensor of `Float[Tensor, "batch seq dim"]`, written out or as the object jaxtyping makes of it."""
    dims = getattr(annotation, "dim_str", None)
    dtype = getattr(getattr(annotation, "dtype", None), "__name__", "") or getattr(annotation, "__name__", "")
    if not isinstance(dims, str):
        match = _JAXTYPED.match(annotation) if isinstance(annotation, str) else None
        if match is None:
            return None
        dims, dtype = match["dims"], match["dtype"]
    shape: list[int] = []
    for axis in dims.split():
        if axis == "..." or axis.startswith("*"):
            shape.append(BATCH)
            continue
        name = axis.lstrip("#_?").rpartition("=")[2].lower()
        shape.append(int(name) if name.isdigit() else 3 if name in ("rgb", "xyz") else _AXES.get(name, width))
    kind = "bool" if dtype.startswith("Bool") else "int64" if dtype.startswith(("Int", "UInt", "Long")) else "float32"
    return TensorSpec(tuple(shape), kind)


_DESCRIBED = r"^\s*(?:Args:\s*)?`{0,2}%s`{0,2}\b[^\n(]*?(?:\([^()\n]*(?:Tensor|optional)[^()\n]*\))?[^\n(]*?[:#][^\n(\[]*?[(\[]([^()\[\]\n]*)[)\]](.*)"
_ENTRY = (
    r"^(?P<margin>[ \t]*)(?:[-*#]+[ \t]*)?(?::param[ \t]+(?:[\w.]+[ \t]+)?)?[`*]*%s[`*]*[ \t]*(?=[:(=,-])"
    r"(?P<text>[^\n]*(?:\n(?P=margin)[ \t]+[^\n]+){0,3})"
)
"""What a docstring says of one argument: the line that begins with its name, and those that are indented below it."""
_INPUT = r"^[ \t]*[-*]?[ \t]*[`*]*[Ii]nputs?[`*]*[ \t]*:(?P<text>[^\n]*)"
"""`Input: (N, C, H, W)`, as torch's own docstrings have it."""
_SHAPE = re.compile(r"[(\[]((?:[^()\[\]]){1,60})[)\]]|\b([A-Z]\w*(?:[ ]?[x×][ ]?[A-Z0-9]\w*)+)\b")
_NO_AXES = frozenset(
    {"tensor", "int", "float", "bool", "str", "optional", "list", "tuple", "default", "none", "batch_first"}
)


def from_description(source: str, name: str, width: int = WIDTH) -> TensorSpec | None:
    """The tensor that a docstring or a comment beside the parameter describes: `x: (B, T, C) float`, `# (12, 768)`."""
    found = re.search(_DESCRIBED % re.escape(name), source, re.MULTILINE)
    if found is not None and (spec := _spec_of(found[1], found[2][:60], name, width)) is not None:
        return spec
    for entry in re.finditer(_ENTRY % re.escape(name), source, re.MULTILINE):
        if (spec := _told_in(entry["text"], name, width)) is not None:
            return spec
    return None


def from_input(source: str, name: str, width: int = WIDTH) -> TensorSpec | None:
    """The tensor that a docstring describes as the input, where there is one."""
    found = re.search(_INPUT, source, re.MULTILINE)
    return _told_in(found["text"], name, width) if found is not None else None


def _told_in(text: str, name: str, width: int) -> TensorSpec | None:
    for shape in _SHAPE.finditer(text):
        axes = shape[1] or ",".join(re.split(r" ?[x×] ?", shape[2]))
        if (spec := _spec_of(axes, text[:80], name, width)) is not None:
            return spec
    return None


def _spec_of(written: str, said: str, name: str, width: int) -> TensorSpec | None:
    """The tensor of axes that are written with commas between them."""
    axes = [axis.strip(" `*\n\t") for axis in written.split(",") if axis.strip(" `*\n\t")]
    if not axes or not all(re.match(r"^[A-Za-z0-9_]+(?:\s*[+*]\s*[A-Za-z0-9_]+)*$", axis) for axis in axes):
        return None
    if any(axis.lower() in _NO_AXES or len(axis) > 24 for axis in axes) or len(axes) > 6:
        return None
    shape = tuple(_described_size(axis, len(axes), width) for axis in axes)
    rest = said.lower()
    dtype = "bool" if "bool" in rest else "int64" if re.search(r"\b(int|long|ids?|indices|longtensor)\b", rest) else ""
    return TensorSpec(shape, dtype or tensor_for(name, width).dtype)


def _described_size(axis: str, rank: int, width: int) -> int:
    if "+" in axis:
        return sum(_described_size(part.strip(), rank, width) for part in axis.split("+"))
    if "*" in axis:
        return math.prod(_described_size(part.strip(), rank, width) for part in axis.split("*"))
    lowered = axis.lower()
    if lowered.isdigit():
        return int(lowered) if int(lowered) <= width else width
    if lowered.startswith("b"):
        return BATCH
    if lowered in ("h", "w", "height", "width") and rank >= 4:
        return SIDE
    return _AXES.get(lowered, SEQUENCE if lowered[0] in "tnlsqkm" else width)
