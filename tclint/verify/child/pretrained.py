"""Hugging Face models: the class's own config with small numbers in it, and inputs by the names they have there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tclint.verify import guess
from tclint.verify.child.infer import example_of
from tclint.verify.child.inputs import Example, NoInputs
from tclint.verify.child.load import find
from tclint.verify.child.shrunk import shrunk, shrunk_plainly
from tclint.verify.guess import TensorSpec
from tclint.verify.job import Candidate, Job


def pretrained(job: Job, candidate: Candidate, module: ModuleType) -> Example | None:
    transformers = sys.modules.get("transformers")
    base = getattr(transformers, "PreTrainedModel", None) if transformers is not None else None
    if base is None:
        return None
    try:
        target, method = find(module, candidate.name)
    except LookupError:
        return None
    if not (isinstance(target, type) and issubclass(target, base)):
        return None
    config_class = getattr(target, "config_class", None)
    if config_class is None:
        raise NoInputs(f"{candidate.name} is an abstract model: it names no config_class")

    small: Callable[[Any], Any] = shrunk

    def build() -> Any:
        return target(small(config_class))

    try:
        build()
    except Exception as error:
        small = shrunk_plainly
        try:
            build()
        except Exception:
            words = f"{candidate.name} cannot be made from a shrunk {config_class.__name__}: {error}"
            raise NoInputs(words) from error
    main = getattr(target, "main_input_name", "input_ids")
    start = {main: _main_input(main, shrunk(config_class))}
    return example_of(build, target, method, f"{candidate.name} with a shrunk {config_class.__name__}", start)


def _main_input(name: str, config: Any) -> TensorSpec:
    side = getattr(config, "image_size", None)
    channels = getattr(config, "num_channels", None)
    if name == "pixel_values":
        wide = side if isinstance(side, int) else 64
        return TensorSpec((guess.BATCH, channels if isinstance(channels, int) else 3, wide, wide))
    if name == "input_values":
        return TensorSpec((guess.BATCH, 1600))
    if name == "input_features":
        return TensorSpec((guess.BATCH, getattr(config, "num_mel_bins", 16), 128))
    return guess.tensor_for(name)
