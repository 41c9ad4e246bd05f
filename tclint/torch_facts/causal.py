"""Modules of torch that ask a mask whether it is the causal one, unless the caller says so.

By hand: modules are asked with what they need, and no mask is needed. Tried on 2.4, 2.11 and 2.13, in training and evaluation:
`torch.nn.modules.transformer._detect_is_causal_mask` reads `bool((mask == causal).all())`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Asked(NamedTuple):
    """A mask that is asked, and the argument that makes asking unnecessary."""

    position: int
    keyword: str
    unless: str


MODULES: Final[Mapping[str, tuple[Asked, ...]]] = {
    "torch.nn.TransformerEncoder.forward": (Asked(1, "mask", "is_causal"),),
    "torch.nn.TransformerDecoder.forward": (Asked(2, "tgt_mask", "tgt_is_causal"),),
    "torch.nn.Transformer.forward": (Asked(2, "src_mask", "src_is_causal"), Asked(3, "tgt_mask", "tgt_is_causal")),
}
