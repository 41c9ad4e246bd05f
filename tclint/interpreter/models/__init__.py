"""What libraries do with abstract values: one module for each library.

Importing the package puts the models into the slots that values ask, `tclint.values.library.MODELS`.
"""

from tclint.interpreter.models import (
    array_libraries,
    builtins,
    functions,
    modules,
    numpy,
    objects,
    patterns,
    progress_bars,
    standard_library,
    tensors,
    texts,
    tokenizers,
    torch_library,
    transforms,
    versions,
)
from tclint.values.library import MODELS

MODELS.functions = functions
MODELS.modules = modules
MODELS.objects = objects
MODELS.tensors = tensors
MODELS.texts = texts

__all__ = [
    "array_libraries",
    "builtins",
    "functions",
    "modules",
    "numpy",
    "objects",
    "patterns",
    "progress_bars",
    "standard_library",
    "tensors",
    "texts",
    "tokenizers",
    "torch_library",
    "transforms",
    "versions",
]
