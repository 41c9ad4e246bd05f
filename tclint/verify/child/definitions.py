"""The definitions of a script, without the program that it runs when it is imported.

A training script reads its data and begins to train at module level. What is flagged in it are its functions and
classes; they need the imports above them and the constants, not the run.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

from tclint.verify.child import standin
from tclint.verify.child.alone import found_missing, launched_alone
from tclint.verify.child.hosted import hosted
from tclint.verify.child.refusals import as_errors
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


def load_definitions(
    file: Path, name: str, replaceable: Callable[[BaseException], bool], package: str = ""
) -> ModuleType:
    """A module with the imports, functions, classes and constants of a file, whose relative imports are of `package`.

    `replaceable` is asked about every import that fails: whether it is worth another try. What cannot be computed is left
    out; a function that needs it will say so.
    """
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        raise ImportError(f"no loader for {file}")
    module = importlib.util.module_from_spec(spec)
    module.__package__ = package
    sys.modules[name] = module
    tree = ast.parse(file.read_bytes(), str(file))
    wanted = [node for node in tree.body if isinstance(node, (*_DEFINING, ast.Try, ast.If)) and not _is_main(node)]
    with launched_alone():
        left_out = run_each(wanted, str(file), module, replaceable)
    done = {*map(id, wanted)} - {id(node) for node, _ in left_out}
    defined = any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) and id(node) in done for node in wanted)
    if not defined and left_out:
        del sys.modules[name]
        raise left_out[-1][1]
    return module


_DEFINING = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
)


def run_each(
    statements: Iterable[ast.stmt], path: str, module: ModuleType, replaceable: Callable[[BaseException], bool]
) -> list[tuple[ast.stmt, BaseException]]:
    """Run the statements of a module one by one, in its namespace; those that fail are left out, and given back with why.

    Once one has failed, only definitions follow: a program must not go on without what it was about to read.
    """
    left_out: list[tuple[ast.stmt, BaseException]] = []
    for statement in statements:
        if left_out and not isinstance(statement, (*_DEFINING, ast.Try, ast.If)):
            continue
        # This module's own `annotations` of the future holds for it too: a name that was left out may be an annotation.
        code = compile(ast.Module([hosted(statement)], []), path, "exec")
        while True:
            try:
                with as_errors():
                    exec(code, vars(module))
            except (Exception, SystemExit) as error:
                if found_missing(error):
                    continue
                if isinstance(statement, (ast.Import, ast.ImportFrom)):
                    if replaceable(error):
                        continue
                    _stand_in(statement, module)
                left_out.append((statement, error))
            break
    return left_out


def _stand_in(statement: ast.Import | ast.ImportFrom, module: ModuleType) -> None:
    """Names that could not be imported are there all the same: classes below them can be defined, not made."""
    source = statement.module or module.__name__ if isinstance(statement, ast.ImportFrom) else ""
    for alias in statement.names:
        name = (alias.asname or alias.name).partition(".")[0]
        if alias.name != "*" and name not in vars(module):
            setattr(module, name, standin.named(source or alias.name, alias.name))


def _is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and is_main_guard(statement.test)
