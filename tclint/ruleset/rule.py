"""The rule API: one class per rule, its docstring its page, its attributes its facts, its `on_…` methods its eyes."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from tclint import events
from tclint.events import Event, span_of
from tclint.model.errors import UserError, did_you_mean
from tclint.model.finding import RANK, Compiled, Confidence, Effect, Finding, Fix, Label, Severity
from tclint.ruleset import packs as installed_packs
from tclint.torch_facts import releases
from tclint.values import NAMED, PROVEN, Tensor, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.model.settings import Settings
    from tclint.values import CompileSite

_CONFIDENCE = (Confidence.LOW, Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


SCOPES = ("region", "seen", "eager", "any")


SUBJECTS = tuple(sorted(kind.kind for kind in events.EVENTS if kind.subject))
KINDS = (*sorted(kind.kind for kind in events.EVENTS), "module")
"""The events: a rule listens to one with a method `on_<kind>`."""


class RuleError(UserError):
    """A rule that cannot be loaded; the text names the file and what to do."""


class Rule:
    """A hazard. Subclass it in a file of its own; define `on_<event>` methods that yield findings.

    `scope` says where the rule looks: in compiled code (`region`), only where calls of it were seen (`seen`), in the eager
    code around it (`eager`), or everywhere (`any`).
    `calls` names the calls that `on_call` wants: dotted names, a trailing `*` for a prefix.
    `subjects` narrows other events to those about values of some types: `{"subscript": (Tensor,)}`.
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
    subjects: ClassVar[Mapping[str, tuple[type[Value], ...]]] = {}
    triggers: ClassVar[tuple[bytes, ...]] = ()

    def __init__(self) -> None:
        self.target = releases.NEWEST
        self.settings: Settings | None = None  # set by the engine before the run

    def ids(self, measured: str) -> tuple[str, ...]:
        """The rule's graph-break ids, the one that was measured for this very call first: that is the one shown."""
        return tuple(dict.fromkeys((measured, *self.graph_breaks))) if measured else self.graph_breaks

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
        # A line is met again in every context it is called in; the first finding as sure as this one is the one that stays.
        made = frame.interp.emitter.dispatcher.made
        place = (frame.module.path, getattr(node, "lineno", 1), getattr(node, "col_offset", 0), self.code)
        before = made.get(place)
        if before is not None and RANK[before.confidence.value] >= RANK[confidence.value]:
            return before
        if about is not None and not labels and about.origin.line and about.origin.line != getattr(node, "lineno", 0):
            text = about.origin.text()
            labels = (Label(about.origin.line, f"tensor since here: {text}" if text else "tensor since here"),)
        line = getattr(node, "lineno", 1)
        found = made[place] = Finding(
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
        return found

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
        return releases.matches(self.torch, self.target)


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


def load_rules(extra: Sequence[str] = (), packs: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Every rule of `tclint.rules`, of installed packs and of the user's own folders and files, by code."""
    rules: dict[str, Rule] = {}
    names: dict[str, str] = {}
    where: dict[str, str] = {}
    for rule, origin in _all_rules(extra, packs):
        if rule.code in rules:
            raise RuleError(f"{origin}: code {rule.code} is already taken by {where[rule.code]}; choose another")
        if rule.name in names:
            raise RuleError(f"{origin}: name {rule.name!r} is already taken by {names[rule.name]}; choose another")
        rules[rule.code] = rule
        where[rule.code] = origin
        names[rule.name] = rule.code
    return tuple(rules[code] for code in sorted(rules))


def _all_rules(extra: Sequence[str], packs: Sequence[str]) -> Iterator[tuple[Rule, str]]:
    """Rules, each with the words that say where it comes from."""
    for path in _rule_files(os.path.join(os.path.dirname(os.path.dirname(__file__)), "rules")):
        stem = os.path.splitext(os.path.basename(path))[0]
        for rule in _rules_in(_import_builtin(stem), path):
            yield rule, path
    for pack in installed_packs.chosen(packs):
        for rule in _rules_of_pack(pack):
            yield rule, f"pack {pack}"
    for folder in extra:
        for path in _rule_files(folder):
            found = list(_rules_in(_import_file(path), path))
            if not found and path == folder:
                raise RuleError(f"{path}: defines no rule; a rule is a class that derives from tclint.api.Rule")
            for rule in found:
                yield rule, path


def _rule_files(folder: str) -> list[str]:
    if os.path.isfile(folder):
        if not folder.endswith(".py"):
            raise RuleError(f"{folder}: not a Python file; a rule is a .py file")
        return [folder]
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise RuleError(
            f"{folder}: cannot read the rules: {error.strerror}; check `rules` in the configuration"
        ) from None
    # Helpers of rules and their tests are no rules.
    return [
        os.path.join(folder, n) for n in names if n.endswith(".py") and not n.startswith(("_", "test_", "conftest"))
    ]


def _rules_in(module: ModuleType, origin: str) -> Iterator[Rule]:
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            if issubclass(value, Rule):
                if value.code:
                    yield _made(value, origin)
            elif isinstance(vars(value).get("code"), str) and any(n.startswith("on_") for n in vars(value)):
                raise RuleError(f"{origin}: class {value.__name__} looks like a rule; derive it from tclint.api.Rule")


def _made(kind: type[Rule], origin: str) -> Rule:
    if not re.fullmatch(r"[A-Z]{2,10}\d{1,5}", kind.code):
        raise RuleError(f"{origin}: {kind.code!r} is no code: capital letters and digits, such as ACME101")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", kind.name):
        raise RuleError(f"{origin}: rule {kind.code}: {kind.name!r} is no name: words-with-hyphens")
    if not kind.__doc__:
        raise RuleError(f"{origin}: rule {kind.code} has no docstring; the docstring is its page")
    if kind.scope not in SCOPES:
        raise RuleError(f"{origin}: rule {kind.code}: scope must be one of {', '.join(SCOPES)}, not {kind.scope!r}")
    listening = [name[3:] for name in dir(kind) if name.startswith("on_")]
    if not listening:
        raise RuleError(f"{origin}: rule {kind.code} listens to nothing; define on_call, on_branch or another on_…")
    for event in listening:
        if event not in KINDS:
            hint = (
                did_you_mean(event, KINDS).replace("'", "`on_", 1).replace("'", "`")
                or f"; there are {', '.join(KINDS)}"
            )
            raise RuleError(f"{origin}: rule {kind.code} listens with `on_{event}`, and no event is called so{hint}")
    for event in kind.subjects:
        if event not in SUBJECTS:
            raise RuleError(f"{origin}: rule {kind.code}: `subjects` is for {', '.join(SUBJECTS)}, not {event!r}")
    if "call" in listening and not kind.calls:
        raise RuleError(f"{origin}: rule {kind.code} has on_call and no `calls`: name the calls it wants")
    try:
        return kind()
    except Exception as error:
        raise RuleError(f"{origin}: rule {kind.code} cannot be made: {type(error).__name__}: {error}") from error


def _rules_of_pack(pack: installed_packs.Pack) -> Iterator[Rule]:
    origin = f"pack {pack}"
    module = _imported(pack.module, origin)
    _, _, attribute = pack.target.partition(":")
    if not attribute:
        yield from _rules_in(module, origin)
        import pkgutil

        for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
            if not info.name.startswith(("_", "test_")) and not info.ispkg:
                yield from _rules_in(_imported(f"{pack.module}.{info.name}", origin), origin)
        return
    value: object = module
    for name in attribute.split("."):
        if not hasattr(value, name):
            raise RuleError(f"{origin}: {pack.module} has no {attribute!r}; correct the entry point")
        value = getattr(value, name)
    for kind in value if isinstance(value, (list, tuple)) else [value]:
        if not (isinstance(kind, type) and issubclass(kind, Rule)):
            raise RuleError(f"{origin}: {kind!r} is no rule; derive it from tclint.api.Rule")
        yield _made(kind, origin)


def _imported(name: str, origin: str) -> ModuleType:
    import importlib

    try:
        return importlib.import_module(name)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise RuleError(f"{origin}: cannot be loaded: {why}; remove it, or leave it out of `packs`") from error


def _import_builtin(stem: str) -> ModuleType:
    import importlib

    return importlib.import_module(f"tclint.rules.{stem}")


def _import_file(path: str) -> ModuleType:
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.dirname(os.path.abspath(path))
    name = f"tclint_user_rules_{abs(hash(os.path.abspath(path)))}_{stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RuleError(f"{path}: not a Python file; a rule is a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # Rules of one folder may share a helper: `from _helpers import …`. Another folder may have one of the same name.
    sys.path.insert(0, folder)
    before = set(sys.modules)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        place = f"{path}:{error.lineno}" if error.filename == path and error.lineno else path
        raise RuleError(f"{place}: cannot be loaded as a rule: syntax error: {error.msg}") from error
    except Exception as error:
        line = _line_in(error, path)
        place = f"{path}:{line}" if line else path
        raise RuleError(f"{place}: cannot be loaded as a rule: {type(error).__name__}: {error}") from error
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)
        for other in set(sys.modules) - before:
            if os.path.dirname(getattr(sys.modules[other], "__file__", None) or "") == folder:
                del sys.modules[other]
    return module


def _line_in(error: BaseException, path: str) -> int:
    """The last line of a file that an error came through."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


__all__ = ["ModuleEvent", "Rule", "RuleError", "events", "load_rules", "sure", "whole_frame"]
