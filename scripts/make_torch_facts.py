"""Regenerate `tclint/torch_facts/generated.py` and `graph_breaks.json` from the installed torch.

    python scripts/make_torch_facts.py             # read torch, and measure it (minutes)
    python scripts/make_torch_facts.py --no-measure  # read torch, keep what was measured before (seconds)
    python scripts/make_torch_facts.py --check     # as --no-measure, but only say whether the files are up to date

Two kinds of facts. *Read*: stubs, annotations, operator schemas and tags, Dynamo's own lists. *Measured*: every public
torch function and tensor method, and a list of standard-library calls, is called eagerly with simple arguments until a
call succeeds, then compiled with `backend="eager"` inside `y = x + 1; r = CALL; return y * 2`, and Dynamo is heard on
its `graph_breaks` log. Measuring happens in a child process that may crash or hang; the parent goes on with the next.

Needs torch; numpy too for the measured numpy calls.
"""

from __future__ import annotations

import argparse
import ast
import functools
import inspect
import json
import logging
import os
import re
import select
import signal
import subprocess
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT / "tclint" / "torch_facts"


def words(text: str) -> list[str]:
    return text.split()


# ------------------------------------------------------------------------------------------------ what is looked at

MODULES_OF_FUNCTIONS = (
    "torch",
    "torch.amp",
    "torch.autograd",
    "torch.autograd.forward_ad",
    "torch.autograd.functional",
    "torch.autograd.graph",
    "torch.backends.cuda",
    "torch.backends.cudnn",
    "torch.backends.mkldnn",
    "torch.backends.mps",
    "torch.compiler",
    "torch._dynamo",
    "torch.cpu",
    "torch.cuda",
    "torch.cuda.amp",
    "torch.cuda.nvtx",
    "torch.cuda.random",
    "torch.distributed",
    "torch.fft",
    "torch.func",
    "torch.linalg",
    "torch.mps",
    "torch.nested",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.stateless",
    "torch.overrides",
    "torch.random",
    "torch.signal.windows",
    "torch.sparse",
    "torch.special",
    "torch.utils",
    "torch.utils._pytree",
    "torch.utils.checkpoint",
    "torch.utils.data",
    "torch.utils.dlpack",
)

# Calls that change the process, wait for another, or touch files: never tried with generic arguments.
NEVER_CALLED = re.compile(
    r"""torch\.(compile|save|load|from_file|fork|wait|import_ir_module\w*|merge_type_from_type_comment|parse_\w+
    |set_\w+|use_deterministic_algorithms|init\w*|classproperty|unify_type_list|read_vitals|obj|autocast_\w+|clear_autocast_cache
    |vitals_enabled|cudnn_\w+|miopen_\w+|mkldnn_\w+|get_file_path|prepare_multiprocessing_environment|typename|thread_safe_generator
    |_sync|cond|while_loop|vmap|quantize_per\w*|quantized_\w+)$
    |torch\.(_dynamo|compiler|distributed|func|overrides|utils\._pytree|utils\.data|mps|autograd\.graph)\..*
    |torch\.[\w.]+\.set_\w+
    |torch\.cuda\.(_\w+|stream|classproperty|caching_\w+|change_current_allocator|make_graphed_callables|init)$
    |torch\.utils\.(set_module|generate_methods\w*|rename_privateuse1_backend|swap_tensors)$
    |torch\.random\.(fork_rng|thread_safe_generator)|torch\.profiler_\w+|torch\.fbgemm_\w+|torch\.sym_\w+|torch\.nn\.utils\.parametrize\..*
    |torch\.backends\.\w+\.(sdp_kernel|enable_\w+|preferred_\w+|allow_\w+)
    """,
    re.VERBOSE,
)

# ------------------------------------------------------------------------------------------------ kinds, by hand

TENSOR_DIM_TUPLE = words("max min median nanmedian mode kthvalue cummax cummin")

KIND_OVERLAY_FUNCTIONS = {
    "torch.arange": "tensor",
    "torch.as_tensor": "tensor",
    "torch.asarray": "tensor",
    "torch.atleast_1d": "tensor",
    "torch.atleast_2d": "tensor",
    "torch.atleast_3d": "tensor",
    "torch.autograd.grad": "tensors",
    "torch.autograd.Variable": "tensor",
    "torch.bincount": "int-tensor",
    "torch.broadcast_shapes": "size",
    "torch.compile": "unknown",
    "torch.cond": "unknown",
    "torch.device": "device",
    "torch.einsum": "tensor",
    "torch.from_numpy": "tensor",
    "torch.frombuffer": "tensor",
    "torch.from_dlpack": "tensor",
    "torch.get_default_device": "device",
    "torch.get_default_dtype": "dtype",
    "torch.histc": "tensor",
    "torch.is_tensor": "bool",
    "torch.is_storage": "bool",
    "torch.load": "unknown",
    "torch.lobpcg": "tuple:tensor,tensor",
    "torch.lu": "tuple:tensor,int-tensor",
    "torch.manual_seed": "object",
    "torch.norm": "tensor",
    "torch.nn.functional.adaptive_max_pool1d": "tensor",
    "torch.nn.functional.adaptive_max_pool2d": "tensor",
    "torch.nn.functional.adaptive_max_pool3d": "tensor",
    "torch.nn.functional.ctc_loss": "tensor",
    "torch.nn.functional.fractional_max_pool2d": "tensor",
    "torch.nn.functional.fractional_max_pool3d": "tensor",
    "torch.nn.functional.max_pool1d": "tensor",
    "torch.nn.functional.max_pool2d": "tensor",
    "torch.nn.functional.max_pool3d": "tensor",
    "torch.nn.functional.multi_head_attention_forward": "tuple:tensor,tensor",
    "torch.nn.functional.one_hot": "int-tensor",
    "torch.nn.Parameter": "tensor",
    "torch.nn.parameter.Parameter": "tensor",
    "torch.nn.Buffer": "tensor",
    "torch.nn.parameter.Buffer": "tensor",
    "torch.nn.utils.clip_grad_norm_": "tensor",
    "torch.nn.utils.clip_grads_with_norm_": "none",
    "torch.nn.utils.get_total_norm": "tensor",
    "torch.nn.utils.rnn.pack_padded_sequence": "object",
    "torch.nn.utils.rnn.pack_sequence": "object",
    "torch.nn.utils.rnn.pad_packed_sequence": "tuple:tensor,int-tensor",
    "torch.nn.utils.rnn.pad_sequence": "tensor",
    "torch.nn.utils.rnn.unpack_sequence": "tensors",
    "torch.nn.utils.rnn.unpad_sequence": "tensors",
    "torch.randint": "int-tensor",
    "torch.randint_like": "tensor",
    "torch.randperm": "int-tensor",
    "torch.Size": "size",
    "torch.svd_lowrank": "tuple:tensor,tensor,tensor",
    "torch.pca_lowrank": "tuple:tensor,tensor,tensor",
    "torch.scalar_tensor": "tensor",
    "torch.Tensor": "tensor",
    "torch.tensor": "tensor",
    "torch.tril_indices": "int-tensor",
    "torch.triu_indices": "int-tensor",
    "torch.unique": "tensor",
    "torch.unique_consecutive": "tensor",
    "torch.unravel_index": "tensors",
    "torch.utils.checkpoint.checkpoint": "unknown",
    "torch.utils.checkpoint.checkpoint_sequential": "unknown",
    "torch.where": "tensor",
    "torch.nonzero": "int-tensor",
    "torch.block_diag": "tensor",
    "torch.cartesian_prod": "tensor",
    "torch.std_mean": "tuple:tensor,tensor",
    "torch.var_mean": "tuple:tensor,tensor",
    "torch.lstm": "tuple:tensor,tensor,tensor",
    "torch.gru": "tuple:tensor,tensor",
    "torch.typename": "str",
}

KIND_OVERLAY_METHODS = {
    "aminmax": "tuple:tensor,tensor",
    "as_subclass": "tensor",
    "backward": "none",
    "copy_": "tensor",
    "data_ptr": "int",
    "dim_order": "size",
    "element_size": "int",
    "get_device": "int",
    "histogram": "tuple:tensor,tensor",
    "is_shared": "bool",
    "item": "scalar",
    "map_": "tensor",
    "map2_": "tensor",
    "module_load": "tensor",
    "norm": "tensor",
    "numpy": "ndarray",
    "qscheme": "object",
    "refine_names": "tensor",
    "register_hook": "object",
    "register_post_accumulate_grad_hook": "object",
    "reinforce": "unknown",
    "rename": "tensor",
    "size": "size",
    "storage": "object",
    "storage_type": "object",
    "stride": "size",
    "tolist": "list",
    "type": "tensor",
    "unflatten": "tensor",
    "unique": "tensor",
    "unique_consecutive": "tensor",
    "untyped_storage": "object",
    "where": "tensor",
}

KIND_OVERLAY_ATTRIBUTES = {
    "grad": "tensor",
    "grad_fn": "object",
    "layout": "object",
    "name": "object",
    "names": "object",
    "shape": "size",
    "volatile": "bool",
}

# A schema tells of views that are always views; these return their input (or a view of it) when there is nothing to do.
VIEW_OVERLAY_METHODS = words(
    """
    as_subclass bfloat16 bool byte cdouble cfloat chalf char contiguous cpu cuda double expand_as float half
    int ipu long mtia reshape_as short to type type_as view_as xpu requires_grad_ refine_names rename align_to
    align_as numpy share_memory_ pin_memory coalesce
    """
)
VIEW_OVERLAY_FUNCTIONS = words(
    """
    torch.as_tensor torch.asarray torch.from_numpy torch.from_dlpack torch.frombuffer torch.broadcast_tensors
    torch.atleast_1d torch.atleast_2d torch.atleast_3d torch.nn.functional.dropout
    torch.nn.functional.dropout1d torch.nn.functional.dropout2d torch.nn.functional.dropout3d
    torch.nn.functional.alpha_dropout torch.nn.functional.feature_alpha_dropout torch.dropout torch.unflatten
    torch.meshgrid torch.autograd.Variable torch.nn.Parameter torch.utils.dlpack.from_dlpack
    """
)
VIEW_ATTRIBUTES = words("H T data imag mH mT real")

# Not in the environment this runs in: their public attribute names, so that a tensor's own names can be told from them.
NDARRAY_NAMES = words(
    """
    T all any argmax argmin argpartition argsort astype base byteswap choose clip compress conj conjugate copy
    ctypes cumprod cumsum data device diagonal dot dtype dump dumps fill flags flat flatten getfield imag item
    itemset itemsize mT max mean min nbytes ndim newbyteorder nonzero partition prod ptp put ravel real repeat
    reshape resize round searchsorted setfield setflags shape size sort squeeze std strides sum swapaxes take
    to_device tobytes tofile tolist tostring trace transpose var view
    """
)
PIL_NAMES = words(
    """
    alpha_composite apply_transparency close convert copy crop draft effect_spread entropy filter format
    frombytes get_child_images get_flattened_data getbands getbbox getchannel getcolors getdata getexif
    getextrema getim getpalette getpixel getprojection getxmp has_transparency_data height histogram im info
    load mode palette paste point putalpha putdata putpalette putpixel quantize reduce remap_palette resize
    rotate save seek show size split tell thumbnail tobitmap tobytes toqimage toqpixmap transform transpose
    verify width
    """
)
PANDAS_NAMES = words(
    """
    abs add all any apply astype clip copy corr count cov cummax cummin cumprod cumsum describe diff div
    divide dot drop dtype dtypes empty eq eval expanding explode filter ge get groupby gt head hist index isin
    isna isnull iterrows items join keys kurt le loc lt map mask max mean median merge min mod mode mul
    multiply ndim ne nlargest nunique pct_change pipe pivot plot pop pow prod product quantile query rank
    reindex rename repeat replace resample reset_index rolling round sample shape shift size skew sort_index
    sort_values squeeze stack std sub subtract sum swapaxes tail take to_dict to_list to_numpy tolist
    transform transpose truediv unique unstack update value_counts values var view where
    """
)

