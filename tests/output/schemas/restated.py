"""What reviewdog and GitLab say of their formats, in our words: every field we write, and nothing beside them."""

from __future__ import annotations

from typing import Any


def _object(required: str, optional: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    """A closed object: a property that the format does not know fails."""
    return {
        "type": "object",
        "required": required.split(),
        "properties": {**properties, **(optional or {})},
        "additionalProperties": False,
    }


TEXT: dict[str, Any] = {"type": "string"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 1}

# reviewdog.proto: lines and columns from 1, columns in UTF-8 bytes, ends exclusive.
_POSITION = _object("line column", line=COUNT, column=COUNT)
_RANGE = _object("start end", start=_POSITION, end=_POSITION)
_SOURCE = _object("name", name=TEXT, url=TEXT)
_SEVERITY = {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]}
DIAGNOSTIC = _object(
    "message location severity code",
    message={"type": "string", "minLength": 1},
    location=_object("path range", path={"type": "string", "minLength": 1}, range=_RANGE),
    severity=_SEVERITY,
    source=_SOURCE,
    code=_object("value", value=TEXT, url=TEXT),
    # One: reviewdog posts the first, and GitHub takes one block for a comment.
    suggestions={
        "type": "array",
        "minItems": 1,
        "maxItems": 1,
        "items": _object("range text", range=_RANGE, text=TEXT),
    },
    original_output=TEXT,
)
RDJSON = _object(
    "source diagnostics",
    source=_SOURCE,
    severity=_SEVERITY,
    diagnostics={"type": "array", "items": DIAGNOSTIC},
)

# docs.gitlab.com, "Code Quality report format": an array, no byte-order mark, relative paths without "./".
_PLACE = _object("line", line=COUNT, column=COUNT)
GITLAB = {
    "type": "array",
    "items": _object(
        "description check_name fingerprint severity location",
        description={"type": "string", "minLength": 1},
        check_name=TEXT,
        fingerprint={"type": "string", "minLength": 1},
        severity={"enum": ["info", "minor", "major", "critical", "blocker"]},
        location=_object(
            "path",
            path={"type": "string", "pattern": "^(?!\\./)(?!/)."},
            lines=_object("begin", begin=COUNT, end=COUNT),
            positions=_object("begin", begin=_PLACE, end=_PLACE),
        ),
        categories={"type": "array", "items": TEXT},
        type={"const": "issue"},
        content=_object("body", body=TEXT),
    ),
}
