"""The definitions of a script, without the program that it runs when it is imported.

A training script reads its data and begins to train at module level. What is flagged in it are its functions and
classes; they need the imports above them and the constants, not the run.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from tclint.verify.child import standin
from tclint.verify.mains import is_main_guard, is_script, run_on_import


def trains_on_import(path: Path) -> bool:
    """Whether importing a file runs its program: a loop at module level that makes a training step, or calls of what it has
    compiled."""
    if is_script(path):
        return True
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    loops = (node for node in run_on_import(tree.body) if isinstance(node, (ast.For, ast.While)))
    return any(
        isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("backward", "step")
        for loop in loops
        for call in ast.walk(loop)
    )


def load_definitions(file: Path, name: str, replaceable: Callable[[BaseException], bool]) -> ModuleType:
    """A module with the imports, functions, classes and constants of a file.

    `replaceable` is asked about every import that fails: whether it is worth another try. What cannot be computed is left
    out; a function that needs it will say so.
    """
    tree = ast.parse(file.read_bytes(), str(file))
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        raise ImportError(f"no loader for {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    wanted = (
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Assign,
        ast.AnnAssign,
    )
    defined = 0
    last: BaseException | None = None
    for statement in tree.body:
        if not isinstance(statement, (*wanted, ast.Try, ast.If)) or _is_main(statement):
            continue
        code = compile(ast.Module([statement], []), str(file), "exec")
        while True:
            try:
                exec(code, vars(module))
                defined += isinstance(statement, (ast.FunctionDef, ast.ClassDef))
            except (Exception, SystemExit) as error:
                last = error
                if isinstance(statement, (ast.Import, ast.ImportFrom)):
                    if replaceable(error):
                        continue
                    _stand_in(statement, module)
            break
    if not defined and last is not None:
        del sys.modules[name]
        raise last
    return module


def _stand_in(statement: ast.Import | ast.ImportFrom, module: ModuleType) -> None:
    """Names that could not be imported are there all the same: classes below them can be defined, not made."""
    source = statement.module or module.__name__ if isinstance(statement, ast.ImportFrom) else ""
    for alias in statement.names:
        name = (alias.asname or alias.name).partition(".")[0]
        if alias.name != "*" and name not in vars(module):
            setattr(module, name, standin.named(source or alias.name, alias.name))


def _is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and is_main_guard(statement.test)