# Names that classes of every kind define (a config, an optimizer, an accelerator), or give to their submodules:
# `block.relu(x)` says nothing of a tensor.
TAKEN_NAMES = words(
    """
    add apply apply_ backward ceil clone cos detach dim dist div eq equal exp floor ge get_device greater gt
    gather indices inverse is_distributed is_shared le less log lt map module_load mul names ne negative new
    positive register_hook rename retain_grad scatter select sin size solve sqrt storage sub tan where cross fix
    flip frac inner log_softmax norm outer pin_memory prelu relu roll sigmoid softmax square tanh unfold
    """
)

MODULE_KINDS = {
    "AdaptiveLogSoftmaxWithLoss": "object",
    "Container": "container",
    "Flatten": "tensor",
    "GRU": "rnn",
    "GRUCell": "tensor",
    "Identity": "same",
    "LSTM": "rnn",
    "LSTMCell": "tuple:tensor,tensor",
    "Module": "unknown",
    "ModuleDict": "container",
    "ModuleList": "container",
    "MultiheadAttention": "tuple:tensor,tensor",
    "ParameterDict": "container",
    "ParameterList": "container",
    "RNN": "rnn",
    "RNNBase": "rnn",
    "RNNCell": "tensor",
    "RNNCellBase": "tensor",
    "Sequential": "container",
    "DataParallel": "unknown",
    "DistributedDataParallel": "unknown",
}

# ------------------------------------------------------------------------------------------------ reading torch: kinds

SIMPLE_KINDS = {
    "Tensor": "tensor",
    "torch.Tensor": "tensor",
    "Self": "tensor",
    "FloatTensor": "tensor",
    "LongTensor": "int-tensor",
    "IntTensor": "int-tensor",
    "BoolTensor": "bool-tensor",
    "Parameter": "tensor",
    "bool": "bool",
    "_bool": "bool",
    "builtins.bool": "bool",
    "int": "int",
    "_int": "int",
    "SymInt": "int",
    "builtins.int": "int",
    "float": "float",
    "_float": "float",
    "builtins.float": "float",
    "str": "str",
    "_str": "str",
    "builtins.str": "str",
    "None": "none",
    "NoneType": "none",
    "dtype": "dtype",
    "_dtype": "dtype",
    "torch.dtype": "dtype",
    "device": "device",
    "_device": "device",
    "torch.device": "device",
    "Device": "device",
    "Size": "size",
    "_size": "size",
    "torch.Size": "size",
    "Number": "scalar",
    "Any": "unknown",
    "_Any": "unknown",
    "numpy.ndarray": "ndarray",
    "dict": "object",
    "list": "list",
    "tuple": "unknown",
    "tuple[Tensor, ...]": "tensors",
    "tuple[Any, ...]": "tensors",
}
TENSOR_KINDS = {"tensor", "bool-tensor", "int-tensor"}


def kind_of_annotation(text: str, named: dict[str, str]) -> str:
    """The kind a return annotation names; `unknown` when it names several or none."""
    try:
        tree = ast.parse(text.strip().strip("'\""), mode="eval").body
    except SyntaxError:
        return "unknown"
    return _kind_of_node(tree, named)


def _kind_of_node(node: ast.expr, named: dict[str, str]) -> str:
    text = ast.unparse(node)
    if text in SIMPLE_KINDS:
        return SIMPLE_KINDS[text]
    if text.startswith("torch.return_types."):
        return named.get(text.rsplit(".", 1)[1], "unknown")
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return kind_of_annotation(node.value, named)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _one_of([_kind_of_node(node.left, named), _kind_of_node(node.right, named)])
    if isinstance(node, ast.Subscript):
        return _kind_of_generic(node, named)
    if isinstance(node, (ast.Name, ast.Attribute)):
        last = text.rsplit(".", 1)[-1]
        return SIMPLE_KINDS.get(last, "object" if last[:1].isupper() and len(last) > 1 else "unknown")
    return "unknown"


def _kind_of_generic(node: ast.Subscript, named: dict[str, str]) -> str:
    head = ast.unparse(node.value).rsplit(".", 1)[-1].lower()
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if head == "optional":
        return _one_of([_kind_of_node(parts[0], named), "none"])
    if head == "union":
        return _one_of([_kind_of_node(part, named) for part in parts])
    if head in ("list", "sequence", "iterable", "iterator"):
        inner = _kind_of_node(parts[0], named)
        return "tensors" if inner in TENSOR_KINDS else "list"
    if head == "tuple":
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
            inner = _kind_of_node(parts[0], named)
            return "tensors" if inner in TENSOR_KINDS else "size" if inner == "int" else "list"
        return "tuple:" + ",".join(_member(_kind_of_node(part, named)) for part in parts)
    if head in ("callable", "type", "typeis", "typeguard"):
        return "bool" if head in ("typeis", "typeguard") else "object"
    return "object"


def _member(kind: str) -> str:
    """Members of a tuple are simple kinds: nesting is not written."""
    return "unknown" if "," in kind or ":" in kind else kind


def _one_of(kinds: Iterable[str]) -> str:
    seen = sorted({kind for kind in kinds if kind != "none"})
    if not seen:
        return "none"
    return seen[0] if len(seen) == 1 else "unknown"


def _merge_overloads(kinds: list[str]) -> str:
    """One kind for several overloads: tensor wins over the tuple that a `dim` or `return_...` argument gives."""
    seen = {kind for kind in kinds if kind not in ("none", "unknown")}
    if not seen:
        return "none" if "none" in kinds and "unknown" not in kinds else "unknown"
    if len(seen) == 1:
        return seen.pop()
    if "tensor" in seen and all(
        kind in TENSOR_KINDS or kind.startswith("tuple:") or kind == "tensors" for kind in seen
    ):
        return "tensor"
    return "unknown"


def stub_functions(path: Path, cls: str | None, named: dict[str, str]) -> dict[str, str]:
    """Name -> kind of every def in a stub (of class `cls`, or at the top level)."""
    body = ast.parse(path.read_text()).body
    if cls is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == cls)
    kinds: dict[str, list[str]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and not _is_property(node):
            kind = _kind_of_node(node.returns, named) if node.returns else "unknown"
            kinds.setdefault(node.name, []).append(kind)
    return {name: _merge_overloads(found) for name, found in kinds.items()}


def _is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)


def stub_attributes(path: Path, cls: str) -> dict[str, str]:
    body = next(n.body for n in ast.parse(path.read_text()).body if isinstance(n, ast.ClassDef) and n.name == cls)
    found: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = _kind_of_node(node.annotation, {})
        elif isinstance(node, ast.FunctionDef) and _is_property(node) and node.returns:
            found[node.name] = _kind_of_node(node.returns, {})
    return found


def named_tuples(path: Path) -> dict[str, str]:
    """`torch.return_types.X` -> the tuple kind of its fields; a field called indices holds integers."""
    found: dict[str, str] = {}
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.ClassDef):
            continue
        fields = [n.name for n in node.body if isinstance(n, ast.FunctionDef) and _is_property(n)]
        if fields:
            members = [
                "int-tensor" if field in ("indices", "pivots", "inverse_indices") else "tensor" for field in fields
            ]
            found[node.name] = "tuple:" + ",".join(members)
    return found


def python_kind(function: Any) -> str:
    """The kind of a Python function from its annotation, else from the `-> Tensor` of its docstring."""
    annotation = getattr(function, "__annotations__", {}).get("return", "missing")
    if annotation is None:
        return "none"
    if annotation != "missing":
        text = annotation if isinstance(annotation, str) else _annotation_text(annotation)
        return kind_of_annotation(text, {})
    first = (getattr(function, "__doc__", None) or "").strip().split("\n\n")[0]
    told = re.search(r"\)\s*->\s*([\w\[\], ()]+)", first)
    if told is None:
        return "unknown"
    text = told.group(1).strip()
    return "tensors" if "seq" in text.lower() else kind_of_annotation(text, {})


def _annotation_text(annotation: Any) -> str:
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return (
            annotation.__name__
            if annotation.__module__ == "builtins"
            else f"{annotation.__module__}.{annotation.__name__}"
        )
    return str(annotation).replace("typing.", "").replace("collections.abc.", "")


# ------------------------------------------------------------------------------------------------ reading torch: names


def public_functions() -> dict[str, Any]:
    """Dotted name -> function, for every module that is looked at; private names and classes left out."""
    import importlib

    found: dict[str, Any] = {}
    for module_name in MODULES_OF_FUNCTIONS:
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        exported = set(getattr(module, "__all__", ()))
        for name in dir(module):
            if name.startswith("_") and not (module_name == "torch" and re.match(r"_(check|assert)", name)):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    value = getattr(module, name)
                except Exception:
                    continue
            if isinstance(value, (type, types.ModuleType)) or not callable(value):
                continue
            if hasattr(value, "__origin__"):  # typing.Union and friends
                continue
            home = getattr(value, "__module__", None) or "torch"
            if name not in exported and not home.startswith("torch") and home != "builtins":
                continue
            foreign = not home.startswith((module_name.rsplit(".", 1)[0], "torch._C")) and home not in (
                "torch",
                "torch.functional",
            )
            if name not in exported and module_name != "torch" and foreign:
                continue
            found[f"{module_name}.{name}"] = value
    return found


def public_methods() -> tuple[list[str], list[str]]:
    """The public methods and the public attributes of torch.Tensor."""
    import torch

    methods, attributes = [], []
    for name in dir(torch.Tensor):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(torch.Tensor, name)
        (methods if callable(value) or isinstance(value, (classmethod, staticmethod)) else attributes).append(name)
    return methods, attributes


def module_classes() -> dict[str, str]:
    import torch

    found: dict[str, str] = {}
    for name in dir(torch.nn):
        value = getattr(torch.nn, name)
        if isinstance(value, type) and issubclass(value, torch.nn.Module):
            kind = MODULE_KINDS.get(name, "tensor")
            found[f"torch.nn.{name}"] = kind
            found[f"{value.__module__}.{name}"] = kind
    found["torch.nn.Module"] = found["torch.nn.modules.module.Module"] = "unknown"
    return found


def schemas() -> Iterator[Any]:
    import torch

    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::"):
            yield schema


NAMESPACE_OF_PREFIX = {"linalg_": "torch.linalg", "fft_": "torch.fft", "special_": "torch.special"}


def public_names(op: str, functions: dict[str, Any], methods: list[str]) -> Iterator[str]:
    """The public spellings of an aten operator: `torch.x`, `torch.nn.functional.x`, `Tensor.x`."""
    for prefix, namespace in NAMESPACE_OF_PREFIX.items():
        if op.startswith(prefix) and f"{namespace}.{op[len(prefix) :]}" in functions:
            yield f"{namespace}.{op[len(prefix) :]}"
    for namespace in ("torch", "torch.nn.functional"):
        if f"{namespace}.{op}" in functions:
            yield f"{namespace}.{op}"
    if op in methods:
        yield f"Tensor.{op}"


def view_ops() -> set[str]:
    """Operators with an overload whose result may alias an argument that is not written."""
    found = set()
    for schema in schemas():
        if any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments):
            continue
        if any(r.alias_info is not None for r in schema.returns) and not schema.name.endswith("_"):
            found.add(schema.name.removeprefix("aten::"))
    return found


def inplace_ops() -> set[str]:
    found = set()
    for schema in schemas():
        name = schema.name.removeprefix("aten::")
        first = schema.arguments[0] if schema.arguments else None
        if name.endswith("_") and first is not None and first.alias_info is not None and first.alias_info.is_write:
            found.add(name)
    return found


