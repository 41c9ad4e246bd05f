"""The rule API: one class per rule, its docstring its page, its attributes its facts, its `on_…` methods its eyes."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from tclint import events, versions
from tclint.events import Event, span_of
from tclint.finding import Compiled, Confidence, Effect, Finding, Fix, Label, Severity
from tclint.values import NAMED, PROVEN, Tensor

if TYPE_CHECKING:
    from tclint.config import Settings
    from tclint.interpreter.frame import Frame
    from tclint.regions import CompileSite

_CONFIDENCE = (Confidence.LOW, Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


class RuleError(Exception):
    """A rule that cannot be loaded; the text names the file and what to do."""


class Rule:
    """A hazard. Subclass it in a file of its own; define `on_<event>` methods that yield findings.

    `scope` says where the rule looks: in compiled code (`region`), only where calls of it were seen (`seen`), in the eager
    code around it (`eager`), or everywhere (`any`).
    `calls` names the calls that `on_call` wants: dotted names, a trailing `*` for a prefix.
    `triggers` are byte strings; `on_module` sees only files that contain one of them.
    """

    code: ClassVar[str] = ""
    name: ClassVar[str] = ""
    effect: ClassVar[Effect] = Effect.GRAPH_BREAK
    severity: ClassVar[Severity] = Severity.MEDIUM
    default: ClassVar[bool] = True
    graph_breaks: ClassVar[tuple[str, ...]] = ()
    torch: ClassVar[str] = ""
    scope: ClassVar[str] = "region"
    calls: ClassVar[Iterable[str]] = ()
    triggers: ClassVar[tuple[bytes, ...]] = ()

    def __init__(self) -> None:
        self.target = versions.NEWEST
        self.settings: Settings | None = None  # set by the engine before the run

    def finding(
        self,
        event: Event,
        message: str,
        *,
        help: str = "",
        node: ast.AST | None = None,
        about: Tensor | None = None,
        confidence: Confidence | None = None,
        severity: Severity | None = None,
        effect: Effect | None = None,
        graph_breaks: tuple[str, ...] | None = None,
        labels: tuple[Label, ...] = (),
    ) -> Finding:
        """A finding at an event's node. `about` is the tensor whose evidence decides the confidence."""
        node = node if node is not None else event.node
        frame = event.frame
        if confidence is None:
            confidence = _CONFIDENCE[about.conf if about is not None else PROVEN]
        if "except" in frame.blocks or ".rare" in frame.env:
            confidence = Confidence.LOW  # a handler runs only when something already went wrong
        if about is not None and not labels and about.origin.line and about.origin.line != getattr(node, "lineno", 0):
            text = about.origin.text()
            labels = (Label(about.origin.line, f"tensor since here: {text}" if text else "tensor since here"),)
        line = getattr(node, "lineno", 1)
        return Finding(
            code=self.code,
            name=self.name,
            path=frame.module.path,
            span=span_of(frame.module, node),
            message=message,
            effect=effect or self.effect,
            severity=severity or self.severity,
            confidence=confidence,
            help=help,
            function=frame.function.qualname if frame.function is not None else "<module>",
            chain=frame.chain(line),
            labels=labels,
            graph_breaks=self.graph_breaks if graph_breaks is None else graph_breaks,
            eager=frame.region is None,
            compiled=_compiled(frame.region.site) if frame.region is not None else None,
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        """A repair for a finding of this rule, if there is one."""
        return None

    def restart(self) -> None:
        """Be as new. A rule that collects things while it looks keeps them no longer than one part of a run."""
        if type(self).__init__ is not Rule.__init__:
            target, settings = self.target, self.settings
            self.__init__()  # type: ignore[misc]
            self.target, self.settings = target, settings

    def holds(self) -> bool:
        """Whether the rule is true of the torch version the run speaks for."""
        return versions.matches(self.torch, self.target)


class ModuleEvent:
    """A whole file, for rules about scripts rather than about compiled code."""

    __slots__ = ("frame", "module")

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.module = frame.module

    @property
    def node(self) -> ast.Module:
        """The tree, parsed when first asked for: a rule can look at `module.data` before."""
        return self.module.tree


def whole_frame(event: Event) -> str:
    """The price of a break inside a block that cannot be resumed."""
    for block in event.blocks:
        if block in ("for", "while", "with", "try"):
            return f" inside `{block}`, so the whole function runs eagerly"
    return ""


def _compiled(site: CompileSite | None) -> Compiled | None:
    if site is None:
        return None
    literals = [(k, repr(v)) for k, v in (site.options or {}).items() if isinstance(v, (bool, int, float, str))]
    return Compiled(
        mode=site.mode if isinstance(site.mode, str) and site.mode != "?" else "",
        backend=site.backend if isinstance(site.backend, str) and site.backend != "?" else "",
        dynamic=site.dynamic if isinstance(site.dynamic, bool) else None,
        fullgraph=site.fullgraph is True,
        options=tuple(sorted(literals)),
    )


def sure(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.conf > NAMED


def load_rules(extra: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Every rule of `tclint.rules` and of the user's own folders, by code."""
    rules: dict[str, Rule] = {}
    where: dict[str, str] = {}
    builtin = os.path.join(os.path.dirname(__file__), "rules")
    for folder in (builtin, *extra):
        for path in _rule_files(folder):
            for rule in _rules_in(path, folder == builtin):
                if rule.code in rules:
                    raise RuleError(f"{path}: code {rule.code} is already taken by {where[rule.code]}; choose another")
                rules[rule.code] = rule
                where[rule.code] = path
    return tuple(rules[code] for code in sorted(rules))


def _rule_files(folder: str) -> list[str]:
    if os.path.isfile(folder):
        return [folder]
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise RuleError(
            f"{folder}: cannot read the rules folder: {error.strerror}; check `rules` in the configuration"
        ) from None
    return [os.path.join(folder, n) for n in names if n.endswith(".py") and not n.startswith("_")]


def _rules_in(path: str, builtin: bool) -> Iterator[Rule]:
    stem = os.path.splitext(os.path.basename(path))[0]
    module = _import_builtin(stem) if builtin else _import_file(path, stem)
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__ and value.code:
            if not value.__doc__:
                raise RuleError(f"{path}: rule {value.code} has no docstring; the docstring is its page")
            yield value()


def _import_builtin(stem: str) -> ModuleType:
    import importlib

    return importlib.import_module(f"tclint.rules.{stem}")


def _import_file(path: str, stem: str) -> ModuleType:
    name = f"tclint_user_rules_{abs(hash(os.path.abspath(path)))}_{stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RuleError(f"{path}: not a Python file; a rule is a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise RuleError(f"{path}: cannot be loaded as a rule: {type(error).__name__}: {error}") from error
    return module


__all__ = ["ModuleEvent", "Rule", "RuleError", "events", "load_rules", "sure", "whole_frame"]
