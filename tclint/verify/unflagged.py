"""What could be run of a project that no finding speaks of: its programs, its modules, its compiled functions."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tclint.verify.job import PROGRAM, Candidate, Job
from tclint.verify.mains import has_device_main, is_program
from tclint.verify.options import VerifyOptions
from tclint.verify.targets import Target


def unflagged_targets(paths: Sequence[str], flagged: Sequence[Target], options: VerifyOptions) -> tuple[Target, ...]:
    """A target without findings for each candidate of the files that no other target begins with."""
    root = os.path.realpath(options.root)
    known = {target.job.candidates[0] for target in flagged}
    found: list[Target] = []
    for path in paths:
        for candidates in _candidates(os.path.realpath(os.path.join(root, path))):
            if candidates[0] not in known:
                job = Job(
                    root=root,
                    candidates=candidates,
                    places=(),
                    device=options.device,
                    seed=options.seed,
                    seconds=options.timeout,
                    factories=dict(options.factories),
                    threads=max(1, (os.cpu_count() or 1) // max(1, options.jobs)),
                    # A program has modes of its own, and turns CUDA graphs on or does not; Dynamo is heard as well.
                    graphs=candidates[0].name == PROGRAM and options.device.startswith("cuda"),
                )
                found.append(Target(job, ()))
    return tuple(found)


def _candidates(path: str) -> Iterator[tuple[Candidate, ...]]:
    """One tuple for each target. A program that compiles by itself comes first; where it runs, it speaks for its file."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    named = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    parts = [Candidate(path, node.name) for node in named if _is_module(node) or _is_compiled(node)]
    if is_program(Path(path)) or has_device_main(Path(path)):
        yield (Candidate(path, PROGRAM), *parts)
        return
    for part in parts:
        yield (part,)


def _is_module(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and any(
        isinstance(item, ast.FunctionDef) and item.name == "forward" for item in node.body
    )


def _is_compiled(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        getattr(part, "attr", getattr(part, "id", "")) == "compile"
        for decorator in node.decorator_list
        for part in ast.walk(decorator)
    )
