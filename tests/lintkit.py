"""Small programs written to a folder and linted in this process: what the tests of the engine and the rules share."""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib.util
import signal
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tclint.model.finding import Finding
from tclint.model.report import Report
from tclint.run.project import Project as Opened

ROOT = Path(__file__).resolve().parent.parent

PRELUDE = """\
import copy, logging, math, os, random, time
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""

TORCH = "2.13"


def lint(*paths: str | Path, cwd: Path, **overrides: object) -> Report:
    """Lint paths as the command would, with no configuration but `overrides` (underscores for dashes)."""
    given = {key.replace("_", "-"): value for key, value in overrides.items()}
    given.setdefault("target-torch", TORCH)
    given.setdefault("no-cache", True)
    names = [str(path) for path in paths] or ["."]
    return Opened.open(names, cwd=str(cwd), isolated=True, overrides=given, around=None).lint()


class Project:
    """A folder of source files."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, sources: dict[str, str | bytes]) -> Project:
        for name, source in sources.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(source, str):
                source = textwrap.dedent(source).lstrip("\n").encode()
            path.write_bytes(source)
        return self

    def lint(self, *paths: str | Path, **overrides: object) -> Report:
        return lint(*paths, cwd=self.root, **overrides)

    def places(self, *paths: str | Path, **overrides: object) -> list[str]:
        """Every finding as `path:line CODE`."""
        return [f"{f.path}:{f.line} {f.code}" for f in self.lint(*paths, **overrides).findings]

    def marked(self, mark: str = "# here") -> list[tuple[str, int]]:
        """The lines that carry a mark, as (path, line)."""
        found = []
        for path in sorted(self.root.rglob("*.py")):
            for number, text in enumerate(path.read_text().splitlines(), 1):
                if mark in text:
                    found.append((path.relative_to(self.root).as_posix(), number))
        return found


def lines(report: Report, code: str = "") -> list[tuple[str, int]]:
    """The places of a report's findings whose code begins with `code`, each once."""
    return sorted({(f.path, f.line) for f in report.findings if f.code.startswith(code)})


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail the test, instead of hanging the suite, where something takes for ever."""

    def late(number: int, frame: object) -> None:
        pytest.fail(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def told(findings: tuple[Finding, ...] | list[Finding]) -> str:
    return "\n".join(f"{f.path}:{f.line}:{f.span.column} {f.code} {f.message}" for f in findings) or "(nothing)"


def script(name: str) -> ModuleType:
    """A file of `scripts/`, imported."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- fixtures as the judge runs them ----------------------------------------------------------------------------------


def with_callers(source: str) -> str:
    """A rule's fixture and, below it, what the judge does with it: the calls of `programs()`, `build()` or `Model`.

    The judge calls the programs through a list; a linter reads code in which somebody calls them.
    """
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if "programs" in functions:
        body = [ast.unparse(statement) for statement in functions["programs"].body[:-1]]
        last = functions["programs"].body[-1]
        assert isinstance(last, ast.Return)
        decorated = {name for name, node in functions.items() if node.decorator_list}
        local = {ast.unparse(node.targets[0]): node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)}
        body += [_call(program, decorated) for program in _programs(last.value, local)]
    elif "build" in functions:
        body = ["program = build()", "for args in calls():", "    program(*args)"]
    elif "get_inputs" in functions:
        body = ["program = torch.compile(Model(*get_init_inputs()))", "program(*get_inputs())"]
    else:
        return source
    return source + "\n\ndef called_by_the_judge():\n" + textwrap.indent("\n".join(body), "    ") + "\n"


def _programs(listed: ast.expr | None, local: dict[str, ast.expr]) -> Iterator[ast.Tuple]:
    """The (callable, arguments) pairs of a list, a comprehension over what is written out, or both."""
    if isinstance(listed, ast.Tuple):
        yield listed
    elif isinstance(listed, ast.Starred):
        yield from _programs(listed.value, local)
    elif isinstance(listed, ast.List):
        for item in listed.elts:
            yield from _programs(item, local)
    elif isinstance(listed, (ast.ListComp, ast.GeneratorExp)):
        (loop,) = listed.generators
        values = local.get(ast.unparse(loop.iter), loop.iter)
        if not isinstance(values, (ast.Tuple, ast.List)):
            raise ValueError(f"programs() iterates over {ast.unparse(loop.iter)}: write the values out")
        for value in values.elts:
            yield from _programs(_bound(loop.target, value, listed.elt), local)


def _bound(target: ast.expr, value: ast.expr, template: ast.expr) -> ast.expr:
    """`template` with the names of a loop's target replaced by one value of the loop."""
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=True))
    names = {name.id: each for name, each in pairs if isinstance(name, ast.Name)}
    bound: ast.expr = _Replace(names).visit(copy.deepcopy(template))
    return bound


class _Replace(ast.NodeTransformer):
    def __init__(self, names: dict[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.names.get(node.id, node)


def _call(pair: ast.Tuple, decorated: set[str]) -> str:
    program, args = pair.elts
    assert isinstance(args, ast.Tuple)
    function = ast.unparse(program)
    if function not in decorated:
        function = f"torch.compile({function})"
    return f"{function}({', '.join(ast.unparse(arg) for arg in args.elts)})"
