"""What libraries answer when a value of theirs is used: the slots that `tclint.interpreter.models` fills.

A value knows how it behaves as long as Python alone decides. What torch, numpy, the builtins or the standard library
decide is asked here, so that values import nothing of the interpreter.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.values.instance import Instance
    from tclint.values.object import Object
    from tclint.values.super_value import Super
    from tclint.values.tensor import Tensor
    from tclint.values.value import Value


class FunctionModels(Protocol):
    """Functions and classes outside the program, by their dotted names."""

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool,
    ) -> Value: ...


class ObjectModels(Protocol):
    """Instances of classes outside the program."""

    def attribute(self, frame: Frame, node: ast.AST, receiver: Object, name: str, quiet: bool) -> Value: ...

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        func: Object,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool,
    ) -> Value: ...

    def method(
        self,
        frame: Frame,
        node: ast.AST,
        receiver: Object,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool,
    ) -> Value: ...

    def item(self, frame: Frame, node: ast.AST, receiver: Object, index: Value) -> Value: ...

    def decides_code(self, name: str) -> bool: ...


class TensorModel(Protocol):
    """Tensors, and what is used as if it were one."""

    def attribute(self, frame: Frame, node: ast.AST, tensor: Tensor, name: str, quiet: bool) -> Value: ...

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        tensor: Tensor,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
    ) -> Value: ...

    def index(self, frame: Frame, node: ast.AST, tensor: Tensor, index_value: Value) -> Value: ...

    def arithmetic(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value: ...

    def compare(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value: ...

    def unary(self, frame: Frame, node: ast.AST, tensor: Tensor, operator: str) -> Value: ...

    def attribute_of_unknown(self, name: str) -> Value: ...

    def method_of_unknown(
        self,
        frame: Frame,
        node: ast.AST,
        receiver: Value,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
    ) -> Value: ...


class TextModel(Protocol):
    """Strings and numbers."""

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        receiver: Value,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
    ) -> Value: ...


class ModuleModel(Protocol):
    """Modules of torch.nn and what a class of the program inherits from them."""

    def method_of_instance(
        self,
        frame: Frame,
        node: ast.AST,
        receiver: Instance,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
    ) -> Value: ...

    def inherited_method(
        self,
        frame: Frame,
        node: ast.AST,
        receiver: Super,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
    ) -> Value: ...

    def gives_itself(self, name: str) -> bool:
        """Whether a method of a module returns the module."""
        ...

    def method_of_wrapper(self, frame: Frame, node: ast.AST, name: str) -> Value | None:
        """What a method gives that the wrapper around a compiled module has of its own; None for one of the module's."""
        ...


class Models:
    """The models in use. Importing `tclint.interpreter.models` sets them, once."""

    __slots__ = ("functions", "modules", "objects", "tensors", "texts")

    functions: FunctionModels
    modules: ModuleModel
    objects: ObjectModels
    tensors: TensorModel
    texts: TextModel

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise AttributeError(f"no model answers for {name}: import tclint.interpreter.models first")


MODELS: Final = Models()
