"""`tclint config`: the settings in effect, and where each comes from."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import click

from tclint.commands.options import CONTEXT, config_options, here, say
from tclint.model.settings import Settings
from tclint.output.words import plural
from tclint.run.project import Project, not_loaded
from tclint.sources import configuration, files
from tclint.sources.keys import KEYS


@click.command("config", context_settings=CONTEXT)
@click.argument("paths", nargs=-1)
@click.option("--schema", is_flag=True, help="Print the JSON schema of the configuration instead.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@config_options
def command(
    paths: tuple[str, ...],
    schema: bool,
    output_format: str,
    config_file: str | None,
    isolated: bool,
    allow_rules: bool | None,
) -> int:
    """Show the settings in effect for PATHS, and where each comes from."""
    if schema:
        from tclint.commands import schema as schemas
        from tclint.output import write

        write.to_stdout(schemas.text(), utf8=True)
        return 0
    settings = configuration.load(paths, cwd=here(), config=config_file, isolated=isolated, allow_rules=allow_rules)
    if line := not_loaded(settings):
        say(line)
    from tclint.ruleset import packs

    shown = _shown(settings)
    roots = [files.shown(root, here()) or "." for root in Project.of(paths or (".",), settings, here()).import_roots]
    loaded = packs.chosen(settings.packs, untrusted=settings.untrusted)
    found = [(pack, pack in loaded) for pack in packs.installed()]
    if output_format == "json":
        document = {
            "configuration": settings.config_file or None,
            "root": settings.root,
            "import-roots": roots,
            "settings": {key: {"value": value, "source": origin} for key, (value, origin) in shown.items()},
            "packs": [
                {"name": p.name, "distribution": p.distribution, "version": p.version, "loaded": on} for p, on in found
            ],
        }
        print(json.dumps(document, indent=2))
        return 0
    print("\n".join(_lines(settings)))
    if roots:
        print(f"# imports start from {', '.join(roots)} too")
    for pack, on in found:
        print(f"# pack {pack}: {'loaded' if on else 'not loaded'}")
    return 0


def told(project: Project, *, files: bool) -> int:
    """`--show-files`: what a run would read and report. `--show-settings`: what holds for those files."""
    if files:
        print("".join(f"{path}\n" for path in project.reported), end="")
        return 0
    held = {id(settings): settings for settings in map(project.settings.at, _absolute(project))}
    pages = []
    for settings in held.values() or (project.settings,):
        mine = sum(project.settings.at(path) is settings for path in _absolute(project))
        pages.append("\n".join([f"# holds for {plural(mine, 'file')}", *_lines(settings)]))
    print("\n\n".join(pages))
    return 0


def _absolute(project: Project) -> list[str]:
    return [file.absolute for file in project.files if file.report]


def _shown(settings: Settings) -> dict[str, tuple[Any, str]]:
    """By key, the value in effect and where it comes from."""
    shown: dict[str, tuple[Any, str]] = {}
    for key in KEYS:
        value = getattr(settings, key.replace("-", "_"))
        if key == "rules" and settings.withheld:
            value = settings.withheld
        if key == "cudagraph":
            value = {each.name.replace("_", "-"): getattr(value, each.name) for each in fields(value)}
        shown[key] = value, settings.source.get(key, "default")
    return shown


def _lines(settings: Settings) -> list[str]:
    head = [f"# configuration: {settings.config_file or 'none found'}", f"# root: {settings.root}"]
    return head + [f"{key} = {_toml(value)}  # {origin}" for key, (value, origin) in _shown(settings).items()]


def _toml(value: object) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_toml_key(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return json.dumps(value, ensure_ascii=False)


def _toml_key(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else json.dumps(key)
