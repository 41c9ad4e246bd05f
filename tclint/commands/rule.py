"""`tclint rule`: the page of a rule, or the list of all."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tclint.commands.options import CONTEXT, complete_rules, config_options, here, say
from tclint.ruleset.notices import NOTICES, Notice
from tclint.run.project import Project

if TYPE_CHECKING:
    from tclint.model.settings import Settings
    from tclint.output.palette import Palette
    from tclint.ruleset.rule import Rule


@click.command("rule", context_settings=CONTEXT)
@click.argument("what", nargs=-1, metavar="[CODE|NAME|GBxxxx]...", shell_complete=complete_rules)
@click.option("--all", "everything", is_flag=True, help="Show the page of every rule.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours in the output.")
@config_options
def command(
    what: tuple[str, ...],
    everything: bool,
    output_format: str,
    color: str,
    config_file: str | None,
    isolated: bool,
    allow_rules: bool | None,
) -> int:
    """Explain rules: by code, by prefix, by name, or by Dynamo's graph-break id. Without argument, list them."""
    from tclint.output import palette, write

    paint = palette.Palette(palette.wants_color(color, sys.stdout, os.environ))
    project = Project.open((), cwd=here(), config=config_file, isolated=isolated, say=say, allow_rules=allow_rules)
    own = [NOTICES[word.upper()] for word in what if word.upper() in NOTICES]
    rest = [word for word in what if word.upper() not in NOTICES]
    chosen = list(project.rules) if everything or not what else project.explain(rest)
    if output_format == "json":
        objects = [*map(_rule_object, chosen), *({"code": n.code, "name": n.name, "page": n.page} for n in own)]
        text = json.dumps(objects, indent=2, ensure_ascii=False) + "\n"
    elif everything or what:
        text = "\n\n".join([*(_page(each, paint) for each in chosen), *(_notice(each, paint) for each in own)]) + "\n"
    else:
        text = _table(chosen, project.settings, paint)
    write.to_stdout(text, utf8=output_format == "json")
    return 0


def _rule_object(each: Rule) -> dict[str, Any]:
    return {
        "code": each.code,
        "name": each.name,
        "effect": each.effect.value,
        "severity": each.severity.value,
        "default": each.default,
        "graph_breaks": list(each.graph_breaks),
        "torch": each.torch,
        "changes": {span: sorted(names) for span, names in each.changes().items()},
        "page": _doc(each),
    }


def _doc(each: Rule) -> str:
    import inspect

    return inspect.cleandoc(type(each).__doc__ or "(this rule has no page yet)")


def _page(each: Rule, paint: Palette) -> str:
    from tclint.output.words import ONE

    grave = paint.severity(each.severity.value, each.severity.value)
    traits = [grave, ONE[each.effect], "on by default" if each.default else "off by default"]
    if each.torch:
        traits.append(f"torch {each.torch}")
    traits += each.graph_breaks
    return f"{_title(each, paint)}\n{' · '.join(traits)}\n\n{_painted(_doc(each), paint)}{_changes(each)}"


def _notice(each: Notice, paint: Palette) -> str:
    return f"{_title(each, paint)}\ntclint's own · {each.short}\n\n{_painted(each.page, paint)}"


def _title(each: Rule | Notice, paint: Palette) -> str:
    title = f"{each.code} {each.name}"
    return f"{paint.bold(title)}\n{'=' * len(title)}"


def _painted(page: str, paint: Palette) -> str:
    """A page with its headings in bold and its code apart from the prose."""
    lines = []
    for line in page.split("\n"):
        heading = re.match(r"[A-Z][\w -]*:(?=:?$| )", line)
        if line.startswith("    "):
            line = paint.gutter(line)
        elif heading is not None:
            line = paint.bold(heading[0]) + line[heading.end() :]
        lines.append(line)
    return "\n".join(lines)


def _changes(each: Rule) -> str:
    """What breaks the graph on some releases of torch only."""
    rows = [f"  {span}: {', '.join(sorted(names))}" for span, names in sorted(each.changes().items())]
    return "\n\nOn some releases of torch only:\n" + "\n".join(rows) if rows else ""


def _table(rules: Sequence[Rule], settings: Settings, paint: Palette) -> str:
    from tclint.output.words import ONE

    longest = max((len(each.name) for each in rules), default=0)
    rows = []
    for each in rules:
        on = "on " if settings.selects(each.code, each.name, each.default) else "off"
        what = f"{paint.severity(each.severity.value, each.severity.value)} · {ONE[each.effect]}"
        rows.append(f"{paint.bold(each.code)}  {on}  {each.name:<{longest}}  {what}\n")
    return "".join(rows)
