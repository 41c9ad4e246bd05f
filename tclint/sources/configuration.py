"""Reading the configuration: what `[tool.tclint]`, `tclint.toml` and the command line say, and where each value came from."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tclint.model.errors import ConfigError, did_you_mean
from tclint.model.globs import posix
from tclint.model.settings import CACHE_VARIABLE, COMMAND_LINE, Cudagraph, Settings, own_word
from tclint.sources import regular, trust, wheels
from tclint.sources.files import CONFIG_NAMES, project_root, shown
from tclint.sources.keys import CUDAGRAPH_READERS, READERS, VERIFY_READERS, Wrong, selectors, torch_version


@dataclass(frozen=True)
class _Origin:
    """Where a table of settings was written, to say so in an error."""

    name: str
    text: str = ""
    prefix: tuple[str, ...] = ()

    def at(self, *keys: str) -> str:
        line = _line_of(self.text, (*self.prefix, *keys)) if self.text else 0
        return f"{self.name}:{line}" if line else self.name


def _read_table(
    table: Mapping[str, object],
    readers: Mapping[str, Callable[[object], object]],
    origin: _Origin,
    above: tuple[str, ...] = (),
) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, value in table.items():
        label = ".".join((*above, key))
        if key not in readers:
            raise ConfigError(f"{origin.at(*above, key)}: unknown key {label!r}{did_you_mean(key, readers)}")
        try:
            values[key] = readers[key](value)
        except Wrong as wrong:
            raise ConfigError(f"{origin.at(*above, key)}: {label} must be {wrong}, not {_shown_value(value)}") from None
    return values


def _shown_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _apply(settings: Settings, table: Mapping[str, object], origin: _Origin) -> Settings:
    """`settings` with the values of one table laid over them."""

    def cudagraph(value: object) -> Cudagraph:
        if not isinstance(value, Mapping):
            raise Wrong("a table")
        read = _read_table(value, CUDAGRAPH_READERS, origin, ("cudagraph",))
        return replace(settings.cudagraph, **{_field(k): v for k, v in read.items()})  # type: ignore[arg-type]

    def verify(value: object) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise Wrong("a table")
        return _read_table(value, VERIFY_READERS, origin, ("verify",))

    values = _read_table(table, {**READERS, "verify": verify, "cudagraph": cudagraph}, origin)
    source = {**settings.source, **{key: origin.at(key) for key in values}}
    return replace(settings, source=source, **{_field(k): v for k, v in values.items()})  # type: ignore[arg-type]


def _field(key: str) -> str:
    return key.replace("-", "_")


_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")
_LONG_KEY = re.compile(r"""(?:(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)[ \t]*\.[ \t]*){100}""")
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*(?:\.|$)""")


def _line_of(text: str, keys: tuple[str, ...]) -> int:
    """The line that writes a key, or opens its table; 0 where that cannot be told (an inline table, say)."""
    table: tuple[str, ...] = ()
    best = 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header[1])
            here = table
        elif key := _KEY.match(line):
            here = table + _parts(key[1])
        else:
            continue
        if here == keys:
            return number
        if not best and here[: len(keys)] == keys:
            best = number
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(a or b or c for a, b, c in _PART.findall(dotted))


# --- finding and loading ---------------------------------------------------------------------------------------------


