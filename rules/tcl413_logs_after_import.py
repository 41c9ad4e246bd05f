"""TCL413: environment variables set after torch has read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import ModuleEvent
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text

# Read while torch is imported; the others while torch._dynamo and its configuration are. Some more, such as
# TORCHDYNAMO_DISABLE and TORCHINDUCTOR_CACHE_DIR, are read whenever they are needed.
_WITH_TORCH = ("TORCH_LOGS", "TORCH_TRACE", "TORCH_LOGS_OUT")
_WITH_DYNAMO = (
    *("TORCHDYNAMO_VERBOSE", "TORCHDYNAMO_SUPPRESS_ERRORS", "TORCHDYNAMO_CAPTURE_", "TORCHDYNAMO_REPRO_"),
    *("TORCH_COMPILE_DEBUG", "TORCH_COMPILE_DISABLE", "TORCHINDUCTOR_MAX_AUTOTUNE", "TORCHINDUCTOR_FREEZING"),
    *("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "TORCHINDUCTOR_COORDINATE_DESCENT", "TORCHINDUCTOR_CUDAGRAPHS"),
)
_OTHER_PROCESSES = (b"subprocess", b"multiprocessing", b"Popen", b"spawn", b"os.exec", b"ray.")


class LogsAfterImport(Rule):
    """`TORCH_LOGS` or `TORCH_TRACE` set after `import torch` has no effect: torch read them while it was imported.

    No error, no warning, no log. The same goes for `TORCHDYNAMO_VERBOSE`, `TORCHINDUCTOR_MAX_AUTOTUNE`,
    `TORCH_COMPILE_DEBUG` and their kin once `torch._dynamo` has been imported (which the first `torch.compile`
    does).

    Bad::

        import os
        import torch

        os.environ["TORCH_LOGS"] = "graph_breaks"

    Good::

        import os

        os.environ["TORCH_LOGS"] = "graph_breaks"

        import torch

    Fix: `torch._logging.set_logs(graph_breaks=True)`, or set the variable before the script starts. `TORCHDYNAMO_*`
    have counterparts in `torch._dynamo.config`.

    Ignore it where the variable is meant for a process started later; files that start processes are not flagged.
    """

    code, name = "TCL413", "logs-after-import"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    triggers = (b"TORCH_LOGS", b"TORCH_TRACE", b"TORCHDYNAMO_", b"TORCHINDUCTOR_", b"TORCH_COMPILE_D")

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        if any(word in event.module.data for word in _OTHER_PROCESSES):
            return
        yield from self._block(event, event.node, {})

    def _block(self, event: ModuleEvent, scope: ast.AST, imported: dict[str, int]) -> Iterator[Finding]:
        """The statements of a file or function, given what was imported before it runs."""
        imported = dict(imported)
        functions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = []
        settings: list[tuple[str, ast.AST, dict[str, int]]] = []
        for node in _in_order(scope):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                functions.append(node)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for name in _modules(node):
                    imported.setdefault(name, node.lineno)
            else:
                settings.extend((name, where, dict(imported)) for name, where in _set(node))
        for name, where, before in settings:
            cause = _too_late(name, before)
            if cause:
                yield self.finding(
                    event,
                    f"`{name}` is set after `{cause}` has been imported (line {before[cause]}) and is not read again",
                    node=where,
                    confidence=Confidence.HIGH,
                    help="set it before the import, or use torch._logging.set_logs / torch._dynamo.config",
                )
        for function in functions:
            if isinstance(function, ast.ClassDef) or not _called_before(scope, function.name, imported):
                yield from self._block(event, function, imported)


def _in_order(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope; functions and classes inside it are given but not entered."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, ast.If) and text(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _in_order(child)


def _modules(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    if isinstance(node, ast.ImportFrom) and node.level:
        return
    if isinstance(node, ast.ImportFrom) and node.module == "torch":
        names += [f"torch.{a.name}" for a in node.names]
    for name in names:
        if name == "torch" or name.startswith("torch."):
            yield "torch"
        if name.startswith(("torch._dynamo", "torch._inductor")):
            yield "torch._dynamo"


def _set(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The environment variables a statement or call sets."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if not isinstance(target, ast.Subscript) or text(target.value) not in ("os.environ", "environ"):
                continue
            if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
                yield target.slice.value, node
    elif isinstance(node, ast.Call) and text(node.func) in ("os.environ.setdefault", "os.putenv", "environ.setdefault"):
        if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
            yield node.args[0].value, node
    elif isinstance(node, ast.Call) and text(node.func) in ("os.environ.update", "environ.update"):
        for keyword in node.keywords:
            if keyword.arg is not None:
                yield keyword.arg, node
        for argument in node.args:
            for key in argument.keys if isinstance(argument, ast.Dict) else ():
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, node


def _too_late(name: str, imported: dict[str, int]) -> str:
    if name in _WITH_TORCH:
        return "torch" if "torch" in imported else ""
    if name.startswith(_WITH_DYNAMO):
        return "torch._dynamo" if "torch._dynamo" in imported else ""
    return ""


def _called_before(scope: ast.AST, name: str, imported: dict[str, int]) -> bool:
    """Whether a function is called at the top level before torch is imported: `setup(); import torch`."""
    line = imported.get("torch", 0)
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name and node.lineno < line
        for node in _in_order(scope)
    )
