"""Settings: what holds in one run, and which rules they choose."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from tclint.model.errors import ConfigError, did_you_mean
from tclint.model.globs import file_matcher
from tclint.torch_facts.releases import NEWEST_NAME

NEWEST_TORCH = NEWEST_NAME
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
LEVELS = ("low", "medium", "high")
COMMAND_LINE = "command line"
CACHE_VARIABLE = "TCLINT_CACHE_DIR"
"""The environment variable that says where the cache is kept, as `--cache-dir` does."""


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
    target_python: str = ""
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
    src: tuple[str, ...] = ()
    """Folders that absolute imports start from, beside those above the importing file."""
    python: str = ""
    """The environment whose libraries are read where the program uses them; empty: none is."""
    fixes: bool = True
    """Whether findings come with their fixes. They cost time, and not every report shows them."""
    verify: Mapping[str, Any] = field(default_factory=dict, hash=False)
    root: str = ""
    """The folder that relative globs and folders of the configuration start from."""
    withheld: tuple[str, ...] = ()
    """Own rules that a configuration file names and nobody allowed: they are not loaded."""
    untrusted: tuple[str, ...] = ()
    """Folders whose code must not run; packs that lie there are not loaded."""
    config_file: str = ""
    nearer: tuple[tuple[str, Settings], ...] = ()
    """What holds for the files below these folders, where a run has several configurations; the deepest folder wins."""
    source: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    """Key as written in toml -> where its value came from. A key that is absent has its default."""

    @property
    def python_version(self) -> tuple[int, ...]:
        """The Python that the findings hold for: as configured, or the one that tclint runs on."""
        return tuple(map(int, self.target_python.split("."))) if self.target_python else sys.version_info[:2]

    def at(self, path: str) -> Settings:
        """What holds for the file with this absolute path: what the configuration nearest to it says."""
        if not self.nearer:
            return self
        above = [(len(folder), held) for folder, held in self.nearer if path.startswith(os.path.join(folder, ""))]
        return max(above, key=lambda each: each[0])[1] if above else self

    def everywhere(self) -> tuple[Settings, ...]:
        """All settings that hold for some file of the run."""
        return tuple({id(held): held for _, held in self.nearer}.values()) or (self,)

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
            matches = file_matcher(glob.lstrip("!"), self.root)(path)
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
    | {"root", "config_file", "source", "untrusted"}
)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return sorted((k, _plain(v)) for k, v in value.items())
    if isinstance(value, Cudagraph):
        return [_plain(getattr(value, f.name)) for f in fields(value)]
    if isinstance(value, Settings):
        return value.fingerprint()
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)
    return value


def own_word(settings: Settings, key: str) -> bool:
    """Whether the user said it, on the command line or in the environment, and not a file that came with a repository."""
    return settings.source.get(key) in (COMMAND_LINE, CACHE_VARIABLE)


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
            # It may well be one of the rules that were not loaded.
            if settings.withheld and settings.source.get(key) != COMMAND_LINE:
                continue
            if not any(_weight(selector, rule.code, rule.name) >= 0 for rule in rules):
                known = [rule.code for rule in rules] + [rule.name for rule in rules]
                where = settings.source.get(key, "default")
                hint = did_you_mean(selector, known) or "; `tclint rule` lists the rules"
                raise ConfigError(f"{where}: {key}: no rule is called {selector!r}{hint}")
