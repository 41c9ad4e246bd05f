"""A diagnosis as JSON, and back."""

from __future__ import annotations

import json

from tclint.diagnose.measurement import SCHEMA, Diagnosis
from tclint.model import codec
from tclint.model.errors import UserError


def render(diagnosis: Diagnosis) -> str:
    return json.dumps(codec.encode(diagnosis), indent=1, sort_keys=False) + "\n"


def read(path: str) -> Diagnosis:
    """The diagnosis in a file. Raises UserError where it is none."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path}: no JSON ({error}); write it with tclint diagnose --output-format json") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        told = f"its schema is {schema!r}" if schema else "it names no schema"
        raise UserError(f"{path}: not a result of tclint diagnose ({told}, {SCHEMA!r} is expected)")
    try:
        return codec.decode(Diagnosis, data, "diagnosis")
    except codec.Malformed as error:
        raise UserError(f"{path}: damaged: {error}") from error