def tagged_ops() -> tuple[set[str], set[str]]:
    """Operators tagged dynamic_output_shape, and those tagged data_dependent_output."""
    import torch

    dynamic, dependent = set(), set()
    for schema in schemas():
        name = schema.name.removeprefix("aten::")
        try:
            overload = getattr(getattr(torch.ops.aten, name), schema.overload_name or "default")
        except (AttributeError, RuntimeError):
            continue
        if torch.Tag.dynamic_output_shape in overload.tags:
            dynamic.add(name.removeprefix("_").rstrip("2") if name.startswith("_unique") else name)
        if torch.Tag.data_dependent_output in overload.tags:
            dependent.add(name)
    return dynamic, dependent


# ------------------------------------------------------------------------------------------------ measuring
#
# In every program: x float 4x4, v float 4, n int64 4x4 in 0..3, iv int64 4 in 0..3, b bool 4x4, z complex 4x4,
# sq positive definite 4x4, img float 1x3x8x8, seq float 2x3x8, s 0-d float, w a leaf that requires grad.

ARGUMENTS = "x, v, n, iv, b, z, sq, img, seq, s, w"


def recipes(text: str) -> list[str]:
    """Argument lists separated by bars; a dash stands for no argument."""
    return ["" if recipe.strip() == "-" else recipe.strip() for recipe in text.split("|")]


FUNCTION_RECIPES = recipes(
    """
    x | x, x | x, 1 | x, 0 | n | n, n | v | v, v | s | b | b, b | sq | x, x, x | [x, x] | x, 0.5 | x, 0, 1 |
    x, (0, 1) | x, [2, 2] | x, b | x, b, x | x, b, 0.5 | b, x, x | x, 0, n | x, 0, n, x | x, 0, iv | x, 0, iv, x |
    x, 0, iv, 0.5 | x, iv | iv, x | x, n | n, x | n, 1 | n, n, n | x, v | v, x | x, x, v | v, x, x | x, 2 | x, 2, 0 |
    x, torch.float32 | v, 2 | v, v, v | x, (4, 4) | x, (16,) | x, 0, (2, 2) | x, 0, 0, 1 | x, -1.0, 1.0 |
    x, 0.1, 0.9 | x, x, x, x | v, v, 0.5 | z | x, z | img | img, 2 | img, (2, 2) | img, img |
    img, torch.ones(4, 3, 3, 3) | seq | seq, 2 | seq, seq | seq, seq, seq | seq, torch.ones(4, 3, 3) |
    img, torch.ones(3, 4, 3, 3) | seq, torch.ones(3, 4, 3) |
    img[None], torch.ones(4, 3, 1, 3, 3)[:, :1].expand(4, 1, 1, 3, 3) | img, None, None, v[:3], v[:3], True | img, 3 |
    img, [8, 8] | img[:, :1], 2 | x, (1, 1) | x, [4] | x, (4,), v, v | 3 | 3, 3 | (3, 3) | 0, 3 | (2, 2), 0.5 |
    0, 3, (2, 2) | 3, (2, 2) | 'ij,jk->ik', x, x | x[0], x[0], x[1] | v, 2, 4 | x, 0, 4, 2 | x, 1, 2 | sq, x | x, sq |
    torch.float32 | torch.float32, torch.float64 | 'cpu' | (2, 2), (2, 2) | [x], [x] | lambda a: a.sum(), x |
    lambda a: a * 2, x | x, x, 0.5, 0.1 | - | s, 3 | b, 0 | x, [0, 1], [1, 0] | x, iv, iv | [[1.0, 2.0]] |
    seq, x[:, :1].expand(4, 8)[:3] | True | 0 | 1 | x, 'fro' | x.sum(), x | x, x.sum()
    """
)
METHOD_RECIPES = recipes(
    """
    - | x | 1 | 0 | n | v | b | 0.5 | x, x | 0, 1 | (0, 1) | [2, 2] | b, x | b, 0.5 | x, b | 0, n | 0, n, x |
    0, n, 0.5 | 0, iv | 0, iv, x | 0, iv, 0.5 | iv | torch.float32 | 2 | 2, 0 | 4, 4 | 16 | (16,) | 0, (2, 2) |
    0, 0, 1 | 0, 1, 1 | -1.0, 1.0 | 2, 4 | 0, 4, 2 | 1, 2 | x, x, x | v, v | z | 'cpu' | 2, 2, 2, 2 | 1, 0 |
    (4, 1), (1, 4) | True | sq | iv, iv, x | (iv, iv), v | n, x | x, v | x.untyped_storage() | torch.float |
    0, (2, -1) | torch.Tensor | lambda g: g | x, lambda a, c: a | lambda a: a | s | x, n | 0.1, 8, 0, 255 | 1.0 |
    2.0, 2.0 | 0, 0 | v, 2 | 0, -1, x | 0, 1, x[:, :1]
    """
)
RECEIVERS = ("x", "n", "v", "b", "s", "sq", "z", "seq")

