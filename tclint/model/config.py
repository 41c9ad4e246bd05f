"""Settings: what `[tool.tclint]`, `tclint.toml` and the command line say, and where each value came from."""

from __future__ import annotations

import difflib
import fnmatch
import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

NEWEST_TORCH = "2.13"
"""The newest torch the tables speak for; taken where no torch is installed and none is configured."""

DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tclint_cache",
    ".tox",
    ".venv",
    "__pycache__",
    "__pypackages__",
    "_build",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)
CONFIG_NAMES = ("tclint.toml", "pyproject.toml")
PROJECT_MARKERS = (*CONFIG_NAMES, "setup.py", "setup.cfg", ".git", ".hg")
LEVELS = ("low", "medium", "high")
CACHE_VARIABLE = "TCLINT_CACHE_DIR"
"""The environment variable that says where the cache is kept, as `--cache-dir` does."""
_COMMAND_LINE = "command line"


class UserError(Exception):
    """Something the user can put right: printed in one line, without a traceback, exit code 2."""


class ConfigError(UserError):
    """A setting that cannot be used."""


class KnownRule(Protocol):
    """The part of a rule that selection needs."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Cudagraph:
    """`[tool.tclint.cudagraph]`: what the project knows about tensors owned by CUDA graphs."""

    callables: tuple[str, ...] = ()
    clone_helpers: tuple[str, ...] = ()
    step_markers: tuple[str, ...] = ()
    only_through: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Settings:
    """The effective settings of one run. Plain values only, so that a worker process can be handed a copy."""

    select: tuple[str, ...] = ("TCL",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    target_torch: str = NEWEST_TORCH
    min_confidence: str = "medium"
    severity: str = "low"
    rules: tuple[str, ...] = ()
    packs: tuple[str, ...] = ("*",)
    assume_compiled: str = "auto"
    compile_functions: tuple[str, ...] = ("safe_compile", "maybe_compile")
    cudagraph: Cudagraph = field(default_factory=Cudagraph)
    tokenizers: tuple[str, ...] = ("*tokenizer*",)
    require_compile_wrapper: str = ""
    jobs: int = 0
    cache_dir: str = ".tclint_cache"
    no_cache: bool = False
    respect_gitignore: bool = True
    verify: Mapping[str, Any] = field(default_factory=dict, hash=False)
    root: str = ""
    """The folder that relative globs and folders of the configuration start from."""
    config_file: str = ""
    source: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    """Key as written in toml -> where its value came from. A key that is absent has its default."""

    def selects(self, code: str, name: str, default: bool) -> bool:
        """Whether a rule runs: the most specific selector wins, and `ignore` wins a tie."""
        chosen = max(
            (_chosen_weight(s, code, name) for s in (*self.select, *self.extend_select) if _turns_on(s, name, default)),
            default=-1,
        )
        refused = max((_weight(s, code, name) for s in self.ignore), default=-1)
        return chosen > refused

    def ignored_in(self, path: str, code: str, name: str) -> bool:
        """Whether `per-file-ignores` silences this rule in the file with this absolute path."""
        path = path.replace(os.sep, "/")
        for glob, selectors in self.per_file_ignores.items():
            inverted = glob.startswith("!")
            matches = _file_matcher(glob.lstrip("!"), self.root)(path)
            if matches != inverted and any(_weight(s, code, name) >= 0 for s in selectors):
                return True
        return False

    def fingerprint(self) -> str:
        """A hash of everything that can change what is found in a given file: a part of the cache key."""
        import hashlib

        from tclint import __version__

        values = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name not in _NOT_IN_FINGERPRINT}
        return hashlib.sha256(repr((__version__, sorted(values.items()))).encode()).hexdigest()[:32]


# Which files are read, how many at once and where results are kept does not change what a file's text means.
_NOT_IN_FINGERPRINT = frozenset(
    {"exclude", "extend_exclude", "respect_gitignore", "jobs", "cache_dir", "no_cache", "verify"}
    | {"root", "config_file", "source"}
)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return sorted((k, _plain(v)) for k, v in value.items())
    if isinstance(value, Cudagraph):
        return [_plain(getattr(value, f.name)) for f in fields(value)]
    return value


# --- selectors -------------------------------------------------------------------------------------------------------


def _chosen_weight(selector: str, code: str, name: str) -> int:
    # "TCL" means "the usual rules", and what a project or a pack adds belongs to them.
    return 0 if selector == "TCL" and not code.startswith("TCL") else _weight(selector, code, name)


def _weight(selector: str, code: str, name: str) -> int:
    """How closely a selector names a rule: -1 not at all, 0 for ALL, else the length of the code it spells."""
    if selector == "ALL":
        return 0
    if selector == name:
        return len(code)
    return len(selector) if code.startswith(selector) else -1


def _turns_on(selector: str, name: str, default: bool) -> bool:
    # "TCL" means "the usual rules"; one more digit is a deliberate choice.
    return default or selector == "ALL" or selector == name or len(selector) >= 4


def matches(selector: str, code: str, name: str) -> bool:
    """Whether a selector (code, prefix of a code, name or ALL) speaks of this rule."""
    return _weight(normal_selector(selector), code, name) >= 0


def normal_selector(selector: str) -> str:
    """`tcl101` is TCL101 and `all` is ALL; names stay as they are."""
    selector = selector.strip()
    return selector.upper() if re.fullmatch(r"(?i)all|tcl\d*", selector) else selector


def check_selectors(settings: Settings, rules: Sequence[KnownRule]) -> None:
    """Refuse a selector that names no rule: it would silently do nothing."""
    places: list[tuple[str, Iterable[str]]] = [
        ("select", settings.select),
        ("ignore", settings.ignore),
        ("extend-select", settings.extend_select),
    ]
    places += [("per-file-ignores", selectors) for selectors in settings.per_file_ignores.values()]
    for key, selectors in places:
        for selector in selectors:
            # The 9xx codes are tclint's own and have no module in rules/.
            if re.fullmatch(r"ALL|TCL|TCL90?|TCL90[1-6]|unused-suppression", selector):
                continue
            if not any(_weight(selector, rule.code, rule.name) >= 0 for rule in rules):
                known = [rule.code for rule in rules] + [rule.name for rule in rules]
                where = settings.source.get(key, "default")
                hint = did_you_mean(selector, known) or "; `tclint rule` lists the rules"
                raise ConfigError(f"{where}: {key}: no rule is called {selector!r}{hint}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    names = list(known)
    # TCL1O1 is TCL101, however close TCL511 looks.
    as_digits = word[:3].upper() + word[3:].translate(str.maketrans("OoIl", "0011"))
    close = [as_digits] if as_digits in names else difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


# --- globs -----------------------------------------------------------------------------------------------------------


class PathMatcher:
    """Many globs as one test. A glob without a slash is held against the name, one with a slash against the path."""

    def __init__(self, globs: Iterable[str], root: str) -> None:
        plain: set[str] = set()
        names: list[str] = []
        paths: list[str] = []
        for glob in globs:
            glob = glob.rstrip("/").removeprefix("./")
            if "/" in glob:
                anchored = glob if glob.startswith(("/", "*")) or os.path.isabs(glob) else _posix(root) + "/" + glob
                paths += [fnmatch.translate(anchored), fnmatch.translate(anchored + "/*")]
            elif any(c in glob for c in "*?["):
                names.append(fnmatch.translate(glob))
            elif glob:
                plain.add(glob)
        self._plain = frozenset(plain)
        self._names = re.compile("|".join(names)) if names else None
        self._paths = re.compile("|".join(paths)) if paths else None

    def __call__(self, name: str, path: str) -> bool:
        """`path` is absolute, with forward slashes; `name` is its last part."""
        return (
            name in self._plain
            or (self._names is not None and self._names.match(name) is not None)
            or (self._paths is not None and self._paths.match(path) is not None)
        )


@functools.lru_cache(maxsize=512)
def _file_matcher(glob: str, root: str) -> Callable[[str], bool]:
    matcher = PathMatcher([glob], root)
    start = _posix(root) + "/"

    def test(path: str) -> bool:
        # A bare `tests` means everything below a folder of that name, so every part of the path may match.
        below = path[len(start) :] if path.startswith(start) else path
        return any(matcher(part, path) for part in below.split("/"))

    return test


def _posix(path: str) -> str:
    return path.replace(os.sep, "/").rstrip("/")


# --- reading values --------------------------------------------------------------------------------------------------


class _Wrong(Exception):
    """A value of the wrong kind; the text says which kind is wanted."""


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
        raise _Wrong("a list of strings")
    return tuple(value)


def _selectors(value: object) -> tuple[str, ...]:
    return tuple(normal_selector(s) for s in _strings(value))


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise _Wrong("a string")
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("true or false")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _Wrong("a whole number, 0 or more")
    return value


class _OneOf:
    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def __call__(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise _Wrong("one of " + ", ".join(f'"{c}"' for c in self.choices))
        return value


def choices(key: str) -> tuple[str, ...]:
    """The values a key can have, where it is one of a few."""
    reader = _READERS.get(key)
    return reader.choices if isinstance(reader, _OneOf) else ()


def _table_of(read: Callable[[object], tuple[str, ...]]) -> Callable[[object], dict[str, tuple[str, ...]]]:
    def read_table(value: object) -> dict[str, tuple[str, ...]]:
        if not isinstance(value, Mapping):
            raise _Wrong("a table of glob = [list of strings]")
        try:
            return {str(k): read(v) for k, v in value.items()}
        except _Wrong:
            raise _Wrong("a table of glob = [list of strings]") from None

    return read_table


TORCH_VERSION = r"^(\d+)\.(\d+)(?:[.+a-z]|$)"


def _torch_version(value: object) -> str:
    match = re.match(TORCH_VERSION, value) if isinstance(value, str) else None
    if match is None:
        raise _Wrong('a torch version as a string, like "2.13"')
    return f"{match[1]}.{match[2]}"


def _seconds(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value <= 0:
        raise _Wrong("a number of seconds above 0")
    return value


def _factories(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) and ":" in v for v in value.values()):
        raise _Wrong('a table of "module:Class" = "module:function"')
    return dict(value)


_READERS: Mapping[str, Callable[[object], object]] = {
    "select": _selectors,
    "ignore": _selectors,
    "extend-select": _selectors,
    "exclude": _strings,
    "extend-exclude": _strings,
    "per-file-ignores": _table_of(_selectors),
    "target-torch": _torch_version,
    "min-confidence": _OneOf(*LEVELS),
    "severity": _OneOf(*LEVELS),
    "rules": _strings,
    "packs": _strings,
    "assume-compiled": _OneOf("auto", "all", "never"),
    "compile-functions": _strings,
    "tokenizers": _strings,
    "require-compile-wrapper": _string,
    "jobs": _count,
    "cache-dir": _string,
    "no-cache": _bool,
    "respect-gitignore": _bool,
}
_CUDAGRAPH_READERS: Mapping[str, Callable[[object], object]] = {
    "callables": _strings,
    "clone-helpers": _strings,
    "step-markers": _strings,
    "only-through": _table_of(_strings),
}
_VERIFY_READERS: Mapping[str, Callable[[object], object]] = {
    "device": _string,
    "timeout": _seconds,
    "memory": _count,
    "factories": _factories,
    "path": _strings,
    "python": _string,
    "executor": _string,
}
KEYS = (*_READERS, "verify", "cudagraph")


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
        except _Wrong as wrong:
            raise ConfigError(f"{origin.at(*above, key)}: {label} must be {wrong}, not {_show(value)}") from None
    return values


def _show(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _apply(settings: Settings, table: Mapping[str, object], origin: _Origin) -> Settings:
    """`settings` with the values of one table laid over them."""

    def cudagraph(value: object) -> Cudagraph:
        if not isinstance(value, Mapping):
            raise _Wrong("a table")
        read = _read_table(value, _CUDAGRAPH_READERS, origin, ("cudagraph",))
        return replace(settings.cudagraph, **{_field(k): v for k, v in read.items()})  # type: ignore[arg-type]

    def verify(value: object) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise _Wrong("a table")
        return _read_table(value, _VERIFY_READERS, origin, ("verify",))

    values = _read_table(table, {**_READERS, "verify": verify, "cudagraph": cudagraph}, origin)
    source = {**settings.source, **{key: origin.at(key) for key in values}}
    return replace(settings, source=source, **{_field(k): v for k, v in values.items()})  # type: ignore[arg-type]


def _field(key: str) -> str:
    return key.replace("-", "_")


_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")
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
) -> Settings:
    """The settings for a run over `paths`: defaults, then the closest configuration, then the command line."""
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
    settings = _with_torch(settings)
    return replace(
        settings,
        cache_dir=_cache_dir(settings),
        rules=tuple(os.path.normpath(os.path.join(settings.root, folder)) for folder in settings.rules),
    )


def own_word(settings: Settings, key: str) -> bool:
    """Whether the user said it, on the command line or in the environment, and not a file that came with a repository."""
    return settings.source.get(key) in (_COMMAND_LINE, CACHE_VARIABLE)


def _cache_dir(settings: Settings) -> str:
    """The folder of the cache. A repository may put it anywhere in itself, and nowhere else."""
    given, root = settings.cache_dir, settings.root
    folder = os.path.normpath(os.path.join(root, given))
    where = settings.source.get("cache-dir", "default")
    if os.path.join(root, "").startswith(os.path.join(folder, "")):
        raise ConfigError(
            f"{where}: cache-dir must be a folder of its own, not {_show(given)}, which holds the project; "
            "leave it out for .tclint_cache, or use no-cache for none"
        )
    if not own_word(settings, "cache-dir") and not folder.startswith(os.path.join(root, "")):
        raise ConfigError(
            f"{where}: cache-dir must be a folder inside the project, not {_show(given)}; "
            f"for one elsewhere use --cache-dir or {CACHE_VARIABLE}"
        )
    return folder


def project_root(path: str) -> str | None:
    """The closest folder at or above `path` that looks like the top of a project."""
    for folder in _upwards(path if os.path.isdir(path) else os.path.dirname(path)):
        if any(os.path.exists(os.path.join(folder, marker)) for marker in PROJECT_MARKERS):
            return folder
    return None


def _upwards(folder: str) -> Iterable[str]:
    folder = os.path.abspath(folder)
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _find(start: str) -> tuple[str, str, Mapping[str, object]] | None:
    for folder in _upwards(start):
        for name in CONFIG_NAMES:
            path = os.path.join(folder, name)
            if not os.path.isfile(path):
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
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(f"{path}: cannot be read: {reason}") from error


def _tool_table(path: str, text: str) -> Mapping[str, object] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data: Mapping[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid toml: {error}") from error
    if os.path.basename(path) != "pyproject.toml":
        return data
    tool = data.get("tool", {})
    table = tool.get("tclint") if isinstance(tool, Mapping) else None
    if table is not None and not isinstance(table, Mapping):
        raise ConfigError(f"{path}: tool.tclint must be a table, not {_show(table)}")
    return table


def _from_file(settings: Settings, path: str, text: str, table: Mapping[str, object], cwd: str) -> Settings:
    prefix = ("tool", "tclint") if os.path.basename(path) == "pyproject.toml" else ()
    origin = _Origin(_display(path, cwd), text, prefix)
    return _apply(replace(settings, root=os.path.dirname(path), config_file=path), table, origin)


def _display(path: str, cwd: str) -> str:
    start = os.path.join(cwd, "")
    return (path[len(start) :] if path.startswith(start) else path).replace(os.sep, "/")


def _override(settings: Settings, overrides: Mapping[str, object], cwd: str) -> Settings:
    """Lay the command line over the file. Its paths and globs start from the folder the command runs in."""
    given = dict(overrides)
    before = settings
    settings = _apply(settings, given, _Origin(_COMMAND_LINE))
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
            kept = _selectors(given["ignore"]) if "ignore" in given else ()
            changed["extend_select"] = (*before.extend_select, *added)
            changed["ignore"] = tuple(s for s in ignore if s not in added or s in kept)
    for key in ("exclude", "extend-exclude"):
        if key in given:
            globs = tuple(_anchor(glob, cwd, settings.root) for glob in getattr(settings, _field(key)))
            changed[_field(key)] = (*before.extend_exclude, *globs) if key == "extend-exclude" else globs
    if "cache-dir" in given:
        changed["cache_dir"] = os.path.join(cwd, settings.cache_dir) if settings.cache_dir else ""
    if "rules" in given:
        changed["rules"] = tuple(os.path.join(cwd, folder) for folder in settings.rules)
    return replace(settings, source=source, **changed)


def _anchor(glob: str, cwd: str, root: str) -> str:
    if cwd == root or "/" not in glob or glob.startswith(("/", "*")):
        return glob
    return f"{_posix(cwd)}/{glob.removeprefix('./')}"


def _with_torch(settings: Settings) -> Settings:
    if "target-torch" in settings.source:
        return settings
    from importlib.util import find_spec

    # Finding is cheap where reading metadata is not, and a linter's own environment mostly has no torch.
    if find_spec("torch") is None:
        return settings
    from importlib import metadata

    try:
        installed = _torch_version(metadata.version("torch"))
    except (metadata.PackageNotFoundError, _Wrong):
        return settings
    return replace(settings, target_torch=installed, source={**settings.source, "target-torch": "installed torch"})