def load(
    paths: Sequence[str] = (),
    *,
    cwd: str,
    config: str | None = None,
    isolated: bool = False,
    overrides: Mapping[str, object] | None = None,
    allow_rules: bool | None = None,
) -> Settings:
    """The settings for a run over `paths`: defaults, then the closest configuration, then the command line.

    `allow_rules`: the user allows the rules that the configuration file names to be run. None asks the environment, and
    both None and False ask the user's list of trusted folders.
    """
    start = os.path.normpath(os.path.join(cwd, paths[0] if paths else "."))
    folder = start if os.path.isdir(start) else os.path.dirname(start)
    settings = Settings(root=project_root(folder) or cwd)
    if config is not None:
        path = os.path.normpath(os.path.join(cwd, config))
        text = _read(path)
        table = _tool_table(path, text)
        if table is None:
            raise ConfigError(f"{config}: holds no [tool.tclint] table")
        settings = _from_file(settings, path, text, table, cwd)
    elif not isolated:
        found = _find(folder)
        if found is not None:
            settings = _from_file(settings, *found, cwd)
    if variable := os.environ.get(CACHE_VARIABLE):
        settings = _apply(settings, {"cache-dir": os.path.join(cwd, variable)}, _Origin(CACHE_VARIABLE))
    if overrides:
        settings = _override(settings, overrides, cwd)
    settings = _with_torch(_trusted(settings, cwd, allow_rules))
    return replace(
        settings,
        cache_dir=_cache_dir(settings),
        rules=tuple(os.path.normpath(os.path.join(settings.root, folder)) for folder in settings.rules),
        src=tuple(os.path.normpath(os.path.join(settings.root, folder)) for folder in settings.src),
        python=os.path.normpath(os.path.join(settings.root, settings.python)) if settings.python else "",
    )


def _trusted(settings: Settings, cwd: str, said: bool | None) -> Settings:
    """The settings without code that nobody allowed to run."""
    folders = tuple(dict.fromkeys((settings.root, cwd)))
    if trust.allowed([settings.root], said):
        return settings
    settings = replace(settings, untrusted=folders)
    if not settings.rules or own_word(settings, "rules"):
        return settings
    return replace(settings, rules=(), withheld=settings.rules)


def _cache_dir(settings: Settings) -> str:
    """The folder of the cache. A repository may put it anywhere in itself, and nowhere else."""
    given, root = settings.cache_dir, settings.root
    folder = os.path.normpath(os.path.join(root, given))
    where = settings.source.get("cache-dir", "default")
    if os.path.join(root, "").startswith(os.path.join(folder, "")):
        raise ConfigError(
            f"{where}: cache-dir must be a folder of its own, not {_shown_value(given)}, which holds the project; "
            "leave it out for .tclint_cache, or use no-cache for none"
        )
    if not own_word(settings, "cache-dir") and not folder.startswith(os.path.join(root, "")):
        raise ConfigError(
            f"{where}: cache-dir must be a folder inside the project, not {_shown_value(given)}; "
            f"for one elsewhere use --cache-dir or {CACHE_VARIABLE}"
        )
    return folder


def lies_in(folder: str) -> bool:
    """Whether a configuration lies in this very folder."""
    return _in(folder, folder) is not None


def _find(start: str) -> tuple[str, str, Mapping[str, object]] | None:
    return next((found for folder in trust.upwards(start) if (found := _in(folder, start)) is not None), None)


def _in(folder: str, start: str) -> tuple[str, str, Mapping[str, object]] | None:
    """The configuration that lies in a folder, for what is read from `start` on."""
    for name in CONFIG_NAMES:
        path = os.path.join(folder, name)
        if not os.path.isfile(path) or not trust.readable_by(path, start):
            continue
        text = _read(path)
        # Most pyproject files on the way up are not ours: no need to parse them to know.
        if name == "pyproject.toml" and "tclint" not in text:
            continue
        table = _tool_table(path, text)
        if table is not None:
            return path, text, table
    return None


def _read(path: str) -> str:
    if regular.is_odd(path):
        raise ConfigError(f"{path}: not a regular file; name a file with settings")
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(f"{path}: cannot be read: {reason}") from error