ENOUGH = 4  # successful ways of calling are measured, no more
# A recipe that begins with = is the whole expression.
FIXED_RECIPES: dict[str, list[str]] = {
    "torch.is_nonzero": ["s"],
    "Tensor.is_nonzero": ["s."],
    "Tensor.item": ["s.", "n.sum()."],
    "Tensor.repeat_interleave": ["x.iv, 0", "x.2, 0", "x.2"],
    "torch.repeat_interleave": ["x, iv, 0", "x, 2, 0", "iv"],
    "torch.where": ["b, x, x", "b", "b, x, 0.0"],
    "torch.manual_seed": ["0"],
    "torch.random.manual_seed": ["0"],
    "torch.cuda.manual_seed": ["0"],
    "torch.cuda.manual_seed_all": ["0"],
    "torch.set_grad_enabled": ["True"],
    "torch.set_num_threads": ["1"],
    "torch.set_default_dtype": ["torch.float32"],
    "torch.set_default_device": ["None"],
    "torch.set_float32_matmul_precision": ["'highest'"],
    "torch.set_printoptions": ["precision=4"],
    "torch.set_rng_state": ["torch.get_rng_state()"],
    "torch.use_deterministic_algorithms": ["False"],
    "torch.autograd.grad": ["(x.detach().requires_grad_() ** 2).sum(), [x]", "(w ** 2).sum(), w"],
    "torch.autograd.backward": ["(w ** 2).sum()"],
    "Tensor.backward": ["(w ** 2).sum()."],
    "torch.from_numpy": ["np_array"],
    "torch.tensor": ["1.0", "[1.0, 2.0]", "x.shape", "x"],
    "torch.as_tensor": ["1.0", "[1.0, 2.0]", "x"],
    "torch.nn.functional.one_hot": ["n", "n, 4"],
    "torch.bincount": ["iv", "iv, minlength=4"],
    "torch.unique": ["x", "n"],
    "torch.nn.utils.rnn.pad_sequence": ["[x, x]"],
    "torch.nn.utils.rnn.pack_padded_sequence": [
        "seq, [8, 8, 8][:2], batch_first=True, enforce_sorted=False",
        "seq, iv[:2] + 1, True, False",
    ],
    "torch.nn.utils.rnn.pack_sequence": ["[x, x]"],
    "torch.nn.utils.clip_grad_norm_": ["[w], 1.0"],
    "torch.utils.checkpoint.checkpoint": [
        "torch.sin, x, use_reentrant=False",
        "lambda a: a * 2, x, use_reentrant=False",
    ],
    "torch.cond": ["b.any(), lambda a: a + 1, lambda a: a - 1, (x,)"],
    "torch.save": ["x, io.BytesIO()"],
    "torch.typename": ["x"],
    "torch._check": ["x.shape[0] == 4", "True"],
    "torch._check_is_size": ["3"],
    "torch._check_value": ["True"],
    "torch._check_index": ["True"],
    "torch._check_type": ["True"],
    "torch._check_tensor_all": ["x == x"],
    "torch._assert": ["True, 'm'", "(x == x).all(), 'm'"],
    "torch._assert_async": ["(x == x).all()"],
    "torch.compiler.is_compiling": [""],
    "torch.nn.functional.scaled_dot_product_attention": ["seq, seq, seq"],
    "torch.multinomial": ["x.abs(), 2"],
    "torch.Generator": [""],
    "torch.cuda.synchronize": [""],
    "torch.no_grad": [""],
    "torch.inference_mode": [""],
    "torch.compiler.cudagraph_mark_step_begin": [""],
    "torch.nested.nested_tensor": ["[x, x]", "[x, x], layout=torch.jagged"],
    "torch.linalg.lstsq": ["x, x"],
    "torch.nn.functional.embedding": ["n, x"],
    "torch.nn.functional.embedding_bag": ["n, x"],
    "torch.nn.functional.ctc_loss": [
        "torch.randn(5, 2, 4).log_softmax(2), iv.reshape(2, 2).clamp(min=1), (5, 5), (2, 2)"
    ],
    "torch.nn.functional.cross_entropy": ["x, iv", "x, x"],
    "torch.nn.functional.multi_head_attention_forward": [],
    "torch.nn.functional.interpolate": ["img, scale_factor=2", "img, size=(4, 4)"],
    "torch.nn.functional.grid_sample": ["img, torch.zeros(1, 2, 2, 2)"],
    "torch.nn.functional.pad": ["x, (1, 1)"],
    "torch.nn.functional.gumbel_softmax": ["x", "x, hard=True"],
    "torch.nn.functional.layer_norm": ["x, (4,)"],
    "torch.nn.functional.dropout": ["x", "x, 0.5, False"],
    "torch._dynamo.mark_dynamic": ["x, 0"],
    "torch._dynamo.maybe_mark_dynamic": ["x, 0"],
    "torch._dynamo.mark_static": ["x, 0"],
    "torch._dynamo.mark_static_address": ["x"],
    "torch._dynamo.mark_unbacked": ["x, 0"],
    "torch._dynamo.decorators.mark_unbacked": ["x, 0"],
    "torch._dynamo.is_compiling": [""],
    "torch._dynamo.graph_break": [""],
    "torch._dynamo.disable": ["helper"],
    "torch._dynamo.disallow_in_graph": ["helper"],
    "torch._dynamo.allow_in_graph": ["helper"],
    "torch._dynamo.reset": [""],
    "torch.compiler.is_dynamo_compiling": [""],
    "torch.compiler.is_exporting": [""],
    "torch.compiler.disable": ["helper", "=torch.compiler.disable(helper)()"],
    "torch.compiler.allow_in_graph": ["helper"],
    "torch.compiler.assume_constant_result": ["helper"],
    "torch.compiler.set_stance": ["'default'"],
    "torch.compiler.reset": [""],
    "torch.compiler.list_backends": [""],
    "torch.compile": ["helper", "=torch.compile(torch.sin)(x)"],
    "torch.distributed.is_initialized": [""],
    "torch.distributed.is_available": [""],
    "torch.distributed.get_rank": [""],
    "torch.distributed.get_world_size": [""],
    "torch.distributed.get_backend": [""],
    "torch.distributed.barrier": [""],
    "torch.distributed.all_reduce": ["x", "x.clone()"],
    "torch.distributed.broadcast": ["x, 0", "x.clone(), 0"],
    "torch.distributed.reduce": ["x, 0"],
    "torch.distributed.all_gather": ["[torch.empty_like(x)], x"],
    "torch.distributed.all_gather_into_tensor": ["torch.empty_like(x), x"],
    "torch.distributed.all_gather_object": ["[None], 1"],
    "torch.distributed.broadcast_object_list": ["[1], 0"],
    "torch.distributed.gather": ["x, [torch.empty_like(x)], 0"],
    "torch.distributed.scatter": ["torch.empty_like(x), [x], 0"],
    "torch.distributed.reduce_scatter_tensor": ["torch.empty_like(x), x"],
    "torch.distributed.all_to_all_single": ["torch.empty_like(x), x"],
    "torch.distributed.nn.functional.all_reduce": ["x"],
    "torch.distributed.new_group": [""],
    "torch.func.vmap": ["torch.sin", "=torch.func.vmap(torch.sin)(x)"],
    "torch.func.grad": ["=torch.func.grad(lambda a: a.sum())(x)"],
    "torch.func.grad_and_value": ["=torch.func.grad_and_value(lambda a: a.sum())(x)"],
    "torch.func.jacrev": ["=torch.func.jacrev(torch.sin)(v)"],
    "torch.func.jacfwd": ["=torch.func.jacfwd(torch.sin)(v)"],
    "torch.func.hessian": ["=torch.func.hessian(lambda a: (a * a).sum())(v)"],
    "torch.func.jvp": ["torch.sin, (x,), (x,)"],
    "torch.func.vjp": ["torch.sin, x"],
    "torch.func.functional_call": ["linear, {}, (x,)"],
    "torch.func.linearize": ["torch.sin, x"],
    "torch.func.functionalize": ["=torch.func.functionalize(torch.sin)(x)"],
    "torch.vmap": ["=torch.vmap(torch.sin)(x)"],
    "torch.overrides.has_torch_function": ["(x,)"],
    "torch.overrides.is_tensor_like": ["x"],
    "torch.utils._pytree.tree_map": ["lambda a: a * 2, [x, x]"],
    "torch.utils._pytree.tree_flatten": ["[x, x]"],
    "torch.utils._pytree.tree_leaves": ["[x, x]"],
    "torch.utils._pytree.tree_map_only": ["torch.Tensor, lambda a: a * 2, [x, x]"],
    "torch.utils.data.get_worker_info": [""],
    "torch.autograd.graph.save_on_cpu": [""],
    "torch.autograd.graph.saved_tensors_hooks": ["lambda a: a, lambda a: a"],
    "torch.autograd.Variable": ["x"],
    "torch.autograd.set_detect_anomaly": ["False"],
    "torch.autograd.profiler.record_function": ["'a'"],
    "torch.profiler.record_function": ["'a'"],
    "torch.profiler.profile": [""],
    "torch.sym_float": ["x.shape[0]"],
    "torch.sym_int": ["1.5"],
    "torch.sym_ite": ["True, 1, 2"],
    "torch.sym_max": ["x.shape[0], 2"],
    "torch.sym_min": ["x.shape[0], 2"],
    "torch.sym_not": ["x.shape[0] == 1"],
    "torch.sym_sqrt": ["x.shape[0]"],
    "torch.sym_sum": ["[1, 2]"],
    "torch.cuda.is_available": [""],
    "torch.cuda.device_count": [""],
    "torch.cuda.empty_cache": [""],
    "torch.cpu.synchronize": [""],
    "torch.device": ["'cpu'"],
    "torch.autocast": ["'cpu'"],
    "torch.Size": ["[1, 2]"],
    "torch.finfo": ["torch.float32"],
    "torch.iinfo": ["torch.int32"],
    "torch.Tensor": ["2, 3", "[1.0]"],
    "torch.FloatTensor": ["2, 3", "[1.0]"],
    "torch.LongTensor": ["2, 3", "[1]"],
    "torch.nn.Parameter": ["torch.zeros(2)", "x"],
    "torch.nn.Linear": ["4, 4", "=torch.nn.Linear(4, 4)(x)"],
    "torch.nn.LSTM.forward": ["=lstm(seq)"],
    "torch.nn.GRU.forward": ["=gru(seq)"],
    "torch.nn.RNN.forward": ["=rnn(seq)"],
    "torch.nn.LSTMCell.forward": ["=lstm_cell(x)"],
    "torch.nn.MultiheadAttention.forward": ["=attention(seq, seq, seq)"],
    "torch.nn.TransformerEncoderLayer.forward": ["=encoder(seq)"],
    "torch.nn.Module.train": ["=linear.train()"],
    "torch.nn.Module.eval": ["=linear.eval()"],
    "torch.nn.Module.parameters": ["=list(linear.parameters())"],
    "torch.nn.Module.named_modules": ["=list(linear.named_modules())"],
    "torch.nn.Module.state_dict": ["=linear.state_dict()"],
    "torch.nn.Module.to": ["=linear.to('cpu')", "=linear.to(torch.float32)"],
    "torch.nn.Module.zero_grad": ["=linear.zero_grad()"],
    "torch.nn.Module.requires_grad_": ["=linear.requires_grad_(False)"],
    "torch.nn.Module.register_buffer": ["=linear.register_buffer('extra', x.clone())"],
    "torch.nn.Module.register_forward_hook": ["=linear.register_forward_hook(lambda *a: None)"],
    "torch.nn.Module.apply": ["=linear.apply(lambda m: None)"],
    "torch.nn.Module.load_state_dict": ["=linear.load_state_dict(linear.state_dict())"],
    "torch.nn.Module.float": ["=linear.float()"],
    "torch.nn.Module.children": ["=list(linear.children())"],
    "torch.nn.Module.get_submodule": ["=linear.get_submodule('')"],
    "torch.nn.Module.get_parameter": ["=linear.get_parameter('weight')"],
    "torch.nn.Module.modules": ["=list(linear.modules())"],
    "torch.nn.Module.named_parameters": ["=dict(linear.named_parameters())"],
    "torch.nn.Module.buffers": ["=list(linear.buffers())"],
    "torch.distributions.Normal": ["x, x", "=torch.distributions.Normal(x, x).sample()"],
    "torch.distributions.Normal.log_prob": ["=torch.distributions.Normal(x, x).log_prob(x)"],
    "torch.distributions.Categorical": ["=torch.distributions.Categorical(x).sample()"],
    "torch.distributions.Categorical.log_prob": ["=torch.distributions.Categorical(x).log_prob(iv)"],
    "torch.distributions.Bernoulli": ["=torch.distributions.Bernoulli(x).sample()"],
    "torch.distributions.kl_divergence": ["torch.distributions.Normal(x, x), torch.distributions.Normal(x, x)"],
    "torch.distributions.MultivariateNormal": ["v, sq"],
    "torch.distributions.Beta": ["=torch.distributions.Beta(x, x).sample()"],
    "torch.optim.SGD.zero_grad": ["=sgd.zero_grad()"],
    "torch.optim.SGD.step": ["=sgd.step()"],
    "torch.optim.AdamW.step": ["=adamw.step()"],
    "torch.jit.is_scripting": [""],
    "torch.jit.is_tracing": [""],
    "torch.jit.script": ["helper"],
    "torch.jit.annotate": ["int, 1"],
    "torch.jit.isinstance": ["1, int"],
    "torch.onnx.is_in_onnx_export": [""],
    "torch._C._get_tracing_state": [""],
    "torch.is_autocast_enabled": ["", "'cpu'"],
    "torch.get_autocast_dtype": ["'cpu'"],
    "torch.get_autocast_gpu_dtype": [""],
    "torch.is_grad_enabled": [""],
    "torch.is_inference_mode_enabled": [""],
    "torch.enable_grad": [""],
    "torch.get_rng_state": [""],
    "torch.seed": [""],
    "torch.initial_seed": [""],
    "torch.utils.checkpoint.checkpoint_sequential": ["[torch.sin, torch.cos], 2, x, use_reentrant=False"],
    "torch.quantile": ["x, 0.5", "x, v"],
}


def sources_of(name: str) -> list[str]:
    """The expressions that call `name`, simplest first."""
    if name.startswith("Tensor."):
        method = name.removeprefix("Tensor.")
        if name in FIXED_RECIPES:
            pairs = (
                recipe.rsplit(".", 1) if recipe.endswith(".") else recipe.split(".", 1)
                for recipe in FIXED_RECIPES[name]
            )
            return [f"{receiver}.{method}({arguments})" for receiver, arguments in pairs]
        calls = [f"x.{method}({recipe})" for recipe in METHOD_RECIPES]
        return calls + [f"{r}.{method}({recipe})" for r in RECEIVERS[1:] for recipe in METHOD_RECIPES]
    if name in FIXED_RECIPES:
        return [recipe[1:] if recipe[:1] == "=" else f"{name}({recipe})" for recipe in FIXED_RECIPES[name]]
    if NEVER_CALLED.match(name):
        return []
    return [f"{name}({recipe})" for recipe in FUNCTION_RECIPES]


def make_inputs() -> tuple[Any, ...]:
    """Fresh tensors of the same values every time."""
    return tuple(value.detach().clone().requires_grad_(value.requires_grad) for value in _first_inputs())


@functools.cache
def _first_inputs() -> tuple[Any, ...]:
    import torch

    torch.manual_seed(0)
    x = torch.rand(4, 4) * 0.8 + 0.1
    n = torch.randint(0, 4, (4, 4))
    b = x > 0.5
    square = x @ x.T + torch.eye(4)
    weight = torch.rand(4, requires_grad=True)
    image, sequence = torch.rand(1, 3, 8, 8), torch.rand(2, 3, 8)
    z = torch.complex(x, x)
    return (
        x,
        torch.rand(4) * 0.8 + 0.1,
        n,
        torch.tensor([0, 1, 2, 3]),
        b,
        z,
        square,
        image,
        sequence,
        torch.tensor(1.5),
        weight,
    )


