"""TCL502: the environment read in compiled code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Answers, Module
from tclint.ruleset.rule import Rule
from tclint.sources.roles import tries
from tclint.values import Const


class EnvReadInRegion(Rule):
    """`os.getenv` in compiled code is read once, while tracing; later changes of the variable are not seen.

    Dynamo folds the answer into the graph without a guard. `os.environ["NAME"]` and `os.environ.get("NAME")` are
    guarded: a change recompiles and gives the right result.

    Bad::

        def f(x):
            return x * float(os.getenv("SCALE", "1"))

        os.environ["SCALE"] = "2"

    Good::

        def f(x):
            return x * float(os.environ.get("SCALE", "1"))

        os.environ["SCALE"] = "2"

    Fix: read the variable once outside, in `__init__` or at import, and pass it on; or `os.environ.get`, which is
    guarded.

    Where nothing in the program but its tests, examples and benchmarks sets the variable the confidence is low. Versions: 2.9
    and later (2.6 guarded `os.getenv`).
    """

    code, name = "TCL502", "env-read-in-region"
    effect, severity = Effect.SILENT, Severity.LOW
    torch = ">=2.9"
    calls = ("os.getenv",)

    def on_call(self, event: Call) -> Iterator[Finding]:
        variable = event.arg(0, "key")
        name = variable.value if isinstance(variable, Const) and isinstance(variable.value, str) else ""
        # What a test or an example sets is another run: it reads the variable before it compiles.
        by_program = event.ask.of_files(_variables_set).index(_by_name).get(name)
        changes = by_program is True or (by_program is False and tries(event.module.path))
        yield self.finding(
            event,
            f"`os.getenv({name!r})` is read once, at compile time" + ("; the program changes it" if changes else ""),
            confidence=Confidence.MEDIUM if changes else Confidence.LOW,
            severity=Severity.MEDIUM if changes else Severity.LOW,
            help="read it outside the region, or use os.environ.get, which is guarded",
        )


_QUOTED = rb"""["']([^"'\n]+)["']"""
_SETTING = re.compile(rb"environ\[\s*" + _QUOTED + rb"\s*\]\s*=[^=]|(?:setdefault|setenv|putenv)\(\s*" + _QUOTED)

_WORDS = (b"environ[", b"setdefault(", b"setenv(", b"putenv(")


def _variables_set(module: Module) -> tuple[str, ...]:
    """The variables that a file sets."""
    if not any(word in module.data for word in _WORDS):  # far quicker than the pattern, and asked of every file
        return ()
    found = {match[1] or match[2] for match in _SETTING.finditer(module.data)}
    return tuple(sorted(name.decode("utf-8", "replace") for name in found))


def _by_name(files: Answers) -> dict[str, bool]:
    """The variables that some file of the program sets, and whether another file than a test or an example does."""
    found: dict[str, bool] = {}
    for path, names in files.items():
        for name in names:
            found[name] = found.get(name, False) or not tries(path)
    return found
