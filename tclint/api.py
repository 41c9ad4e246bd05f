"""The stable interface of tclint: for rules of your own, and for programs that lint.

Everything in `__all__` keeps its name and its meaning within a major version; what is not in it may change with any
release. A name that must go is kept for one minor version with a `DeprecationWarning`.

**A rule** is a class in a file of its own (`tclint new-rule ACME001 no-sleep` writes one)::

    from collections.abc import Iterator

    from tclint.api import Call, Effect, Finding, Rule, Severity


    class NoSleep(Rule):
        \"\"\"`time.sleep` in compiled code runs once, while tracing.\"\"\"

        code, name = "ACME001", "no-sleep"
        effect, severity = Effect.SILENT, Severity.MEDIUM
        calls = ("time.sleep",)

        def on_call(self, event: Call) -> Iterator[Finding]:
            yield self.finding(event, "`time.sleep` in compiled code", help="sleep in the caller")

The docstring is the rule's page. Class attributes are its facts:

- `code` (capital letters and digits; `TCL` is tclint's own), `name` (words-with-hyphens), `effect`, `severity`;
- `default = False` keeps the rule off until it is selected; `torch = ">=2.9"` limits it to some versions;
- `scope`: `region` (compiled code, the default), `seen` (compiled code whose calls were seen), `eager`, `any`;
- `calls`: the dotted names that `on_call` wants, a trailing `*` for a prefix; `triggers`: bytes a file must hold for
  `on_module` to see it;
- `owns`: the calls that are this rule's alone, which general rules such as TCL110 leave to it.

Its methods listen to events: `on_branch`, `on_call`, `on_program_call`, `on_compiled_call`, `on_attribute`, `on_store`,
`on_subscript`, `on_operation`, `on_sparse_use`, `on_loop`, `on_return`, `on_assert`, `on_format`, `on_with`, `on_define`, `on_feature`, `on_use`, `on_enter`,
`on_compile`, `on_graph_break`, `on_apart`, `on_reuse`, `on_rerun`, `on_rebound`, `on_refused`, `on_module`. Each is handed an event of the
class of that name, with the abstract values at hand (`Tensor`, `Const`, `Scalar`, `Seq` …), and yields findings made with
`self.finding(event, message)`. What else is known
there the event's `ask` tells (`event.ask.attributes(instance)`, see `Queries`). `fix(finding, event)` may give a `Fix`,
whose edits `Place(event)` helps to make.

Where rules come from: `[tool.tclint] rules = ["lint/"]` names folders and files (loaded where `--allow-rules` allows it); a package offers them by an entry point of
the group `tclint.rules` (a module, a package, or `module:name` of a rule or a list of rules).

**A program** calls `lint`::

    from tclint.api import lint

    report = lint(["models/"], select=["TCL1"])
    for finding in report.findings:
        print(finding.path, finding.line, finding.code, finding.message)
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace as _replace
from typing import Any

from tclint.events import (
    GRADIENTS,
    Apart,
    Assert,
    Attribute,
    Branch,
    Call,
    Compile,
    CompiledCall,
    Define,
    Enter,
    Event,
    Feature,
    Format,
    GraphBreak,
    Loop,
    ModuleEvent,
    Operation,
    ProgramCall,
    Rebound,
    Refusal,
    Refused,
    Rerun,
    Return,
    Reuse,
    SparseUse,
    Stale,
    Store,
    Subscript,
    Use,
    With,
    span_of,
    subject,
)
from tclint.events.queries import Queries
from tclint.fixes.places import Place
from tclint.model.errors import UserError
from tclint.model.finding import (
    Applicability,
    Confidence,
    Edit,
    Effect,
    Finding,
    Fix,
    Label,
    Severity,
    Span,
    Step,
    Verification,
)
from tclint.model.report import Report, Site
from tclint.model.settings import Settings
from tclint.ruleset.loading import RuleError
from tclint.ruleset.rule import Rule, sure, whole_frame
from tclint.run.project import AUTO as _AUTO
from tclint.run.project import Project as _Project
from tclint.sources import cells as _cells
from tclint.values import (
    NONE,
    UNKNOWN,
    ClassValue,
    Compiled,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    ModuleValue,
    Object,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    is_tensor,
    tensor_of,
    truth,
)

__all__ = [
    "GRADIENTS",
    "NONE",
    "UNKNOWN",
    "Apart",
    "Applicability",
    "Assert",
    "Attribute",
    "Branch",
    "Call",
    "ClassValue",
    "Compile",
    "Compiled",
    "CompiledCall",
    "Confidence",
    "Const",
    "Define",
    "Dict",
    "Edit",
    "Effect",
    "Enter",
    "Event",
    "External",
    "Feature",
    "Finding",
    "Fix",
    "Format",
    "FunctionValue",
    "GraphBreak",
    "Instance",
    "Label",
    "Loop",
    "ModuleEvent",
    "ModuleValue",
    "Object",
    "Operation",
    "Place",
    "ProgramCall",
    "Queries",
    "Rebound",
    "Refusal",
    "Refused",
    "Report",
    "Rerun",
    "Return",
    "Reuse",
    "Rule",
    "RuleError",
    "Scalar",
    "Seq",
    "Settings",
    "Severity",
    "Site",
    "Span",
    "SparseUse",
    "Stale",
    "Step",
    "Store",
    "Subscript",
    "Tensor",
    "Union",
    "Unknown",
    "Use",
    "UserError",
    "Value",
    "Verification",
    "With",
    "check_fixture",
    "is_tensor",
    "lint",
    "span_of",
    "subject",
    "sure",
    "tensor_of",
    "truth",
    "whole_frame",
]

_EXPECT = re.compile(r"#\s*expect:\s*(?P<items>.+)$")


def lint(
    paths: Sequence[str | os.PathLike[str]] = (".",),
    *,
    cwd: str | os.PathLike[str] | None = None,
    config: str | None = None,
    isolated: bool = False,
    project: bool = True,
    allow_rules: bool | None = None,
    **settings: Any,
) -> Report:
    """Lint files and folders, as the command does.

    `cwd` is the folder that paths start from and are shown relative to. `config` names a configuration file, `isolated`
    reads none. `project=False` looks at the given files only, not at the project around them. `allow_rules` allows the
    rules that the configuration file names to be run; rules given as `rules=[…]` are your own word. Further keywords are
    settings, with underscores: `select=["TCL1"]`, `target_torch="2.13"`; with `no_cache=False` the cache of the project is
    used and written. A finding in a notebook has its `cell` set, and
    lines that count from the cell's start. Raises `UserError` for what the user can put right.
    """
    folder = os.path.abspath(os.fspath(cwd) if cwd is not None else os.getcwd())
    names = [os.fspath(path) for path in paths]
    given = {"no-cache": True, **{key.replace("_", "-"): value for key, value in settings.items()}}
    around = _AUTO if project else None
    notes: list[str] = []
    opened = _Project.open(
        names,
        cwd=folder,
        config=config,
        isolated=isolated,
        overrides=given,
        around=around,
        say=notes.append,
        allow_rules=allow_rules,
    )
    report = _cells.in_cells(opened.lint(), _cells.texts(opened.files))
    return _replace(report, notes=(*report.notes, *notes)) if notes else report


def check_fixture(path: str | os.PathLike[str], code: str, **settings: Any) -> list[str]:
    """What is wrong with a rule's fixture: a file whose lines say what is found there, `# expect: ACME001 some words`.

    Empty where every such line gets a finding of that code whose message holds the words, and no other line gets one.
    """
    name = os.fspath(path)
    folder, base = os.path.split(os.path.abspath(name))
    report = lint([base], cwd=folder, project=False, extend_select=[code], **settings)
    found = {f.line: f for f in report.findings if f.code == code}
    with open(name, encoding="utf-8") as file:
        lines = file.read().splitlines()
    wrong = [f"{name}:{f.line}: {f.message}" for f in report.findings if re.fullmatch(r"TCL90[2-6]", f.code)]
    for number, text in enumerate(lines, 1):
        match = _EXPECT.search(text)
        items = [item.strip() for item in match["items"].split(";")] if match else []
        words = next((item[len(code) :].strip() for item in items if item.split()[:1] == [code]), None)
        finding = found.pop(number, None)
        if words is None and finding is not None:
            wrong.append(f"{name}:{number}: found, and not expected: {finding.message}")
        elif words is not None and finding is None:
            wrong.append(f"{name}:{number}: expected {code}, and not found")
        elif words and finding is not None and words not in finding.message:
            wrong.append(f"{name}:{number}: the message does not say {words!r}: {finding.message}")
    return wrong