def _tool_table(path: str, text: str) -> Mapping[str, object] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    if _LONG_KEY.search(text):
        # The time to read a key grows with the square of its parts.
        raise ConfigError(f"{path}: not read: nested too deeply")
    try:
        data: Mapping[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid toml: {error}") from error
    except RecursionError:
        raise ConfigError(f"{path}: not read: nested too deeply") from None
    if os.path.basename(path) != "pyproject.toml":
        inner = data.get("tool")
        if isinstance(inner, Mapping) and "tclint" in inner:
            line = _line_of(text, ("tool", "tclint")) or 1
            raise ConfigError(
                f"{path}:{line}: [tool.tclint] is for pyproject.toml; in {os.path.basename(path)} the keys stand at the top, "
                "without a table (and [verify] for [tool.tclint.verify])"
            )
        return data
    tool = data.get("tool", {})
    table = tool.get("tclint") if isinstance(tool, Mapping) else None
    if table is not None and not isinstance(table, Mapping):
        raise ConfigError(f"{path}: tool.tclint must be a table, not {_shown_value(table)}")
    return table


def _from_file(settings: Settings, path: str, text: str, table: Mapping[str, object], cwd: str) -> Settings:
    prefix = ("tool", "tclint") if os.path.basename(path) == "pyproject.toml" else ()
    origin = _Origin(shown(path, cwd), text, prefix)
    return _apply(replace(settings, root=os.path.dirname(path), config_file=path), table, origin)


def _override(settings: Settings, overrides: Mapping[str, object], cwd: str) -> Settings:
    """Lay the command line over the file. Its paths and globs start from the folder the command runs in."""
    given = dict(overrides)
    before = settings
    settings = _apply(settings, given, _Origin(COMMAND_LINE))
    source = dict(settings.source)
    changed: dict[str, Any] = {}
    if "select" in given:
        # Who names the rules to run wants to see them, whatever the file leaves out.
        if "extend-select" not in given:
            changed["extend_select"] = ()
            source.pop("extend-select", None)
        if "ignore" not in given:
            changed["ignore"] = ()
            source.pop("ignore", None)
    else:
        if "ignore" in given:
            changed["ignore"] = (*before.ignore, *settings.ignore)
        if "extend-select" in given:
            added = settings.extend_select
            ignore = changed.get("ignore", settings.ignore)
            kept = selectors(given["ignore"]) if "ignore" in given else ()
            changed["extend_select"] = (*before.extend_select, *added)
            changed["ignore"] = tuple(s for s in ignore if s not in added or s in kept)
    for key in ("exclude", "extend-exclude"):
        if key in given:
            globs = tuple(_anchor(glob, cwd, settings.root) for glob in getattr(settings, _field(key)))
            changed[_field(key)] = (*before.extend_exclude, *globs) if key == "extend-exclude" else globs
    if "cache-dir" in given:
        changed["cache_dir"] = os.path.join(cwd, settings.cache_dir) if settings.cache_dir else ""
    if "src" in given:
        changed["src"] = tuple(os.path.join(cwd, folder) for folder in settings.src)
    if "python" in given and settings.python:
        changed["python"] = os.path.join(cwd, settings.python)
    if "rules" in given:
        changed["rules"] = tuple(os.path.join(cwd, folder) for folder in settings.rules)
    return replace(settings, source=source, **changed)


def _anchor(glob: str, cwd: str, root: str) -> str:
    if cwd == root or "/" not in glob or glob.startswith(("/", "*")):
        return glob
    return f"{posix(cwd)}/{glob.removeprefix('./')}"


def _with_torch(settings: Settings) -> Settings:
    if "target-torch" in settings.source:
        return settings
    from importlib.util import find_spec

    # Finding is cheap where reading metadata is not, and a linter's own environment mostly has no torch.
    if find_spec("torch") is None:
        return settings
    try:
        installed = torch_version(wheels.version("torch") or _version_in_metadata("torch"))
    except Wrong:
        return settings
    return replace(settings, target_torch=installed, source={**settings.source, "target-torch": "installed torch"})


def _version_in_metadata(name: str) -> str:
    """The version of what is not installed as wheels are: a finder of its own knows it, or a file in its metadata."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
