"""`tclint new-rule`: a rule of one's own, with fixtures and a test, to change into what is needed."""

from __future__ import annotations

import os
import re

import click

from tclint.commands.options import here
from tclint.model.errors import UserError
from tclint.model.settings import Settings
from tclint.sources import configuration

_RULE = '''"""{code}: {title}."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.api import Call, Effect, Finding, Rule, Severity


class {kind}(Rule):
    """Say here, in one sentence, what the rule sees and what it costs. This docstring is the rule's page.

    Bad::

        def f(x):
            time.sleep(0.1)
            return x * 2

    Good::

        def f(x):
            return x * 2  # the caller sleeps

    Fix: say what to do instead, and when it is right to ignore the rule.
    """

    code, name = "{code}", "{name}"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    # Which calls `on_call` is asked about: dotted names, a trailing * for a prefix.
    calls = ("time.sleep",)

    def on_call(self, event: Call) -> Iterator[Finding]:
        yield self.finding(event, f"`{{event.name}}` in compiled code", help="call it outside the compiled region")
'''
_BAD = '''"""What {code} must find: each line says so itself."""

import time

import torch


@torch.compile
def f(x):
    time.sleep(0.1)  # expect: {code} time.sleep
    return x * 2


f(torch.ones(3))
'''
_GOOD = '''"""What {code} must leave alone."""

import time

import torch


@torch.compile
def f(x):
    return x * 2


time.sleep(0.1)
f(torch.ones(3))
'''
_TEST = '''"""The fixtures of {code} say what it finds, line by line."""

from pathlib import Path

import pytest

from tclint.api import check_fixture

HERE = Path(__file__).parent
FIXTURES = sorted((HERE / "fixtures" / "{folder}").glob("*.py"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_fixture(path: Path) -> None:
    assert check_fixture(path, "{code}", rules=[str(HERE / "{file}")]) == []


def test_there_are_fixtures() -> None:
    assert FIXTURES
'''


@click.command("new-rule", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.argument("code")
@click.argument("name")
@click.option("--folder", default="lint", show_default=True, metavar="DIR", help="Where the project keeps its rules.")
def command(code: str, name: str, folder: str) -> int:
    """Write a new rule CODE (such as ACME001) called NAME (words-with-hyphens), with its page, fixtures and test."""
    if not re.fullmatch(r"[A-Z]{2,10}\d{1,5}", code):
        raise UserError(f"{code!r} is no code: capital letters and digits, such as ACME001")
    if code.startswith("TCL"):
        raise UserError(f"{code}: TCL belongs to tclint's own rules; choose letters of your own, such as ACME001")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UserError(f"{name!r} is no name: words-with-hyphens, such as no-sleep")
    cwd = here()
    settings = configuration.load([folder], cwd=cwd)
    _check_free(settings, code, name)
    made = _write(folder, code, name)
    for path in made:
        print(f"wrote {path}")
    print(_how_on(settings, os.path.normpath(os.path.join(cwd, folder))))
    print(f"then: tclint rule {code}  shows its page; pytest {folder}  holds it against its fixtures")
    return 0


def _check_free(settings: Settings, code: str, name: str) -> None:
    from tclint.ruleset.loading import load_rules

    existing = [path for path in settings.rules if os.path.exists(path)]
    for rule in load_rules(existing, settings.packs, untrusted=settings.untrusted):
        if rule.code == code:
            raise UserError(f"{code}: there is a rule of that code already, {rule.name}")
        if rule.name == name:
            raise UserError(f"{name}: there is a rule of that name already, {rule.code}")


def _write(folder: str, code: str, name: str) -> list[str]:
    stem = f"{code.lower()}_{name.replace('-', '_')}"
    group = f"{code}_{name.replace('-', '_')}"
    words = {
        "code": code,
        "name": name,
        "title": name.replace("-", " "),
        "kind": "".join(word.capitalize() for word in name.split("-")),
        "folder": group,
        "file": f"{stem}.py",
    }
    contents = {
        os.path.join(folder, f"{stem}.py"): _RULE,
        os.path.join(folder, "fixtures", group, "bad.py"): _BAD,
        os.path.join(folder, "fixtures", group, "good.py"): _GOOD,
        os.path.join(folder, f"test_{stem}.py"): _TEST,
    }
    for path in contents:
        if os.path.lexists(path):
            raise UserError(f"{path}: exists already; nothing was written")
    for path, template in contents.items():
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x", encoding="utf-8") as file:
                file.write(template.format(**words))
        except OSError as error:
            raise UserError(f"{path}: cannot be written: {error.strerror}") from error
    return list(contents)


def _how_on(settings: Settings, folder: str) -> str:
    withheld = [os.path.normpath(os.path.join(settings.root, each)) for each in settings.withheld]
    if folder in (*settings.rules, *withheld):
        return f"it is on: {os.path.basename(settings.config_file)} has this folder among its rules"
    where = settings.config_file or os.path.join(settings.root, "pyproject.toml")
    table = "" if os.path.basename(where) == "tclint.toml" else "[tool.tclint]\n    "
    shown = os.path.relpath(folder, os.path.dirname(where)).replace(os.sep, "/")
    # The fixtures are wrong on purpose.
    return (
        f"to switch it on, write into {os.path.relpath(where)}:\n\n"
        f'    {table}rules = ["{shown}"]\n    extend-exclude = ["{shown}/fixtures"]\n'
    )
