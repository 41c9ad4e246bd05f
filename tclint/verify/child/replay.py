"""A target made and called as its own program makes and calls it: the statements that this needs, run again."""

from __future__ import annotations

import ast
import builtins
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

from tclint.verify import usage
from tclint.verify.child import shrink, standin
from tclint.verify.child.compiling import uncompiled, unwrapped
from tclint.verify.child.hosted import hosted
from tclint.verify.child.infer import example_of
from tclint.verify.child.inputs import Call, Example, NoInputs, consumed
from tclint.verify.child.limits import within
from tclint.verify.child.load import dotted_name, find, load, package_at_fault
from tclint.verify.child.refusals import as_errors
from tclint.verify.job import Candidate, Job
from tclint.verify.preconditions import asked_before

NAME = "tclint_replay"
"""Of the module that the repeated statements run in."""
USES = 6
"""Most places of the program that are repeated for one target."""
NEAR = 6
"""Of the names that the conditions before a line ask, those that are looked for at the places."""
SOON = 0.7
"""Seconds for one eager call: an experiment makes dozens."""
FIRST = 3
"""Seconds for the first one."""
SECONDS = 5
"""For making the target and its arguments at one place."""


class Replay:
    """One place of the program that makes the target."""

    def __init__(self, use: usage.Use, root: str, call: ast.Call | None) -> None:
        self.use = use
        self.root = root
        self.call = call
        self.size = shrink.Size()
        wanted: list[ast.expr] = [use.call]
        if call is not None:
            wanted += [call.func, *call.args, *(keyword.value for keyword in call.keywords)]
        made = usage.slice_for(use, wanted, max(node.lineno for node in wanted))
        unknown = made.unbound - set(vars(builtins)) - {"__file__", "__name__"} - self._surroundings().keys()
        if unknown:
            raise NoInputs(f"{self.where} needs {', '.join(sorted(unknown))} from elsewhere")
        self.statements = made.statements

    @property
    def where(self) -> str:
        return f"{os.path.relpath(self.use.path, self.root)}:{self.use.line}"

    def _surroundings(self) -> dict[str, Any]:
        """What an example in a docstring takes for granted: the names of its file, its package and torch."""
        if not self.use.shown:
            return {}
        try:
            file = load(self.use.path, self.root)
        except (Exception, SystemExit) as error:
            raise NoInputs(f"{self.where} cannot be imported: {type(error).__name__}: {error}") from error
        package = file.__name__.partition(".")[0]
        return {"torch": torch, "nn": nn, "F": nn.functional, package: sys.modules[package], **vars(file)}

    def _namespace(self) -> dict[str, Any]:
        # What is defined here says that it is of this module: Dynamo, dataclasses and pickle ask for it by its name.
        module = sys.modules[NAME] = ModuleType(NAME)
        namespace = vars(module)
        namespace |= {**self._surroundings(), "__name__": NAME, "__file__": self.use.path}
        if self.use.path.endswith(".py"):
            name, _ = dotted_name(Path(self.use.path))
            namespace["__package__"] = name.rpartition(".")[0]
        with standin.importing():
            for statement in self.statements:
                if self.call is None and any(node is self.use.call for node in ast.walk(statement)):
                    break
                self._run(statement, namespace)
        return namespace

    def _run(self, statement: ast.stmt, namespace: dict[str, Any]) -> None:
        code = compile(ast.Module([hosted(shrink.scaled(statement, self.size))], []), self.use.path, "exec")
        while True:
            try:
                with as_errors():
                    exec(code, namespace)
            except ImportError as error:
                if standin.replace(package_at_fault(error, self.root)):
                    continue
                raise
            return

    def _value(self, node: ast.expr, namespace: dict[str, Any]) -> Any:
        code = compile(ast.Expression(hosted(shrink.scaled(node, self.size))), self.use.path, "eval")
        with as_errors():
            return eval(code, namespace)

    def build(self) -> Any:
        namespace = self._namespace()
        if self.call is None:
            return self._value(self.use.call, namespace)
        return self._value(self.call.func, namespace)

    def calls(self) -> list[Call]:
        assert self.call is not None
        namespace = self._namespace()
        args: list[Any] = []
        for argument in self.call.args:
            if isinstance(argument, ast.Starred):
                args += list(self._value(argument.value, namespace))
            else:
                args.append(self._value(argument, namespace))
        kwargs: dict[str, Any] = {}
        for keyword in self.call.keywords:
            value = self._value(keyword.value, namespace)
            kwargs |= {keyword.arg: value} if keyword.arg is not None else dict(value)
        return [Call(tuple(args), kwargs)]

    def fit(self) -> None:
        """Choose by how much sizes are divided: until the target is small enough to be run many times."""
        last: BaseException | None = None
        for size in shrink.SIZES:
            self.size = size
            if size.scale == 1 and shrink.parameters_of(self._on_meta()) > shrink.PARAMETERS:
                continue
            try:
                with within(SECONDS):
                    made = self.build()
                if shrink.parameters_of(made) > shrink.PARAMETERS:
                    continue
                if self.call is not None:
                    _run_once(made, self.calls()[0])
                return
            except (Exception, SystemExit) as error:
                # What a smaller size breaks says less than what the program's own did.
                last = last or error
        raise NoInputs(f"{self.where} cannot be repeated: {type(last).__name__}: {str(last)[:160]}")

    def _on_meta(self) -> Any:
        """The target without its weights, to be counted; None where it cannot be made so."""
        try:
            with within(SECONDS), torch.device("meta"):
                return self.build()
        except (Exception, SystemExit):
            return None


