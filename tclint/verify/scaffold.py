"""Examples for the user to fill in: one for every target that verify could not run by itself."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tclint.verify.guess import is_flag, number_for, tensor_for
from tclint.verify.options import VerifyOptions
from tclint.verify.targets import absolute, candidates_of
from tclint.verify.verdict import Outcome, VerifyReport

_UNDECIDED = (Outcome.INCONCLUSIVE, Outcome.NOT_REACHED)
_HEAD = '''"""Examples for `tclint verify`: each makes a target and the calls to judge it by. Fill in what is marked."""

import tclint
import torch
'''


@dataclass(frozen=True, slots=True)
class _Signature:
    """What the source says of a function's parameters: name, annotation, whether it has a default."""

    parameters: tuple[tuple[str, str, bool], ...]

    @property
    def required(self) -> Iterator[tuple[str, str]]:
        return ((name, annotation) for name, annotation, optional in self.parameters if not optional)


def write_scaffold(answers: VerifyReport, options: VerifyOptions, path: str) -> int:
    """Write the file and say how many examples are in it; a file that exists is added to, never replaced."""
    root = os.path.realpath(options.root)
    wanted: dict[tuple[str, str], str] = {}
    for verdict in answers.verdicts:
        if verdict.outcome in _UNDECIDED:
            candidate = candidates_of(verdict.finding, root)[0]
            if candidate.name != "<module>":
                place = f"{verdict.finding.path}:{verdict.finding.line} {verdict.finding.code}"
                reason = verdict.words.strip().splitlines()[0][:140] if verdict.words.strip() else "nothing ran"
                wanted.setdefault((candidate.path, candidate.name.split(".")[0]), f"{place}: {reason}")
    parts = [_example(file, name, why, root) for (file, name), why in wanted.items()]
    if parts:
        known = Path(path).read_text(encoding="utf-8") if os.path.exists(path) else _HEAD
        fresh = [part for part in parts if part.splitlines()[0] not in known]
        Path(path).write_text(known + "".join(f"\n\n{part}" for part in fresh), encoding="utf-8")
        return len(fresh)
    return 0


def _example(file: str, name: str, why: str, root: str) -> str:
    module = _module_name(file, root)
    made, called = _signatures(file, name)
    function = re.sub(r"\W|(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    lines = [
        f'@tclint.example("{module}:{name}")',
        f"def {function}():",
        f"    # {why}",
        f"    from {module} import {name}",
        "",
    ]
    target = name
    if made is not None:
        arguments = ", ".join(f"{parameter}={_value(parameter, annotation)}" for parameter, annotation in made.required)
        lines.append(f"    target = {name}({arguments})  # fill in")
        target = "target"
    inputs = ", ".join(f'"{parameter}": {_tensor(parameter, annotation)}' for parameter, annotation in called.required)
    lines.append(f"    return {target}, [{{{inputs}}}]  # fill in: one dict of arguments for each call")
    return "\n".join(lines) + "\n"


def _module_name(file: str, root: str) -> str:
    path = Path(absolute(file, root))
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _signatures(file: str, name: str) -> tuple[_Signature | None, _Signature]:
    """Of the constructor (None for a function), and of the call."""
    empty = _Signature(())
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None, empty
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            return None, _signature(node, 0)
        if isinstance(node, ast.ClassDef) and node.name == name:
            methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
            made = _signature(methods["__init__"], 1) if "__init__" in methods else empty
            call = methods.get("forward") or methods.get("__call__")
            return made, _signature(call, 1) if call is not None else empty
    return None, empty


def _signature(function: ast.FunctionDef | ast.AsyncFunctionDef, skipped: int) -> _Signature:
    plain = [*function.args.posonlyargs, *function.args.args]
    first_default = len(plain) - len(function.args.defaults)
    found = [
        (item.arg, ast.unparse(item.annotation) if item.annotation else "", index >= first_default)
        for index, item in enumerate(plain)
    ][skipped:]
    found += [
        (item.arg, ast.unparse(item.annotation) if item.annotation else "", default is not None)
        for item, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    ]
    return _Signature(tuple(found))


def _value(name: str, annotation: str) -> str:
    if annotation == "bool" or is_flag(name):
        return "False"
    if annotation and annotation not in ("int", "float"):
        return "..."
    number = number_for(name)
    return "..." if number is None else repr(number)


def _tensor(name: str, annotation: str) -> str:
    if annotation in ("int", "float", "bool"):
        return _value(name, annotation)
    if annotation and "Tensor" not in annotation:
        return "..."
    spec = tensor_for(name)
    if spec.dtype == "float32":
        return f"torch.randn{spec.shape}"
    return f"torch.{'ones' if spec.dtype == 'bool' else 'zeros'}({spec.shape}, dtype=torch.{spec.dtype})"
