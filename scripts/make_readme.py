"""Fill the generated blocks of README.md: the tables of settings and rules, the measurements.

    python scripts/make_readme.py            # write README.md
    python scripts/make_readme.py --check    # only say whether it is current

A block stands between `<!-- NAME -->` and `<!-- /NAME -->`. The measurements come from `benchmarks/accuracy.json` and
`benchmarks/speed.json`, written by the benchmarks with `--json`; without them the block says so.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tclint.commands.schema import WORDS as SETTINGS  # noqa: E402
from tclint.model.settings import Settings  # noqa: E402
from tclint.output.words import ONE  # noqa: E402
from tclint.ruleset.loading import load_rules  # noqa: E402
from tclint.run.assemble import OWN_NAMES as OWN_RULES  # noqa: E402
from tclint.sources.keys import KEYS  # noqa: E402

README = ROOT / "README.md"


def settings() -> str:
    default = Settings()
    rows = ["| key | default | what it says |", "|-|-|-|"]
    for key, value in _keys(default):
        shown = "[common build, cache and environment folders]" if key == "exclude" else f"`{_toml(value)}`"
        rows.append(f"| `{key}` | {shown} | {SETTINGS[key]} |")
    return "\n".join(rows)


def _keys(default: Settings) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for key in KEYS:
        value = getattr(default, key.replace("-", "_"))
        if key == "cudagraph":
            pairs += [(f"cudagraph.{f.name.replace('_', '-')}", getattr(value, f.name)) for f in fields(value)]
        else:
            pairs.append((key, value))
    return pairs


def _toml(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return json.dumps(value) if value != {} else "{}"


def rules() -> str:
    rows = ["| code | name | effect | severity | default |", "|-|-|-|-|-|"]
    for rule in load_rules():
        on = "on" if rule.default else "off"
        held = f" (torch {rule.torch})" if rule.torch else ""
        rows.append(f"| {rule.code} | {rule.name} | {ONE[rule.effect]}{held} | {rule.severity.value} | {on} |")
    own = {"TCL901": "unused-suppression", **OWN_RULES}
    rows += [f"| {code} | {name} | tclint's own | - | on |" for code, name in sorted(own.items())]
    return "\n".join(rows)


def accuracy() -> str:
    result = _result("accuracy.json")
    if result is None:
        return "Not measured yet: `benchmarks/accuracy.json` is missing."
    rows = ["| what | sites | found | recall | findings judged | right | precision |", "|-|-|-|-|-|-|-|"]
    for row in result["rows"]:
        rows.append(
            f"| {row['what']} | {row['sites']} | {row['found']} | {_percent(row['recall'])} "
            f"| {row['judged']} | {row['right']} | {_percent(row['precision'])} |"
        )
    return "\n".join([*rows, "", result["setting"]])


def speed() -> str:
    result = _result("speed.json")
    if result is None:
        return "Not measured yet: `benchmarks/speed.json` is missing."
    rows = ["| what | files | lines | CPU s | wall s | times `ast.parse` | peak MiB |", "|-|-|-|-|-|-|-|"]
    for row in result["rows"]:
        rows.append(
            f"| {row['what']} | {row['files']} | {row['lines']:,} | {row['cpu']:.2f} | {row['wall']:.2f} "
            f"| {row['ratio']:.1f} | {row['peak_mib']:.0f} |"
        )
    return "\n".join([*rows, "", result["setting"]])


def _result(name: str) -> dict[str, Any] | None:
    path = ROOT / "benchmarks" / name
    if not path.exists():
        return None
    result: dict[str, Any] = json.loads(path.read_text())
    return result


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


BLOCKS = {"settings": settings, "rules": rules, "accuracy": accuracy, "speed": speed}


def render(text: str) -> str:
    """The README with every block made anew."""
    for name, make in BLOCKS.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
        content = make()
        text, times = pattern.subn(lambda m, c=content: f"{m[1]}{c}\n{m[2]}", text)  # type: ignore[misc]
        if times != 1:
            raise SystemExit(f"README.md should hold one block <!-- {name} -->, not {times}")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether README.md is current")
    check = parser.parse_args().check
    before = README.read_text(encoding="utf-8")
    after = render(before)
    if before == after:
        return 0
    if check:
        print("README.md is not current: run python scripts/make_readme.py", file=sys.stderr)
        return 1
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
