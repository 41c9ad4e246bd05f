"""Loading rules: tclint's own, those of installed packs, and the user's own folders and files."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from types import ModuleType

from tclint.events import EVENTS
from tclint.model.errors import UserError, did_you_mean
from tclint.ruleset import packs as installed_packs
from tclint.ruleset.rule import SCOPES, Rule

SUBJECTS = tuple(sorted(kind.kind for kind in EVENTS if kind.subject))
KINDS = tuple(sorted(kind.kind for kind in EVENTS))
"""The events: a rule listens to one with a method `on_<kind>`."""


class RuleError(UserError):
    """A rule that cannot be loaded; the text names the file and what to do."""


def load_rules(
    extra: Sequence[str] = (), packs: Sequence[str] = (), *, untrusted: Sequence[str] = ()
) -> tuple[Rule, ...]:
    """Every rule of `tclint.rules`, of installed packs and of the user's own folders and files, by code.

    No pack is loaded from the folders `untrusted`.
    """
    rules: dict[str, Rule] = {}
    names: dict[str, str] = {}
    where: dict[str, str] = {}
    for rule, origin in _all_rules(extra, packs, untrusted):
        if rule.code in rules:
            raise RuleError(f"{origin}: code {rule.code} is already taken by {where[rule.code]}; choose another")
        if rule.name in names:
            raise RuleError(f"{origin}: name {rule.name!r} is already taken by {names[rule.name]}; choose another")
        rules[rule.code] = rule
        where[rule.code] = origin
        names[rule.name] = rule.code
    for rule in rules.values():
        if rule.general:
            rule.left_to_others = tuple(c for other in rules.values() if other is not rule for c in other.owns)
    return tuple(rules[code] for code in sorted(rules))


def _all_rules(extra: Sequence[str], packs: Sequence[str], untrusted: Sequence[str]) -> Iterator[tuple[Rule, str]]:
    """Rules, each with the words that say where it comes from."""
    for kind, path in _builtin():
        yield _made(kind, path), path
    for pack in installed_packs.chosen(packs, untrusted=untrusted):
        for kind in _rules_of_pack(pack):
            yield _made(kind, f"pack {pack}"), f"pack {pack}"
    for folder in extra:
        for path in _rule_files(folder):
            found = [_made(kind, path) for kind in _rules_in(_import_file(path), path)]
            if not found and path == folder:
                raise RuleError(f"{path}: defines no rule; a rule is a class that derives from tclint.api.Rule")
            for rule in found:
                yield rule, path


@cache
def _builtin() -> tuple[tuple[type[Rule], str], ...]:
    """tclint's own rules: looked for once in a process, and made for each of its runs."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "rules")
    found = []
    for path in _rule_files(folder):
        stem = os.path.splitext(os.path.basename(path))[0]
        found += [(kind, path) for kind in _rules_in(_import_builtin(stem), path)]
    return tuple(found)


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


def _rules_in(module: ModuleType, origin: str) -> Iterator[type[Rule]]:
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            if issubclass(value, Rule):
                if value.code:
                    yield _fit(value, origin)
            elif isinstance(vars(value).get("code"), str) and any(n.startswith("on_") for n in vars(value)):
                raise RuleError(f"{origin}: class {value.__name__} looks like a rule; derive it from tclint.api.Rule")


def _fit(kind: type[Rule], origin: str) -> type[Rule]:
    """A class that is fit to be a rule; `RuleError` says what is wrong with it otherwise."""
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
    return kind


def _made(kind: type[Rule], origin: str) -> Rule:
    try:
        return kind()
    except Exception as error:
        raise RuleError(f"{origin}: rule {kind.code} cannot be made: {type(error).__name__}: {error}") from error


def _rules_of_pack(pack: installed_packs.Pack) -> Iterator[type[Rule]]:
    origin = f"pack {pack}"
    module = _import_pack(pack.module, origin)
    _, _, attribute = pack.target.partition(":")
    if not attribute:
        yield from _rules_in(module, origin)
        import pkgutil  # packs that are packages are few

        for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
            if not info.name.startswith(("_", "test_")) and not info.ispkg:
                yield from _rules_in(_import_pack(f"{pack.module}.{info.name}", origin), origin)
        return
    value: object = module
    for name in attribute.split("."):
        if not hasattr(value, name):
            raise RuleError(f"{origin}: {pack.module} has no {attribute!r}; correct the entry point")
        value = getattr(value, name)
    for kind in value if isinstance(value, (list, tuple)) else [value]:
        if not (isinstance(kind, type) and issubclass(kind, Rule)):
            raise RuleError(f"{origin}: {kind!r} is no rule; derive it from tclint.api.Rule")
        yield _fit(kind, origin)


def _import_pack(name: str, origin: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise RuleError(f"{origin}: cannot be loaded: {why}; remove it, or leave it out of `packs`") from error


def _import_builtin(stem: str) -> ModuleType:
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
