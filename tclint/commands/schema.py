"""The JSON schema of the configuration, for editors: made from `Settings` and from what reads each key."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from tclint.model.settings import Cudagraph, Settings
from tclint.sources.keys import KEYS, PYTHON_VERSION, TORCH_VERSION, choices

WORDS: Mapping[str, str] = {
    "select": "rules that run: codes, prefixes, names, `ALL`",
    "ignore": "rules that do not run",
    "extend-select": "rules that run too, on top of `select`",
    "exclude": "files and folders left out, instead of the defaults",
    "extend-exclude": "files and folders left out too",
    "per-file-ignores": '`"glob" = ["TCL108"]`: rules ignored in some files; `!glob` for all others',
    "target-torch": "the torch version the findings hold for; by default the installed one, read without importing it",
    "target-python": "the Python version the findings hold for; by default the one that tclint runs on",
    "min-confidence": "`low`, `medium` or `high`: leave out what tclint is less sure of",
    "severity": "`low`, `medium` or `high`: leave out what matters less",
    "rules": "folders or files with rules of your own; they run where `--allow-rules` or `TCLINT_ALLOW_RULES=1` allows it",
    "packs": "installed packages whose rules are loaded, by name or glob; `[]` for none",
    "assume-compiled": "`auto`, `all` or `never`: take every `nn.Module.forward` as compiled",
    "compile-functions": "your own functions that compile what they are given",
    "tokenizers": "names that mean a tokenizer",
    "require-compile-wrapper": "the function that must be used instead of a bare `torch.compile`",
    "jobs": "processes; 0 decides by itself",
    "cache-dir": "where the cache is kept, inside the project; elsewhere only by `--cache-dir` or `TCLINT_CACHE_DIR`",
    "no-cache": "neither read nor write the cache",
    "respect-gitignore": "leave out what git ignores",
    "src": "folders that absolute imports start from, beside what pyproject.toml, setup.cfg and setup.py say",
    "python": "a virtual environment, an interpreter or a site-packages folder: its libraries are read where the program uses them; "
    "by default none is",
    "verify": "`device`, `timeout`, `memory`, `factories` of a verifying run",
    "cudagraph.callables": "callables whose outputs live in a CUDA graph's memory, such as `*.lensnet`",
    "cudagraph.clone-helpers": "functions that return a copy of such an output",
    "cudagraph.step-markers": "functions that begin a new step",
    "cudagraph.only-through": '`"*.lensnet" = ["_run_lensnet"]`: the only functions that may call it',
}
"""What each setting says, for the schema and the README."""

_VERIFY: Mapping[str, tuple[dict[str, Any], str]] = {
    "device": ({"type": "string"}, "where to verify: cpu, cuda, cuda:1 …"),
    "timeout": ({"type": "number", "exclusiveMinimum": 0}, "seconds for one target"),
    "memory": ({"type": "integer", "minimum": 0}, "megabytes for one target; 0 sets no limit"),
    "factories": (
        {"type": "object", "additionalProperties": {"type": "string", "pattern": ":"}},
        '"module:Class" = "module:function" that makes the model and its inputs',
    ),
    "path": ({"type": "array", "items": {"type": "string"}}, "folders that the flagged modules import from"),
    "python": ({"type": "string"}, "the interpreter that has torch"),
    "executor": ({"type": "string"}, "where the children run: an address such as ray://host:10001"),
}


def schema() -> dict[str, Any]:
    """The schema of `tclint.toml`, and of the table `[tool.tclint]`."""
    hints = typing.get_type_hints(Settings)
    defaults = {f.name: f.default if f.default is not MISSING else None for f in fields(Settings)}
    properties: dict[str, Any] = {}
    for key in KEYS:
        name = key.replace("-", "_")
        if key == "cudagraph":
            properties[key] = _cudagraph()
        elif key == "verify":
            properties[key] = _table({k: {**kind, "description": words} for k, (kind, words) in _VERIFY.items()})
            properties[key]["description"] = WORDS[key]
        else:
            properties[key] = {**_kind(key, hints[name]), "description": WORDS[key]}
            if defaults[name] is not None:
                properties[key]["default"] = _plain(defaults[name])
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tclint",
        "description": "tclint.toml, and the table [tool.tclint] of pyproject.toml",
        **_table(dict(sorted(properties.items()))),
    }


def text() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _table(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _cudagraph() -> dict[str, Any]:
    hints = typing.get_type_hints(Cudagraph)
    keys = [f.name.replace("_", "-") for f in fields(Cudagraph)]
    inner = {
        key: {**_kind(key, hints[key.replace("-", "_")]), "description": WORDS[f"cudagraph.{key}"]} for key in keys
    }
    return {**_table(inner), "description": "what the project knows about tensors owned by CUDA graphs"}


def _kind(key: str, hint: Any) -> dict[str, Any]:
    """The schema of a type, narrowed by what the reader of a key accepts."""
    if allowed := choices(key):
        return {"type": "string", "enum": list(allowed)}
    if key == "target-torch":
        return {"type": "string", "pattern": TORCH_VERSION}
    if key == "target-python":
        return {"type": "string", "pattern": PYTHON_VERSION}
    if hint is bool:
        return {"type": "boolean"}
    if hint is int:
        return {"type": "integer", "minimum": 0}
    if hint is str:
        return {"type": "string"}
    strings = {"type": "array", "items": {"type": "string"}}
    if hint == tuple[str, ...]:
        return strings
    if typing.get_origin(hint) is not None and typing.get_args(hint) == (str, tuple[str, ...]):
        return {"type": "object", "additionalProperties": strings}
    raise TypeError(f"no schema for {key}: {hint}")


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