def _run_once(made: Any, call: Call) -> None:
    """Raises TooLong where one call takes so long that the experiments would take minutes."""
    with uncompiled():
        try:
            with torch.no_grad():
                _run_soon(made, call)
        except RuntimeError as error:
            if "does not require grad" not in str(error):
                raise
            # It computes gradients itself.
            _run_soon(made, call)


def _run_soon(made: Any, call: Call) -> None:
    begun = time.thread_time()
    with within(FIRST):
        consumed(made(*call.args, **call.kwargs))
    if time.thread_time() - begun > SOON:
        # The first call of a process also pays for what torch sets up.
        with within(SOON):
            consumed(made(*call.args, **call.kwargs))


def replayed(job: Job, candidate: Candidate, module: ModuleType) -> Iterator[Example | NoInputs]:
    """Examples of the program's own, the simplest first: with their calls, then with calls that are inferred."""
    try:
        target, method = find(module, candidate.name)
    except LookupError:
        return
    name = candidate.name.split(".")[0]
    if not isinstance(target, type):
        yield from _function_calls(job, candidate, name, target)
        return
    only_made: list[Replay] = []
    for use in _uses(job, candidate, name):
        followed = False
        for call in usage.calls_after(use):
            asked = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if asked not in (method, "" if method else "forward"):
                continue
            for tried in _tried(use, job.root, call):
                # Where its call cannot be repeated (the data are not here), what it makes still can.
                followed = isinstance(tried, Example)
                yield tried
            break
        if not followed:
            try:
                only_made.append(Replay(use, job.root, None))
            except NoInputs as missing:
                yield missing
    for replay in only_made:
        yield from _with_inferred_calls(replay, target, method)


def _function_calls(job: Job, candidate: Candidate, name: str, target: Any) -> Iterator[Example | NoInputs]:
    for use in _uses(job, candidate, name):
        yield from _tried(use, job.root, use.call)


def _uses(job: Job, candidate: Candidate, name: str) -> list[usage.Use]:
    """The places to repeat: the simplest, then of those that are as easy the ones that set what is asked nearest to one of the
    job's lines."""
    asked: dict[str, int] = {}
    for place in job.places:
        for distance, one in enumerate(asked_before(place.path, place.line)[:NEAR]):
            asked[one.name] = min(distance, asked.get(one.name, NEAR))

    def order(use: usage.Use) -> tuple[bool, int]:
        return not use.is_shown_to_work, min((asked[word] for word in use.named if word in asked), default=NEAR)

    found = list(usage.uses_of(name, job.root, candidate.path))
    return [*found[: USES // 2], *sorted(found[USES // 2 :], key=order)][:USES]


def _tried(use: usage.Use, root: str, call: ast.Call) -> Iterator[Example | NoInputs]:
    try:
        replay = Replay(use, root, call)
        replay.fit()
    except NoInputs as missing:
        yield missing
        return
    made = replay.build()
    yield Example(f"as in {replay.where}{replay.size}", replay.build, replay.calls, wrap=unwrapped(made) is made)


def _with_inferred_calls(replay: Replay, target: type, method: str) -> Iterator[Example | NoInputs]:
    try:
        replay.fit()
        made = replay.build()
        if not isinstance(made, target) and not isinstance(made, nn.Module):
            raise NoInputs(f"{replay.where} makes a {type(made).__name__}")
        yield example_of(
            replay.build, type(made) if isinstance(made, nn.Module) else target, method,
            f"made as in {replay.where}{replay.size}",
        )  # fmt: skip
    except NoInputs as missing:
        yield missing