def kind_of_value(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bool:
            return "bool-tensor"
        return "tensor" if value.is_floating_point() or value.is_complex() else "int-tensor"
    for kind, cls in (
        ("bool", bool),
        ("int", int),
        ("float", float),
        ("str", str),
        ("size", torch.Size),
        ("dtype", torch.dtype),
    ):
        if isinstance(value, cls):
            return kind
    if value is None:
        return "none"
    if isinstance(value, torch.device):
        return "device"
    if isinstance(value, (tuple, list)):
        kinds = [_member(kind_of_value(member)) for member in value]
        if (isinstance(value, tuple) and type(value) is not tuple) or len(set(kinds)) > 1:
            return "tuple:" + ",".join(kinds)
        return "tensors" if kinds and kinds[0] in TENSOR_KINDS else "list"
    return "object"


class TimeUp(Exception):
    pass


class Ear(logging.Handler):
    """Hears Dynamo's graph_breaks log."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if "Graph break" in text or "graph break" in text:
            told = re.search(r"gb(\d{4})", text)
            self.heard.append(f"GB{told.group(1)}" if told else "GB?")


def measure_one(job: dict[str, Any], ear: Ear, namespace: dict[str, Any]) -> dict[str, Any]:
    """Call eagerly until enough calls succeed, then compile each of these and listen."""
    import torch

    succeeded: list[dict[str, Any]] = []
    shapes: set[tuple[str, str]] = set()
    for source in job["sources"]:
        program = f"def f({ARGUMENTS}):\n    y = x + 1\n    r = {source}\n    return y * 2\n"
        try:
            space = dict(namespace)
            exec(compile(program.replace("return y * 2", "return r"), "eager", "exec"), space)
            inputs = make_inputs()
            signal.alarm(5)
            value = space["f"](*inputs)
            signal.alarm(0)
            kind = kind_of_value(value)
            alias = isinstance(value, torch.Tensor) and _same_storage(value, inputs)
        except BaseException as error:
            signal.alarm(0)
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
        form = (kind, source.split(".", 1)[0] if job["name"].startswith("Tensor.") else "")
        if form in shapes and len(shapes) > 1 and job["name"] not in FIXED_RECIPES:
            continue
        shapes.add(form)
        succeeded.append({"source": source, "kind": kind, "alias": alias, "program": program})
        if len(succeeded) >= ENOUGH:
            break
    if job["name"].startswith("Tensor."):  # an input of the graph and a tensor made in it are not alike to Dynamo
        for way in list(succeeded):
            source = re.sub(r"^(\w+)\.", r"\1.clone().", way["source"])
            program = way["program"].replace(way["source"], source)
            succeeded.append({**way, "source": source, "program": program, "alias": False})
    programs = [way.pop("program") for way in succeeded]
    if len(programs) > 1:  # all in one function: where nothing is heard, one compilation has told of all
        calls = "".join(line + "\n" for program in programs for line in program.splitlines()[2:-1])
        together = listen("\n".join(programs[0].splitlines()[:2]) + f"\n{calls}    return y * 2\n", ear, namespace)
        if together == {"breaks": []}:
            for way in succeeded:
                way.update(together)
            programs = []
    for way, program in zip(succeeded, programs, strict=False):
        way.update(listen(program, ear, namespace))
    return {"name": job["name"], "ways": succeeded}


def listen(program: str, ear: Ear, namespace: dict[str, Any]) -> dict[str, Any]:
    import torch

    torch._dynamo.reset()
    ear.heard.clear()
    space = dict(namespace)
    exec(compile(program, "measured", "exec"), space)
    inputs = make_inputs()
    try:
        signal.alarm(20)
        torch.compile(space["f"], backend="eager")(*inputs)
        return {"breaks": list(ear.heard)}
    except BaseException as error:
        return {
            "breaks": list(ear.heard),
            "raises": said(error),
        }
    finally:
        signal.alarm(0)


def said(error: BaseException) -> str:
    """An exception in one short line that is the same in every run."""
    text = str(error).splitlines()[0] if str(error) else ""
    return re.sub(r"<function (\w+) at 0x\w+>", r"\1", f"{type(error).__name__}: {text}")[:100].strip()


def _same_storage(value: Any, inputs: tuple[Any, ...]) -> bool:
    import torch

    try:
        pointer = value.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return False
    return pointer != 0 and any(
        isinstance(i, torch.Tensor) and i.untyped_storage().data_ptr() == pointer for i in inputs
    )


def worker() -> None:
    """Read jobs on standard input, one JSON a line; answer on a private copy of standard output."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    import torch
    import torch._dynamo
    import torch._logging

    torch.set_num_threads(1)
    ear = Ear()
    torch._logging.set_logs(graph_breaks=True)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and "graph_breaks" in name:
            logger.handlers, logger.propagate = [ear], False
        elif isinstance(logger, logging.Logger) and name.startswith("torch"):
            logger.handlers = [logging.NullHandler()]

    def time_up(*_: Any) -> None:
        raise TimeUp

    signal.signal(signal.SIGALRM, time_up)
    namespace: dict[str, Any] = {"torch": torch}
    exec(PRELUDE, namespace)
    for line in sys.stdin:
        job = json.loads(line)
        if job["name"].startswith("torch.distributed.") and not torch.distributed.is_initialized():
            torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=torch.distributed.HashStore())
        try:
            result = measure_one(job, ear, namespace)
        except BaseException as error:
            result = {"name": job["name"], "ways": [], "lost": repr(error)[:200]}
        answer.write(json.dumps(result) + "\n")
        answer.flush()


