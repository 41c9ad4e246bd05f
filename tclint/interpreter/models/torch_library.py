"""torch: single functions by name, classes of torch.nn, and the rest by what the facts say."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import distributions, loaders, modules, torch_functions, torch_wrappers
from tclint.interpreter.models.functions import Args, Handler, Keywords, instance, is_class, library
from tclint.interpreter.modes import made_context
from tclint.torch_facts import facts, modes
from tclint.values import Object, Value

_BY_NAME: Final[dict[str, Handler]] = {
    **torch_functions.BY_NAME,
    **torch_wrappers.BY_NAME,
    **loaders.BY_NAME,
    **distributions.BY_NAME,
}


def call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """The value of a call of `torch.…`."""
    if frame.region is None and name.rpartition(".")[2] in modes.CONTEXTS:
        return made_context(frame, node, name, args, keywords)
    handler = _BY_NAME.get(name)
    if handler is not None:
        return handler(frame, node, name, args, keywords, open_ended)
    if name.startswith("torch.nn.") and modules.is_module_class(name):
        return modules.construct(frame, node, name, args, keywords)
    if name in facts.named("gives gradients memory of its own"):
        return Object(name, frame.origin(node), "module")  # a module, wherever torch keeps its class
    if name.startswith("torch.optim.") and is_class(name):
        return instance(frame, node, name, args, keywords, open_ended)
    return torch_functions.function(frame, node, name, args, keywords)


library(["torch"], call)
