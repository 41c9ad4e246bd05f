"""Arguments by hand: lists to try on anything, and exact ones for callables that take something special."""

from __future__ import annotations

import re


def recipes(text: str) -> list[str]:
    """Argument lists separated by bars; a dash stands for no argument."""
    return ["" if recipe.strip() == "-" else recipe.strip() for recipe in text.split("|")]


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

FUNCTIONS = recipes(
    """
    x | n | b | s | v | z | - | x, x | n, n | b, b | x, n | s, s | x, 1 | n, 1 | x, 0 | x, 0.5 | x, s | sq | x, x, x | b, x, x | b, n, n | b, x, 0.5 | [x, x] |
    x, dim=0 | x, dim=0, keepdim=True | n, dim=0 | x, 0, 1 | x, (0, 1) | x, [2, 2] | x, b | x, b, x | x, b, 0.5 | x, 0, n | x, 0, n, x |
    x, 0, iv | x, 0, iv, x | x, 0, iv, 0.5 | x, iv | iv, x | n, x | v, v | iv | x, v | v, x | x, x, v | v, x, x | x, 2 | x, 2, 0 |
    x, torch.float32 | v, 2 | v, v, v | x, (4, 4) | x, (16,) | x, 0, (2, 2) | x, 0, 0, 1 | x, -1.0, 1.0 | x, 0.1, 0.9 | x, x, x, x |
    v, v, 0.5 | x, z | img | img, 2 | img, (2, 2) | img, img | img, torch.ones(4, 3, 3, 3) | seq | seq, 2 | seq, seq | seq, seq, seq |
    seq, torch.ones(4, 3, 3) | img, torch.ones(3, 4, 3, 3) | seq, torch.ones(3, 4, 3) | vol | vol, 2 | vol, torch.ones(3, 2, 2, 2, 2) |
    vol, torch.ones(2, 3, 2, 2, 2) | img, None, None, v[:3], v[:3], True | img, 3 | img, [8, 8] | img[:, :1], 2 | img, v[:3] | x, (1, 1) |
    x, [4] | x, (4,), v, v | 3 | 3, 3 | (3, 3) | 0, 3 | (2, 2), 0.5 | 0, 3, (2, 2) | 3, (2, 2) | 'ij,jk->ik', x, x | x[0], x[0], x[1] |
    v, 2, 4 | x, 0, 4, 2 | x, 1, 2 | sq, x | x, sq | torch.float32 | torch.float32, torch.float64 | 'cpu' | (2, 2), (2, 2) | [x], [x] |
    lambda a: a.sum(), x | lambda a: a * 2, x | x, x, 0.5, 0.1 | s, 3 | b, 0 | x, [0, 1], [1, 0] | x, iv, iv | [[1.0, 2.0]] |
    seq, x[:, :1].expand(4, 8)[:3] | True | 0 | 1 | x, 'fro' | x.sum(), x | x, x.sum() | 'mean' | [2, 2] | x, x, x, 4 | g | linear
    """
)
METHODS = recipes(
    """
    - | x | n | 1 | 0 | v | b | s | 0.5 | x, x | dim=0 | dim=0, keepdim=True | 0, 1 | (0, 1) | [2, 2] | b, x | b, 0.5 | x, b | 0, n | 0, n, x |
    0, n, 0.5 | 0, iv | 0, iv, x | 0, iv, 0.5 | iv | torch.float32 | 2 | 2, 0 | 4, 4 | 16 | (16,) | 0, (2, 2) | 0, 0, 1 | 0, 1, 1 |
    -1.0, 1.0 | 2, 4 | 0, 4, 2 | 1, 2 | x, x, x | v, v | z | 'cpu' | 2, 2, 2, 2 | 1, 0 | (4, 1), (1, 4) | True | sq | iv, iv, x |
    (iv, iv), v | n, x | x, v | x.untyped_storage() | torch.float | 0, (2, -1) | torch.Tensor | lambda g: g | x, lambda a, c: a |
    lambda a: a | x, n | 0.1, 8, 0, 255 | 1.0 | 2.0, 2.0 | 0, 0 | v, 2 | 0, -1, x | 0, 1, x[:, :1] | 'torch.FloatTensor'
    """
)
#: Arguments for plain Python and numpy callables.
PLAIN = recipes(
    """
    - | 2 | 0.5 | 'abc' | [3, 1, 2] | [3.0, 1.0] | x | s | i0 | g | gi | k | f | 2, 3 | 0.5, 2.0 | 'abc', 'b' | [1, 2], [3, 4] | [3, 1, 2], 1 | 1, [3, 1, 2] | g, g |
    g, 0 | g, 1 | gi, 1 | g, (2, 8) | x, x | x, 0 | [x, x] | [g, g] | (1, 2) | {'a': 1} | 'a', 1 | 1, 'a' | 2, 0.5 | helper, [1, 2] | abs, [1, 2] | [1, 2], 2 |
    'abc', 'b', 'c' | 0, 1, 2 | 1, 2, 3 | g, g, g | 'abc', 1 | 5, 'x' | b'ab' | None | point | plain | (2, 2) | g, 0, 1 | g, (0, 1) | gi, gi | g > 0.5 | g > 0.5, g, 0.0 |
    k, 3 | f, 2.0 | 0, k | 'i,i', gi, gi | [1], 0, 2 | g[0], g[0] | lambda a: a, [1, 2] | g, 4 | 3, g | 2.0 * numpy.eye(2) | 2.0 * numpy.eye(2), [1.0, 1.0] | int | int, 1 | 0.5, 3 | x.shape | len(x.shape) | n | i0, 3 | 3, i0 | b
    """
)
RECEIVERS = ("x", "n", "b", "v", "s", "i0", "sq", "z", "seq", "img")
