"""Draw docs/assets/architecture.svg: the way of a file through tclint.

    python scripts/make_diagram.py            # write
    python scripts/make_diagram.py --check    # only say whether it is current

Drawn here and not by a browser's script: it must show without the net, on GitHub and on the site.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "assets" / "architecture.svg"
WIDTH, HEIGHT = 984, 420

# Name, what it does, module, column, row.
STAGES = (
    ("sources", "files, text, trees, cells", "tclint/sources/", 0, 0),
    ("program", "who is who, across files", "tclint/program/", 1, 0),
    ("interpreter", "a static Dynamo", "tclint/interpreter/", 2, 0),
    ("torch facts", "what torch does, by release", "tclint/torch_facts/", 3, 0),
    ("findings", "line, chain, help, fix", "tclint/model/finding.py", 0, 1),
    ("rules", "one class each, listening", "rules/", 1, 1),
    ("events", "what rules hear, and ask", "tclint/events/", 2, 1),
    ("timeline", "when Dynamo recompiles", "tclint/timeline/", 3, 1),
    ("output", "text, JSON, SARIF, review …", "tclint/output/", 0, 2),
    ("fixes", "edits, checked and written", "tclint/fixes/", 1, 2),
    ("verify", "the compiler's verdict", "tclint/verify/", 2, 2),
)
ARROWS = (
    ("sources", "program"),
    ("program", "interpreter"),
    ("torch facts", "interpreter"),
    ("interpreter", "events"),
    ("timeline", "events"),
    ("events", "rules"),
    ("rules", "findings"),
    ("findings", "output"),
)
BOX, TALL, LEFT, TOP, RIGHT_STEP, DOWN_STEP = 196, 84, 28, 34, 244, 134


def render() -> str:
    place = {name: (LEFT + column * RIGHT_STEP, TOP + row * DOWN_STEP) for name, _, _, column, row in STAGES}
    font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="{font}" role="img" '
        'aria-label="sources, program, interpreter, events, rules, findings; beside them torch facts and timeline; then fixes, verify, output">',
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
        '<path d="M0 0L10 5L0 10z" fill="#57606a"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#ffffff"/>',
    ]
    for name, what, module, _, _ in STAGES:
        x, y = place[name]
        torch = name == "verify"
        fill, line = ("#fff1e5", "#bc4c00") if torch else ("#f6f8fa", "#d0d7de")
        dash = ' stroke-dasharray="6 4"' if torch else ""
        parts += [
            f'<rect x="{x}" y="{y}" width="{BOX}" height="{TALL}" rx="8" fill="{fill}" stroke="{line}" stroke-width="1.5"{dash}/>',
            f'<text x="{x + 14}" y="{y + 27}" font-size="17" font-weight="600" fill="#1f2328">{name}</text>',
            f'<text x="{x + 14}" y="{y + 48}" font-size="12.5" fill="#424a53">{escape(what)}</text>',
            f'<text x="{x + 14}" y="{y + 69}" font-size="11.5" fill="#6e7781" font-family="ui-monospace, Menlo, Consolas, '
            f"'DejaVu Sans Mono', monospace\">{module}</text>",
        ]
    parts += [_arrow(*place[start], *place[end]) for start, end in ARROWS]
    # Two ways: what is asked goes down, the verdict comes back up.
    x, y = place["verify"]
    fx, fy = place["findings"]
    middle = fy + TALL + (DOWN_STEP - TALL) / 2 - 6
    cx, cy = place["fixes"]
    parts.append(
        f'<path d="M{fx + BOX - 60} {fy + TALL} V{middle + 12} H{cx + 40} V{cy - 3}" fill="none" stroke="#57606a" '
        'stroke-width="1.6" marker-end="url(#tip)"/>'
    )
    parts.append(
        f'<path d="M{fx + BOX - 30} {fy + TALL} V{middle} H{x + 40} V{y}" fill="none" stroke="#bc4c00" stroke-width="1.6" '
        'stroke-dasharray="6 4" marker-start="url(#tip)" marker-end="url(#tip)"/>'
    )
    x3 = LEFT + 3 * RIGHT_STEP
    y3 = TOP + 2 * DOWN_STEP
    parts += [
        f'<text x="{x3}" y="{y3 + 30}" font-size="12.5" fill="#bc4c00" font-weight="600">child processes with torch</text>',
        f'<text x="{x3}" y="{y3 + 50}" font-size="12.5" fill="#424a53">only when asked: the rest</text>',
        f'<text x="{x3}" y="{y3 + 68}" font-size="12.5" fill="#424a53">never imports your code</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    if y1 == y2:
        start, end = (x1 + BOX, x2 - 3) if x2 > x1 else (x1, x2 + BOX + 3)
        points = (start, y1 + TALL / 2, end, y2 + TALL / 2)
    else:
        points = (x1 + BOX / 2, y1 + TALL, x2 + BOX / 2, y2 - 3)
    a, b, c, d = points
    return f'<line x1="{a}" y1="{b}" x2="{c}" y2="{d}" stroke="#57606a" stroke-width="1.6" marker-end="url(#tip)"/>'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the diagram is current")
    check = parser.parse_args().check
    if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == render():
        return 0
    if check:
        print("docs/assets/architecture.svg is not current: run python scripts/make_diagram.py", file=sys.stderr)
        return 1
    PICTURE.write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
