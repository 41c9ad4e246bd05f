"""Abstract values: what the interpreter knows about one expression. One module for each kind, with its behaviour."""

from typing import Final

from tclint.values.class_value import ClassValue
from tclint.values.compiled import Compiled
from tclint.values.constant import FALSE, NONE, TRUE, Const
from tclint.values.dict import Dict
from tclint.values.evidence import Evidence
from tclint.values.external import External
from tclint.values.flags import (
    ARRAY,
    CONSTANT,
    DATA_SIZED,
    EXPANDED,
    FOLDED,
    GRADIENT_UNKNOWN,
    GRAPHED,
    HOST,
    INPUT,
    NEEDS_GRAD,
    NO_GRADIENT,
    OWNED,
    PARAMETER,
    PENDING,
    PINNED,
    RAW,
    REPLAYED,
    SPARSE,
    STALE,
    STATIC_OUT,
    STEADY,
    STRIDED,
)
from tclint.values.function import FunctionValue
from tclint.values.instance import Instance
from tclint.values.member import Member
from tclint.values.method import Method
from tclint.values.module_value import ModuleValue
from tclint.values.named_tuple_class import NamedTupleClass
from tclint.values.namespace import Namespace
from tclint.values.object import ENUM, Object
from tclint.values.origin import NOWHERE, Origin
from tclint.values.partial import Partial
from tclint.values.questions import contains, may_be_none, truth, widen, without_none
from tclint.values.region import OWN_BACKEND, CompileSite, Region, uses_cudagraphs
from tclint.values.scalar import BOOL, COUNTED, FLOAT, INT, SIZE, STR, Scalar, scalar_type
from tclint.values.sequence import Seq, parts_of, selectors_of
from tclint.values.super_value import Super
from tclint.values.tensor import FIXED, NAMED, PROVEN, UNBACKED, USED, Tensor, is_tensor
from tclint.values.union import Union, join, join_all, spoken_of, tensor_of
from tclint.values.value import UNKNOWN, Unknown, Value

CALLABLES: Final = (FunctionValue, ClassValue, Partial, Compiled, Instance, External)
"""The kinds whose call runs code that the value itself decides."""

__all__ = [
    "ARRAY",
    "BOOL",
    "CALLABLES",
    "CONSTANT",
    "COUNTED",
    "DATA_SIZED",
    "ENUM",
    "EXPANDED",
    "FALSE",
    "FIXED",
    "FLOAT",
    "FOLDED",
    "GRADIENT_UNKNOWN",
    "GRAPHED",
    "HOST",
    "INPUT",
    "INT",
    "NAMED",
    "NEEDS_GRAD",
    "NONE",
    "NOWHERE",
    "NO_GRADIENT",
    "OWNED",
    "OWN_BACKEND",
    "PARAMETER",
    "PENDING",
    "PINNED",
    "PROVEN",
    "RAW",
    "REPLAYED",
    "SIZE",
    "SPARSE",
    "STALE",
    "STATIC_OUT",
    "STEADY",
    "STR",
    "STRIDED",
    "TRUE",
    "UNBACKED",
    "UNKNOWN",
    "USED",
    "ClassValue",
    "CompileSite",
    "Compiled",
    "Const",
    "Dict",
    "Evidence",
    "External",
    "FunctionValue",
    "Instance",
    "Member",
    "Method",
    "ModuleValue",
    "NamedTupleClass",
    "Namespace",
    "Object",
    "Origin",
    "Partial",
    "Region",
    "Scalar",
    "Seq",
    "Super",
    "Tensor",
    "Union",
    "Unknown",
    "Value",
    "contains",
    "is_tensor",
    "join",
    "join_all",
    "may_be_none",
    "parts_of",
    "scalar_type",
    "selectors_of",
    "spoken_of",
    "tensor_of",
    "truth",
    "uses_cudagraphs",
    "widen",
    "without_none",
]