def measure(jobs: list[dict[str, Any]], log: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Run the jobs in a child process, started again whenever it dies or hangs."""
    results: dict[str, dict[str, Any]] = {}
    child: subprocess.Popen[str] | None = None
    queue = [(job, True) for job in reversed(jobs)]
    count = 0
    while queue:
        (job, again), count = queue.pop(), count + 1
        if child is None or child.poll() is not None or count % 400 == 0:
            if child is not None:
                child.kill()
            child = subprocess.Popen(
                [sys.executable, __file__, "--worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd="/tmp",
                env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
            )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(json.dumps(job) + "\n")
            child.stdin.flush()
            ready = select.select([child.stdout], [], [], 120)[0]
            line = child.stdout.readline() if ready else ""
        except BrokenPipeError:
            line = ""
        if not line or "lost" in json.loads(line):
            log(f"lost: {job['name']} {line.strip()}")
            child.kill()
            child = None
            if again:
                queue.append((job, False))
            continue
        results[job["name"]] = json.loads(line)
        if count % 100 == 0:
            log(f"{count}/{len(jobs)} {job['name']}")
    if child is not None:
        child.kill()
    return results


# -------------------------------------------------------------------------------------------- standard library calls

PRELUDE = """
import abc, argparse, array, ast, asyncio, atexit, base64, binascii, bisect, calendar, collections
import contextlib, contextvars, copy, csv, dataclasses, datetime, decimal, difflib, enum, fractions
import functools, gc, getpass, glob, gzip, hashlib, heapq, hmac, importlib, importlib.util, inspect, io
import itertools, json, keyword, linecache, locale, logging, math, numbers, operator, os, os.path, pathlib
import pickle, platform, pprint, queue, random, re, secrets, shutil, signal, socket, statistics, string
import struct, subprocess, sys, tempfile, textwrap, threading, time, timeit, traceback, types, typing
import unicodedata, uuid, warnings, weakref, zlib, concurrent.futures, multiprocessing, urllib.parse, html
import shlex, fnmatch, tokenize, cmath, resource, select, errno, ctypes, tracemalloc, dis, stat, graphlib
import cProfile
try:
    import numpy as np
    import numpy
    np_array = np.ones(3)
except ImportError:
    np_array = None

warnings.simplefilter("ignore")
logging.getLogger("x").addHandler(logging.NullHandler())
logging.getLogger("x").propagate = False
logger = logging.getLogger("x")
logging.root.addHandler(logging.NullHandler())

@dataclasses.dataclass
class Point:
    a: int = 1
    b: int = 2

class Colour(enum.Enum):
    RED = 1
    BLUE = 2

class Plain:
    attribute = 1

def helper(a=1):
    return a

plain, point = Plain(), Point()
context_variable = contextvars.ContextVar("c", default=1)
pattern = re.compile("a")
lock = threading.Lock()
generator = random.Random(0)
here = pathlib.Path("/tmp")
text = "abc"
letters = ["c", "a", "b"]
numbers_list = [3, 1, 2]
mapping = {"a": 1, "b": 2}
devnull = open("/dev/null", "w")
cached = functools.lru_cache(helper)
buffer = io.StringIO()
event = threading.Event()
fifo = queue.Queue()
clock = datetime.datetime(2020, 1, 1)
linear = torch.nn.Linear(4, 4)
lstm, gru, rnn = (cls(8, 4, batch_first=True) for cls in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN))
lstm_cell = torch.nn.LSTMCell(4, 4)
attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
encoder = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
sgd = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1)
adamw = torch.optim.AdamW(torch.nn.Linear(2, 2).parameters(), lr=0.1)
"""

# One call a line. `name := expression` where the dotted name is not the text before the first parenthesis.
CALLS = """
time.time() time.time_ns() time.perf_counter() time.perf_counter_ns() time.monotonic() time.monotonic_ns()
time.process_time() time.thread_time() time.sleep(0) time.localtime() time.gmtime() time.strftime("%Y") time.ctime()
time.asctime() time.mktime(time.localtime(0))
datetime.datetime.now() datetime.datetime.utcnow() datetime.datetime.today() datetime.date.today()
datetime.datetime(2020,1,1)
datetime.date(2020,1,1) datetime.timedelta(1) datetime.datetime.fromtimestamp(0)
datetime.datetime.strptime("2020","%Y")
datetime.datetime.isoformat:=clock.isoformat() datetime.datetime.strftime:=clock.strftime("%Y")
calendar.monthrange(2020,1)
timeit.default_timer()
os.getpid() os.getppid() os.getcwd() os.getenv("X") os.environ.get("X") os.environ["HOME"] os.listdir("/tmp")
os.scandir("/tmp")
os.walk("/tmp") os.cpu_count() os.urandom(1) os.stat("/tmp") os.makedirs("/tmp",exist_ok=True) os.fspath("x")
os.getlogin()
os.uname() os.times() os.access("/tmp",0) os.isatty(1) os.get_terminal_size() os.sched_getaffinity(0)
os.system("true")
os.putenv("X_","1") os.strerror(1) os.getuid() os.umask(18) os.environ.setdefault("X_","1") os.environ.copy()
os.path.exists("x") os.path.join("a","b") os.path.basename("a/b") os.path.dirname("a/b") os.path.splitext("a.b")
os.path.isfile("x") os.path.isdir("x") os.path.abspath("x") os.path.realpath("x") os.path.getsize("/tmp")
os.path.expanduser("~") os.path.normpath("a//b") os.path.split("a/b") os.path.isabs("a") os.path.getmtime("/tmp")
os.path.relpath("a") os.path.commonprefix(["a","ab"]) os.path.expandvars("a")
random.random() random.randint(0,3) random.uniform(0,1) random.choice([1,2]) random.choices([1,2],k=1)
random.sample([1,2],1)
random.shuffle([1,2]) random.randrange(3) random.gauss(0,1) random.normalvariate(0,1) random.seed(0)
random.getstate()
random.getrandbits(3) random.betavariate(1,1) random.expovariate(1) random.triangular(0,1) random.Random(0)
random.SystemRandom()
random.Random.random:=generator.random() random.Random.randint:=generator.randint(0,3)
random.setstate(random.getstate())
random.lognormvariate(0,1) random.vonmisesvariate(0,1) random.gammavariate(1,1) random.paretovariate(1)
random.weibullvariate(1,1)
random.randbytes(1) random.binomialvariate()
secrets.token_hex(2) secrets.randbelow(3) secrets.choice([1,2]) secrets.token_bytes(2)
math.sqrt(2) math.exp(1) math.log(2) math.log2(2) math.log10(2) math.sin(1) math.cos(1) math.tan(1) math.atan2(1,1)
math.floor(1.5)
math.ceil(1.5) math.pow(2,2) math.gcd(4,2) math.lcm(4,2) math.prod([1,2]) math.isclose(1,1) math.isnan(1.0)
math.isinf(1.0)
math.isfinite(1.0) math.factorial(3) math.comb(3,2) math.perm(3,2) math.hypot(1,1) math.fsum([1.0]) math.trunc(1.5)
math.erf(1.0)
math.gamma(2.0) math.copysign(1.0,-1.0) math.fabs(-1.0) math.fmod(3,2) math.modf(1.5) math.frexp(1.5)
math.ldexp(1.5,1)
math.radians(1) math.degrees(1) math.dist([1],[2]) math.isqrt(4) math.tanh(1.0) math.acos(0.5) math.log1p(1.0)
math.expm1(1.0)
math.remainder(3,2) math.cbrt(8.0) math.exp2(1.0) math.nextafter(1.0,2.0) math.ulp(1.0) math.lgamma(2.0)
math.erfc(1.0)
cmath.sqrt(1) cmath.exp(1)
uuid.uuid4() uuid.uuid1() uuid.UUID(int=1) hashlib.md5(b"") hashlib.sha256(b"") hashlib.sha1(b"") hashlib.new("md5")
hmac.new(b"a",b"b","md5")
zlib.crc32(b"") zlib.compress(b"") base64.b64encode(b"") base64.b64decode(b"") binascii.hexlify(b"")
gzip.compress(b"")
json.dumps({}) json.loads("{}") json.dump({},devnull) pickle.dumps(1) pickle.loads(pickle.dumps(1))
csv.writer(devnull) csv.reader([])
re.match("a","a") re.compile("b") re.search("a","a") re.sub("a","b","a") re.findall("a","a") re.finditer("a","a")
re.split("a","a")
re.fullmatch("a","a") re.escape("a") re.Pattern.match:=pattern.match("a") re.Pattern.search:=pattern.search("a")
re.Pattern.sub:=pattern.sub("b","a") re.Pattern.findall:=pattern.findall("a")
re.Pattern.fullmatch:=pattern.fullmatch("a")
re.Match.group:=pattern.match("a").group(0) re.Match.groups:=pattern.match("a").groups()
copy.copy([1]) copy.deepcopy([1]) copy.copy({}) copy.deepcopy({}) copy.deepcopy(plain) copy.copy(plain)
copy.deepcopy(x) copy.copy(x)
itertools.chain([1],[2]) itertools.chain.from_iterable([[1]]) itertools.product([1],[2])
itertools.permutations([1,2])
itertools.combinations([1,2],2) itertools.combinations_with_replacement([1,2],2) itertools.islice([1,2],1)
itertools.count()
itertools.cycle([1]) itertools.repeat(1,2) itertools.accumulate([1,2]) itertools.zip_longest([1],[2,3])
itertools.groupby([1,1])
itertools.takewhile(bool,[1]) itertools.dropwhile(bool,[1]) itertools.filterfalse(bool,[1])
itertools.starmap(max,[(1,2)])
itertools.tee([1]) itertools.compress([1],[1]) itertools.pairwise([1,2])
functools.partial(helper,1) functools.reduce(operator.add,[1,2]) functools.wraps(helper) functools.lru_cache(helper)
functools.cache(helper)
functools.cmp_to_key(helper) functools.singledispatch(helper) functools.total_ordering(Plain)
functools.update_wrapper(helper,helper)
functools.lru_cache.cache_clear:=cached.cache_clear() functools.lru_cache.cache_info:=cached.cache_info()
functools.partialmethod(helper,1)
functools.cached_property(helper)
collections.OrderedDict() collections.defaultdict(list) collections.deque([1]) collections.Counter([1])
collections.ChainMap({})
collections.namedtuple("N","a") collections.UserDict() collections.UserList()
collections.Counter.most_common:=collections.Counter([1]).most_common()
collections.deque.append:=collections.deque([1]).append(2)
collections.OrderedDict.move_to_end:=collections.OrderedDict(a=1).move_to_end("a")
collections.abc.Mapping.register:=isinstance({},collections.abc.Mapping)
inspect.signature(helper) inspect.isfunction(helper) inspect.ismethod(helper) inspect.isclass(Plain)
inspect.getsource(json.dumps)
inspect.stack() inspect.currentframe() inspect.getmembers(plain) inspect.getfullargspec(helper)
inspect.ismodule(math) inspect.getmodule(helper)
inspect.isgeneratorfunction(helper) inspect.getdoc(helper) inspect.getfile(json.dumps)
inspect.iscoroutinefunction(helper) inspect.unwrap(helper)
inspect.getattr_static(plain,"attribute") inspect.isbuiltin(len) inspect.callable:=callable(helper)
inspect.getmro(Plain) inspect.cleandoc("a")
warnings.warn("w") warnings.simplefilter("ignore") warnings.filterwarnings("ignore") warnings.catch_warnings()
warnings.warn_explicit("w",UserWarning,"f",1)
warnings.resetwarnings()
logging.getLogger("x") logging.info("m") logging.warning("m") logging.debug("m") logging.error("m")
logging.basicConfig() logging.critical("m")
logging.Logger.info:=logger.info("m") logging.Logger.debug:=logger.debug("m")
logging.Logger.warning:=logger.warning("m") logging.exception("m")
logging.Logger.error:=logger.error("m") logging.Logger.exception:=logger.exception("m")
logging.Logger.critical:=logger.critical("m")
logging.Logger.isEnabledFor:=logger.isEnabledFor(10) logging.Logger.log:=logger.log(10,"m")
logging.Logger.setLevel:=logger.setLevel(30)
logging.Logger.getEffectiveLevel:=logger.getEffectiveLevel() logging.Logger.hasHandlers:=logger.hasHandlers()
logging.log(10,"m")
logging.StreamHandler() logging.Formatter() logging.getLevelName(10) logging.NullHandler() logging.disable(0)
logging.Logger.warn:=logger.warn("m")
sys.getsizeof(1) sys.stdout.write("") sys.stderr.write("") sys.stdout.flush() sys.getrecursionlimit() sys.exc_info()
sys.getrefcount(1)
sys.intern("a") sys.getdefaultencoding() sys._getframe() sys.setrecursionlimit(5000) sys.gettrace()
sys.settrace(None) sys.path.append:=sys.path.append("x")
sys.modules.get:=sys.modules.get("x") sys.version_info.major:=sys.version_info.major sys.getswitchinterval()
sys.is_finalizing() sys.platform.startswith:=sys.platform.startswith("l")
sys.audit("x") sys.displayhook(None) sys.exception() sys.getfilesystemencoding()
gc.collect() gc.disable() gc.enable() gc.isenabled() gc.get_objects() gc.get_referrers(plain) gc.freeze()
gc.get_count()
threading.Lock() threading.RLock() threading.get_ident() threading.current_thread() threading.Thread(target=helper)
threading.local() threading.Event()
threading.active_count() threading.main_thread() threading.Lock.acquire:=lock.acquire(False)
threading.Event.is_set:=event.is_set()
threading.Event.set:=event.set() threading.get_native_id() threading.Semaphore() threading.Condition()
threading.enumerate()
concurrent.futures.ThreadPoolExecutor(1) multiprocessing.cpu_count() multiprocessing.current_process()
multiprocessing.Queue() asyncio.get_event_loop_policy()
contextlib.nullcontext() contextlib.suppress(ValueError) contextlib.contextmanager(helper) contextlib.ExitStack()
contextlib.redirect_stdout(devnull)
contextlib.closing(devnull)
operator.add(1,2) operator.mul(1,2) operator.itemgetter(0) operator.attrgetter("a") operator.methodcaller("a")
operator.eq(1,1) operator.not_(1)
operator.getitem([1],0) operator.setitem([1],0,1) operator.contains([1],1) operator.index(1) operator.truth(1)
operator.is_(1,1) operator.length_hint([1])
operator.countOf([1],1) operator.indexOf([1],1) operator.concat([1],[2]) operator.iadd(1,2) operator.matmul(x,x)
operator.xor(1,2)
str.format:="{}".format(1) str.join:=",".join(letters) str.split:="a b".split() str.replace:=text.replace("a","b")
str.upper:=text.upper()
str.startswith:=text.startswith("a") str.encode:=text.encode() str.strip:=text.strip() str.zfill:=text.zfill(5)
str.isdigit:=text.isdigit()
str.format_map:="{a}".format_map(mapping) str.find:=text.find("a") str.partition:=text.partition("b")
str.rjust:=text.rjust(5) str.title:=text.title()
str.translate:=text.translate({}) str.maketrans("a","b") str.splitlines:=text.splitlines()
str.rsplit:=text.rsplit("b") str.count:=text.count("a")
str.casefold:=text.casefold() str.isalnum:=text.isalnum() str.center:=text.center(5)
str.removeprefix:=text.removeprefix("a") bytes.decode:=b"a".decode()
bytes.fromhex("00") bytes.hex:=b"a".hex() int.bit_length:=(3).bit_length() int.to_bytes:=(3).to_bytes(1,"big")
int.from_bytes(b"a","big")
float.is_integer:=(1.0).is_integer() float.hex:=(1.0).hex() float.fromhex("0x1")
float.as_integer_ratio:=(1.5).as_integer_ratio() int.bit_count:=(3).bit_count()
list.sort:=numbers_list.sort() list.append:=numbers_list.append(1) list.pop:=numbers_list.pop()
list.index:=letters.index("a") list.reverse:=letters.reverse()
list.extend:=letters.extend(["d"]) list.insert:=letters.insert(0,"z") list.remove:=["a"].remove("a")
list.copy:=letters.copy() list.count:=letters.count("a")
list.clear:=[1].clear() dict.get:=mapping.get("a") dict.items:=mapping.items() dict.update:=mapping.update(c=1)
dict.pop:=mapping.pop("q",None)
dict.setdefault:=mapping.setdefault("e",1) dict.fromkeys([1]) dict.copy:=mapping.copy()
dict.popitem:={"a":1}.popitem() dict.clear:={"a":1}.clear()
dict.keys:=mapping.keys() dict.values:=mapping.values() set.add:={1}.add(2) set.union:={1}.union({2})
set.discard:={1}.discard(1) set.update:={1}.update({2})
set.intersection:={1}.intersection({2}) set.difference:={1}.difference({2}) set.issubset:={1}.issubset({2})
set.pop:={1}.pop() set.remove:={1}.remove(1)
set.symmetric_difference:={1}.symmetric_difference({2}) frozenset.union:=frozenset([1]).union([2])
tuple.index:=(1,2).index(1) tuple.count:=(1,2).count(1)
string.Template("a") string.capwords("a") string.Formatter() string.Formatter.format:=string.Formatter().format("a")
textwrap.dedent("a") textwrap.indent("a"," ") textwrap.fill("a") textwrap.shorten("a",5)
statistics.mean([1,2]) statistics.median([1,2]) statistics.stdev([1,2]) statistics.mode([1,1])
statistics.variance([1,2]) statistics.fmean([1,2]) statistics.pstdev([1,2])
bisect.bisect([1,2],1) bisect.bisect_left([1,2],1) bisect.bisect_right([1,2],1) bisect.insort([1,2],1)
heapq.heappush([1],2) heapq.heappop([1]) heapq.heapify([1])
heapq.nlargest(1,[1]) heapq.nsmallest(1,[1]) heapq.merge([1],[2]) heapq.heappushpop([1],2) heapq.heapreplace([1],2)
decimal.Decimal("1") decimal.Decimal(1) decimal.getcontext() fractions.Fraction(1,2) struct.pack("i",1)
struct.unpack("i",b"aaaa") struct.calcsize("i")
io.StringIO() io.BytesIO() io.StringIO.write:=buffer.write("a") io.StringIO.getvalue:=buffer.getvalue()
io.open:=io.open("/dev/null").close() tempfile.mkdtemp() tempfile.gettempdir() tempfile.NamedTemporaryFile()
tempfile.TemporaryDirectory() tempfile.TemporaryFile()
platform.system() platform.machine() platform.python_version() platform.node() platform.platform()
platform.processor() platform.release() platform.uname() platform.python_implementation()
socket.gethostname() socket.socket() getpass.getuser() shutil.which("ls") shutil.disk_usage("/")
shutil.get_terminal_size() glob.glob("/tmp/x*") fnmatch.fnmatch("a","a") shlex.split("a") shlex.quote("a")
html.escape("a")
subprocess.run(["true"]) subprocess.check_output(["true"]) subprocess.Popen(["true"]) signal.getsignal(2)
resource.getrusage(0) ctypes.c_int(1) tracemalloc.start() tracemalloc.stop() tracemalloc.get_traced_memory()
cProfile.Profile()
traceback.print_exc() traceback.format_exc() traceback.print_stack() traceback.extract_stack()
traceback.format_stack() traceback.format_exception(ValueError("a")) linecache.getline("x",1) pprint.pformat(1)
pprint.pprint:=pprint.pprint(1,devnull)
importlib.import_module("json") importlib.util.find_spec("json") importlib.reload(keyword)
importlib.__import__:=__import__("json")
importlib.metadata.version:=importlib.import_module("importlib.metadata").version("torch")
types.SimpleNamespace(a=1) types.MethodType(helper,plain) types.MappingProxyType({})
types.FunctionType(helper.__code__,{}) types.ModuleType("m") types.new_class("C") types.GenericAlias(list,int)
weakref.ref(plain) weakref.proxy(plain) weakref.WeakKeyDictionary() weakref.WeakValueDictionary() weakref.WeakSet()
weakref.finalize(plain,helper)
enum.Enum.__call__:=Colour(1) enum.Enum.__getitem__:=Colour["RED"] enum.auto() enum.Enum.name:=Colour.RED.name
enum.Enum.value:=Colour.RED.value enum.Enum.__iter__:=list(Colour) enum.Enum.__members__:=Colour.__members__
enum.Enum.functional:=enum.Enum("E","A")
dataclasses.asdict(point) dataclasses.replace(point,a=2) dataclasses.fields(point) dataclasses.astuple(point)
dataclasses.is_dataclass(point) dataclasses.field() dataclasses.dataclass(Plain)
dataclasses.make_dataclass("D",["a"])
typing.cast(int,1) typing.get_type_hints(helper) typing.NamedTuple("N",[("a",int)]) typing.TypeVar("T")
typing.get_args(list) typing.get_origin(list) typing.NewType("N",int) typing.overload(helper)
typing.List:=typing.List[int] typing.Optional:=typing.Optional[int]
atexit.register(helper) atexit.unregister(helper) contextvars.ContextVar("d")
contextvars.ContextVar.get:=context_variable.get() contextvars.ContextVar.set:=context_variable.set(1)
contextvars.copy_context()
queue.Queue() queue.Queue.put:=fifo.put(1) queue.Queue.qsize:=fifo.qsize() array.array("i",[1])
difflib.get_close_matches("a",["a"]) difflib.SequenceMatcher(None,"a","b") unicodedata.normalize("NFC","a")
urllib.parse.urlparse("a") urllib.parse.quote("a") keyword.iskeyword("a")
pathlib.Path("x") pathlib.PurePath("x") pathlib.Path.exists:=here.exists() pathlib.Path.joinpath:=here.joinpath("a")
pathlib.Path.__truediv__:=here/"a" pathlib.Path.name:=here.name pathlib.Path.cwd() pathlib.Path.home()
pathlib.Path.is_file:=here.is_file() pathlib.Path.resolve:=here.resolve() pathlib.Path.iterdir:=here.iterdir()
pathlib.Path.glob:=here.glob("q") pathlib.Path.mkdir:=here.mkdir(exist_ok=True)
pathlib.Path.as_posix:=here.as_posix() pathlib.Path.suffix:=here.suffix
ast.literal_eval("1") ast.parse("1") argparse.ArgumentParser() argparse.Namespace(a=1) locale.getlocale()
numbers.Number.register:=isinstance(1,numbers.Number) graphlib.TopologicalSorter() dis.Bytecode(helper)
abc.ABC.register:=isinstance(1,abc.ABC) abc.update_abstractmethods(Plain)
print() print("a") open("/dev/null") id(plain) id(x) hash("a") hash(1) hash(plain) hash((1,2)) vars(plain)
dir(plain) eval("1") exec("1") globals() locals() compile("1","a","eval") repr(1) repr(plain) repr(x) str(1)
str(plain) str(x) format(1,"d") ascii("a") bin(3) hex(3) oct(3) chr(65) ord("a")
getattr(plain,"attribute") setattr(plain,"other",1) hasattr(plain,"a")
delattr:=(setattr(plain,"d",1),delattr(plain,"d")) isinstance(1,int) issubclass(int,object) callable(helper) type(1)
type("T",(),{}) len([1]) sum([1]) min([1,2]) max([1,2]) abs(-1) round(1.5) pow(2,3) divmod(3,2) sorted([2,1])
reversed([1]) enumerate([1]) zip([1],[2]) map(abs,[1]) filter(abs,[1]) any([1]) all([1]) iter([1]) next(iter([1]))
range(3) slice(1) list((1,)) tuple([1]) dict(a=1) set([1]) frozenset([1]) bytes(1) bytearray(1) memoryview(b"a")
complex(1,1) object() property(helper) staticmethod(helper) classmethod(helper) __import__("json") bool(1) int("1")
float("1")
np.random.rand(2) np.random.randn(2) np.random.randint(3) np.random.uniform() np.random.normal()
np.random.choice([1,2]) np.random.permutation(3) np.random.seed(0) np.random.default_rng() np.random.shuffle([1,2])
np.random.random() np.random.beta(1,1) np.random.get_state() np.random.RandomState(0)
np.array([1,2]) np.zeros(2) np.ones(2) np.arange(2) np.linspace(0,1,2) np.sqrt(2.0) np.exp(1.0) np.log(2.0)
np.prod([1,2]) np.sum([1,2]) np.mean([1,2]) np.asarray([1]) np.concatenate([np.ones(1)]) np.stack([np.ones(1)])
np.float32(1) np.int64(1) np.isnan(1.0) np.ceil(1.5) np.floor(1.5) np.clip(1,0,2) np.where(True,1,2)
np.argmax([1,2]) np.argsort([1,2]) np.unique([1,1]) np.interp(1,[0,2],[0,2]) np.eye(2) np.meshgrid([1],[2])
np.histogram([1,2]) np.searchsorted([1,2],1) np.cumsum([1,2]) np.percentile([1,2],50) np.median([1,2])
np.maximum(1,2) np.power(2,2) np.sign(1) np.tile([1],2) np.repeat([1],2) np.iinfo("int32") np.finfo("float32")
np.dtype("float32") np.frombuffer(b"aaaa",np.uint8) np.polyfit([1,2],[1,2],1) np.isin([1],[1]) np.setdiff1d([1],[2])
np.random.multinomial(1,[1.0]) np.linalg.norm([1.0]) np.fft.fft([1.0]) np.vectorize(helper)
np.testing.assert_allclose(1,1) np.array_equal([1],[1]) np.allclose([1],[1]) np.pad([1],1) np.vstack([[1],[2]])
np.hstack([[1],[2]]) np.split(np.ones(2),2) np.expand_dims([1],0) np.squeeze([[1]]) np.transpose([[1]])
np.dot([1],[1]) np.matmul([[1]],[[1]]) np.einsum("i,i",[1],[1]) np.outer([1],[1]) np.cross([1,0,0],[0,1,0])
np.kron([1],[1]) np.trapezoid([1,2]) np.random.binomial(1,0.5) np.random.poisson() np.random.exponential()
np.ndindex(2) np.nan_to_num(1.0) np.set_printoptions(precision=8) np.errstate() np.seterr(all="warn") np.full(2,1)
np.empty(2) np.random.sample() np.random.random_sample() np.random.standard_normal()
"""


def split_calls(text: str) -> Iterator[tuple[str, str]]:
    """The (name, expression) pairs of CALLS: separated by white space outside brackets and quotes."""
    depth, quote, piece = 0, "", ""
    for char in text + "\n":
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if char.isspace() and depth == 0 and not quote:
            if piece:
                name, told, expression = piece.partition(":=")
                if not told:
                    expression, name = piece, re.split(r"[(\[]", piece, maxsplit=1)[0]
                    name += ".__getitem__" if piece[len(name)] == "[" else ""
                yield re.sub(r"^np\.", "numpy.", name), expression
            piece = ""
        else:
            piece += char


# ------------------------------------------------------------------------------------------------ the tables


def verdict(ways: list[dict[str, Any]]) -> tuple[str, str]:
    """('always' | 'on input' | 'sometimes' | 'never' | 'raises', GB id or exception) of the ways a name was called."""
    breaking = [way for way in ways if way["breaks"]]
    if breaking:
        id_ = breaking[0]["breaks"][0]
        on_input = {way["source"] for way in ways if ".clone()." not in way["source"]}
        if len(breaking) == len(ways):
            return "always", id_
        return ("on input" if {way["source"] for way in breaking} == on_input else "sometimes"), id_
    if ways and all("raises" in way for way in ways):
        return "raises", ways[0]["raises"][:60]
    return "never", ""


def all_jobs() -> list[dict[str, Any]]:
    functions, (methods, _) = public_functions(), public_methods()
    names = [f"Tensor.{name}" for name in methods] + sorted({*functions, *(n for n in FIXED_RECIPES if n[0] == "t")})
    jobs = [{"name": name, "sources": sources_of(name)} for name in names]
    calls: dict[str, list[str]] = {}
    for name, expression in split_calls(CALLS):
        calls.setdefault(name, []).append(expression)
    jobs += [{"name": name, "sources": expressions} for name, expressions in sorted(calls.items())]
    # Those that start a process group go last: nothing after them is measured with one.
    return sorted((job for job in jobs if job["sources"]), key=lambda job: job["name"].startswith("torch.distributed."))


def measured_tables(log: Callable[[str], None], save: Path | None, only: str | None) -> dict[str, Any]:
    """Measure every job, or those whose name matches `only`, the others being taken from `save`."""
    jobs = all_jobs()
    kept = json.loads(save.read_text()) if only is not None and save is not None else {}
    if only is not None:
        wanted = [job for job in jobs if re.search(only, job["name"]) or job["name"] not in kept]
    else:
        wanted = jobs
    results = kept | measure(wanted, log)
    results = {job["name"]: results[job["name"]] for job in jobs if job["name"] in results}
    if save is not None:
        save.write_text(json.dumps(results, indent=1))
    return tables_of(results)


def tables_of(results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    tables: dict[str, Any] = {name: {} for name in MEASURED}
    for name, result in sorted(results.items()):
        ways = result["ways"]
        if not ways:
            continue
        torchy = name.startswith(("torch.", "Tensor."))
        how, told = verdict(ways)
        if how == "always":
            tables["GRAPH_BREAK_OPS" if torchy else "BREAKING_CALLS"][name] = told
        elif how == "on input":
            tables["GRAPH_BREAK_ON_INPUT"][name] = told
        elif how == "sometimes":
            tables["GRAPH_BREAK_SOMETIMES" if torchy else "BREAKING_CALLS_SOMETIMES"][name] = told
            tables["GRAPH_BREAK_EXAMPLES"][name] = next(way["source"] for way in ways if way["breaks"])
        elif how == "raises":
            tables["COMPILE_RAISES"][name] = told
        if torchy:
            tables["MEASURED_KINDS"][name] = kind_of_ways(ways)
            one_argument = [way for way in ways if name[0] == "T" or re.search(r"\(\w+\)$", way["source"])]
            if any(way["alias"] for way in one_argument) and not name.endswith("_"):
                tables["MEASURED_ALIASES"][name] = "yes"
    return tables


def kind_of_ways(ways: list[dict[str, Any]]) -> str:
    """One kind for all ways; integers in, integers out says nothing of what floats would give."""
    floats = {way["kind"] for way in ways if re.search(r"\b(x|v|sq|seq|img|s)\b", way["source"])}
    kinds = floats or {"tensor" if way["kind"] in TENSOR_KINDS else way["kind"] for way in ways}
    return _merge_overloads(sorted(kinds)) if len(kinds) > 1 else kinds.pop()


MEASURED = (
    "GRAPH_BREAK_OPS",
    "GRAPH_BREAK_ON_INPUT",
    "GRAPH_BREAK_SOMETIMES",
    "BREAKING_CALLS",
    "BREAKING_CALLS_SOMETIMES",
    "GRAPH_BREAK_EXAMPLES",
    "COMPILE_RAISES",
    "MEASURED_KINDS",
    "MEASURED_ALIASES",
)


def settle(read: str, measured: str | None) -> str:
    """What the stubs say, made sharper by what was seen."""
    if measured is None or measured == "unknown":
        return read
    if read == "tensor" and measured in ("bool-tensor", "int-tensor"):
        return measured
    if read in ("unknown", "object") or (read == "tensors" and measured.startswith("tuple:")):
        return measured
    return read


def read_tables(measured: dict[str, Any]) -> dict[str, Any]:
    import torch

    home = Path(torch.__file__).parent
    named = named_tuples(home / "return_types.pyi")
    stub = stub_functions(home / "_C" / "_VariableFunctions.pyi", None, named)
    stub_nn = stub_functions(home / "_C" / "_nn.pyi", None, named) | stub_functions(
        home / "nn" / "functional.pyi", None, named
    )
    stub_methods = stub_functions(home / "_C" / "__init__.pyi", "TensorBase", named)
    stub_attrs = stub_attributes(home / "_C" / "__init__.pyi", "TensorBase")
    functions, (methods, attributes) = public_functions(), public_methods()
    seen = measured["MEASURED_KINDS"]

    function_kinds: dict[str, str] = {}
    for name, value in functions.items():
        module, _, last = name.rpartition(".")
        read = {"torch": stub, "torch.nn.functional": stub_nn}.get(module, {}).get(last, "unknown")
        if read == "unknown":
            read = python_kind(value)
        if read == "unknown" and module in ("torch.special", "torch.linalg", "torch.fft"):
            read = stub.get(last, "unknown")
        function_kinds[name] = settle(read, seen.get(name))
    function_kinds |= KIND_OVERLAY_FUNCTIONS

    method_kinds: dict[str, str] = {}
    for name in methods:
        read = stub_methods.get(name, "unknown")
        if read == "unknown":
            read = python_kind(getattr(torch.Tensor, name))
        if read == "unknown":
            read = stub.get(name, "unknown")
        method_kinds[name] = settle(read, seen.get(f"Tensor.{name}"))
    method_kinds |= KIND_OVERLAY_METHODS
    for name in inplace_ops():
        if name in methods and method_kinds[name] in ("unknown", "object", "bool-tensor", "int-tensor"):
            method_kinds[name] = "tensor"
    attribute_kinds = {name: stub_attrs.get(name, "unknown") for name in attributes}
    attribute_kinds |= {name: "bool" for name in attributes if name.startswith("is_") or name.endswith("_grad")}
    attribute_kinds |= {
        name: kind for name, kind in KIND_OVERLAY_ATTRIBUTES.items() if name in attributes or name == "names"
    }

    views = view_ops()
    view_methods = {n for n in methods if n in views} | set(VIEW_OVERLAY_METHODS) & set(methods)
    view_functions = {n for op in views for n in public_names(op, functions, []) if n.startswith("torch.")}
    view_functions |= set(VIEW_OVERLAY_FUNCTIONS)
    view_functions.discard("torch.nn.functional.unfold")  # im2col: shares only its name with aten::unfold
    for name in set(measured["MEASURED_ALIASES"]) - {"Tensor.index", "Tensor.new", "Tensor.module_load"}:
        (view_methods if name.startswith("Tensor.") else view_functions).add(name.removeprefix("Tensor."))

    dynamic, dependent = tagged_ops()
    is_public = {name for op in dynamic for name in public_names(op, functions, methods)} | {
        "torch.combinations",
        "torch.unique_consecutive",
    }
    is_public |= {"torch.unique", "Tensor.unique", "Tensor.unique_consecutive"}
    dynamic_names = is_public | {name.rsplit(".", 1)[1] for name in is_public}
    dependent |= {"is_nonzero", "tolist", "numpy"}
    dependent_public = {name for op in dependent for name in public_names(op, functions, methods)}
    dependent_names = dependent_public | {name.rsplit(".", 1)[1] for name in dependent_public} | {"_local_scalar_dense"}
    dependent_names -= {"numpy", "Tensor.numpy"}
    dynamic_names -= {"index", "Tensor.index", "torch.linalg.lstsq", "lstsq"}

    return {
        "FUNCTIONS": function_kinds,
        "METHODS": method_kinds,
        "ATTRIBUTES": attribute_kinds,
        "REDUCE_WITH_DIM_TUPLE": {n for n in TENSOR_DIM_TUPLE if n in methods},
        "TENSOR_ONLY_METHODS": tensor_only(methods),
        "DYNAMIC_SHAPE_OPS": dynamic_names,
        "DATA_DEPENDENT_OUTPUT": dependent_names,
        "VIEW_METHODS": view_methods,
        "VIEW_FUNCTIONS": view_functions,
        "VIEW_ATTRIBUTES": set(VIEW_ATTRIBUTES),
        "INPLACE_METHODS": {n for n in methods if n.endswith("_") and not n.endswith("__")},
        "MODULES": module_classes(),
        "SKIPPED_MODULES": skipped_modules(),
        "NUMPY_SUPPORTED": numpy_names("torch._numpy"),
        "NUMPY_RANDOM_SUPPORTED": numpy_names("torch._numpy.random"),
        "NUMPY_LINALG_SUPPORTED": numpy_names("torch._numpy.linalg"),
        "NUMPY_FFT_SUPPORTED": numpy_names("torch._numpy.fft"),
    }


def tensor_only(methods: list[str]) -> set[str]:
    import datetime
    import pathlib

    import torch

    others = (
        str,
        bytes,
        list,
        dict,
        set,
        tuple,
        torch.nn.Module,
        int,
        float,
        complex,
        pathlib.Path,
        datetime.datetime,
        torch.Size,
    )
    taken = {name for cls in others for name in dir(cls)} | {*NDARRAY_NAMES, *PIL_NAMES, *PANDAS_NAMES}
    return {name for name in methods if name not in taken and name not in TAKEN_NAMES}


def skipped_modules() -> set[str]:
    from torch._dynamo import trace_rules

    names = {module.__name__ for module in trace_rules.BUILTIN_SKIPLIST} | set(trace_rules.THIRDPARTY_SKIPLIST)
    return names


def numpy_names(module_name: str) -> set[str]:
    import importlib

    module = importlib.import_module(module_name)
    found = set()
    for name in dir(module):
        value = getattr(module, name)
        exported = getattr(module, "__all__", None)
        if name.startswith("_") or isinstance(value, types.ModuleType) or (exported and name not in exported):
            continue
        home = getattr(value, "__module__", None) or ""
        if not callable(value) or home.startswith("torch") or isinstance(value, type):
            found.add(name)
    return found - {"annotations", "Any", "Optional", "Sequence"}


# ------------------------------------------------------------------------------------------------ graph_breaks.json


def graph_break_registry(classification: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The installed torch's registry, with the visibility and family that `classification` gives each id."""
    import torch

    registry = json.loads((Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json").read_text())
    table: dict[str, dict[str, Any]] = {}
    for id_, entries in sorted(registry.items()):
        known = classification.get(id_, {})
        table[id_] = {
            "gb_type": entries[0]["Gb_type"],
            "visibility": known.get("visibility", known.get("seen", "unclassified")),
            "family": known.get("family"),
        }
    for id_, known in classification.items():  # an id torch has dropped keeps its name
        table.setdefault(id_, {"gb_type": known["gb_type"], "visibility": "obsolete", "family": known.get("family")})
    return dict(sorted(table.items()))


def write_registry(table: dict[str, dict[str, Any]]) -> str:
    lines = [f"{json.dumps(id_)}: {json.dumps(entry)}" for id_, entry in table.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


# ------------------------------------------------------------------------------------------------ writing

DOCS = {
    "TORCH": "the torch release these facts were read from and measured on",
    "FUNCTIONS": "dotted name of a public function -> kind of its result",
    "METHODS": "method of torch.Tensor -> kind of its result",
    "ATTRIBUTES": "attribute of torch.Tensor -> its kind",
    "REDUCE_WITH_DIM_TUPLE": "return (values, indices) when given a dim, a tensor when not",
    "TENSOR_ONLY_METHODS": "a receiver with such a method is a tensor",
    "DYNAMIC_SHAPE_OPS": "the size of the result depends on the data",
    "DATA_DEPENDENT_OUTPUT": "the result is a Python value read from the data",
    "VIEW_METHODS": "the result may share storage with self",
    "VIEW_FUNCTIONS": "the result may share storage with an argument",
    "VIEW_ATTRIBUTES": "the attribute shares storage with its tensor",
    "INPLACE_METHODS": "write self",
    "MODULES": "nn.Module class -> kind of what its forward returns",
    "SKIPPED_MODULES": "modules that Dynamo does not trace into, by its own lists",
    "NUMPY_SUPPORTED": "names of numpy that Dynamo traces, by torch._numpy",
    "NUMPY_RANDOM_SUPPORTED": "the same for numpy.random",
    "NUMPY_LINALG_SUPPORTED": "the same for numpy.linalg",
    "NUMPY_FFT_SUPPORTED": "the same for numpy.fft",
    "GRAPH_BREAK_OPS": "torch names that break the graph in every way they were called -> graph-break id",
    "GRAPH_BREAK_ON_INPUT": "methods that break on an input of the graph, not on a tensor made in it -> graph-break id",
    "GRAPH_BREAK_EXAMPLES": "a call that breaks, for each name of the two tables that break sometimes",
    "GRAPH_BREAK_SOMETIMES": "torch names that break in some ways of being called and not in others -> graph-break id",
    "BREAKING_CALLS": "stdlib, builtin and numpy calls that break in every way they were called -> graph-break id",
    "BREAKING_CALLS_SOMETIMES": "the same, in some ways of being called and not in others",
    "COMPILE_RAISES": "fine in eager, an exception under torch.compile (not a graph break) -> the exception",
    "MEASURED_KINDS": "kind seen at run time, for the functions and methods that could be called",
    "MEASURED_ALIASES": "seen to share storage with an argument",
}
PRIVATE = ("MEASURED_KINDS", "MEASURED_ALIASES")


def write_module(tables: dict[str, Any], version: str) -> str:
    lines = [
        '"""What torch does, as data. Written by scripts/make_torch_facts.py: do not edit."""',
        "",
        "# fmt: off",
        "",
        f"#: {DOCS['TORCH']}",
        f"TORCH = {json.dumps(version)}",
    ]
    for name, table in tables.items():
        lines += ["", f"#: {DOCS[name]}"]
        if isinstance(table, dict):
            lines.append(f"{name}: dict[str, str] = {{")
            lines += [f"    {json.dumps(key)}: {json.dumps(value)}," for key, value in sorted(table.items())]
            lines.append("}")
        else:
            lines.append(f"{name}: frozenset[str] = frozenset({{")
            lines += [f"    {json.dumps(key)}," for key in sorted(table)]
            lines.append("})")
    return "\n".join(lines) + "\n"


def measured_before() -> dict[str, Any]:
    """The measured tables, as they were written last time."""
    path, seen = FACTS / "generated.py", FACTS / "measured.json"
    tables: dict[str, Any] = {name: {} for name in MEASURED}
    if path.exists():
        for node in ast.parse(path.read_text()).body:
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.target.id in MEASURED
                and node.value
            ):
                tables[node.target.id] = ast.literal_eval(node.value)
    if seen.exists():
        tables |= json.loads(seen.read_text())
    return tables


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-measure", action="store_true", help="keep the measured tables as they are")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file would change")
    parser.add_argument("--results", type=Path, help="a file that keeps every measurement; read if it exists")
    parser.add_argument("--only", help="measure the names this pattern matches; take the others from --results")
    parser.add_argument("--classification", type=Path, help="a registry.json to take graph-break families from")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker()
        return 0
    warnings.simplefilter("ignore")
    import torch

    def log(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    if options.no_measure or options.check:
        measured = measured_before()
    elif options.results and options.results.exists() and options.only is None:
        measured = tables_of(json.loads(options.results.read_text()))
    else:
        measured = measured_tables(log, options.results, options.only)
    tables = read_tables(measured) | {name: measured[name] for name in MEASURED if name not in PRIVATE}
    private = {name: measured[name] for name in PRIVATE}
    registry_path = FACTS / "graph_breaks.json"
    source = options.classification or registry_path
    classification = json.loads(source.read_text()) if source.exists() else {}
    wanted = {
        FACTS / "generated.py": write_module(tables, torch.__version__.split("+")[0]),
        registry_path: write_registry(graph_break_registry(classification)),
        FACTS / "measured.json": json.dumps(private, indent=0, sort_keys=True) + "\n",
    }
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        log(f"{'stale' if options.check else 'wrote'}: {path.relative_to(ROOT)}")
        if not options.check:
            path.write_text(wanted[path])
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
