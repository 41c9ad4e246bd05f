"""The values that the questions speak of: tensors, arrays, numbers and plain Python objects.

Every program is a function of the same arguments (`PARAMETERS`). `make(turn)` gives fresh ones: the same shapes and types
in every turn, other values. Turn 0 and turn 1 are ordinary, turn 2 is extreme (zeros, False), so that a result or a shape
that follows values shows itself. Turn 3 and 4 change only the Python numbers `k` and `f`.
"""

from __future__ import annotations

from typing import Any

import torch

#: What a program may use. x 4x4 float, v 4 float, n 4x4 int64 in 0..3, iv 4 int64, b 4x4 bool, bv 4 bool, z complex,
#: sq positive definite, img 1x3x8x8, seq 2x3x8, s and s2 0-d float, i0 0-d int, t0 0-d bool, w a leaf that requires
#: grad, vol 1x2x4x4x4, g and gi ndarrays, k an int, f a float.
PARAMETERS = ("x", "v", "n", "iv", "b", "bv", "z", "sq", "img", "seq", "s", "i0", "t0", "w", "vol", "g", "gi", "k", "f")
SIGNATURE = ", ".join(PARAMETERS)


def make(turn: int = 0) -> dict[str, Any]:
    """Fresh arguments for one call."""
    values = turn if turn < 3 else 0
    generator = torch.Generator().manual_seed(values)

    def rand(*shape: int) -> torch.Tensor:
        if values == 2:
            return torch.zeros(*shape)
        return torch.rand(*shape, generator=generator) * 0.8 + 0.1

    x = rand(4, 4)
    limit = 1 if values == 2 else 4
    integers = torch.randint(0, limit, (4, 4), generator=generator)
    found: dict[str, Any] = {
        "x": x,
        "v": rand(4),
        "n": integers,
        "iv": torch.tensor([[0, 1, 2, 3], [3, 1, 0, 3], [0, 0, 0, 0]][values]),
        "b": x > 0.5,
        "bv": torch.tensor([[True, False, True, True], [True, False, False, True], [False] * 4][values]),
        "z": torch.complex(x, x),
        "sq": x @ x.T + torch.eye(4),
        "img": rand(1, 3, 8, 8),
        "seq": rand(2, 3, 8),
        "s": torch.tensor([1.5, 2.25, 0.0][values]),
        "i0": torch.tensor([2, 1, 0][values]),
        "t0": torch.tensor(values == 0),
        "w": rand(4).requires_grad_(),
        "vol": rand(1, 2, 4, 4, 4),
        "g": None,
        "gi": None,
        "k": {3: 3, 4: 5}.get(turn, 2),
        "f": {3: 1.75, 4: 2.625}.get(turn, 0.5),
    }
    try:
        import numpy
    except ImportError:
        return found
    found["g"] = numpy.array(found["x"].tolist())
    found["gi"] = numpy.array(found["iv"].tolist())
    return found


def clone(value: Any) -> Any:
    """A snapshot to compare with later; None where the value is of a kind that is never compared."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return value.copy() if hasattr(value, "dtype") and hasattr(value, "copy") else value
