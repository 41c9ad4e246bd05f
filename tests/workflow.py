"""Steps of a GitHub workflow or composite action, run here: expressions of inputs, the environment, `bash -eo pipefail`."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.]+)\s*\}\}")
_DIFFERS = re.compile(r"([\w.]+)\s*(==|!=)\s*'([^']*)'")


class Failed(AssertionError):
    """A step that exits with something else than 0, as a run of the action would end there."""

    def __init__(self, name: str, code: int, output: str) -> None:
        super().__init__(f"{name}: exit {code}\n{output}")
        self.code, self.output = code, output


def run_action(
    action: Mapping[str, Any], inputs: Mapping[str, str], *, path: Path, cwd: Path, environment: Mapping[str, str]
) -> str:
    """Run the steps of a composite action as GitHub does; gives what they print. `path` is the action's folder."""
    unknown = set(inputs) - set(action["inputs"])
    assert not unknown, f"no such inputs: {sorted(unknown)}"
    context = {f"inputs.{name}": str(facts.get("default", "")) for name, facts in action["inputs"].items()}
    context |= {f"inputs.{name}": value for name, value in inputs.items()}
    context["github.action_path"] = str(path)
    printed = ""
    steps: Sequence[Mapping[str, Any]] = action["runs"]["steps"]
    for step in steps:
        if not _holds(step.get("if", ""), context):
            continue
        assert step["shell"] == "bash"
        own = {name: filled(str(value), context) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", filled(step["run"], context)],
            cwd=cwd,
            env={**os.environ, **environment, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        printed += done.stdout
        if done.returncode:
            raise Failed(step["name"], done.returncode, printed)
    return printed


def filled(text: str, context: Mapping[str, str]) -> str:
    """A text with its expressions replaced; one that is not known is a KeyError."""
    return _EXPRESSION.sub(lambda match: context[match[1]], text)


def _holds(condition: str, context: Mapping[str, str]) -> bool:
    if not condition:
        return True
    match = _DIFFERS.fullmatch(condition.strip())
    assert match is not None, f"a condition that this runner does not know: {condition}"
    return (context[match[1]] == match[3]) == (match[2] == "==")
