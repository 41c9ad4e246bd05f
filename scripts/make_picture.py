"""Draw docs/assets/terminal.svg: what `tclint models/vlm.py` prints in the demo project, in a terminal of 116 columns.

    python scripts/make_picture.py            # write
    python scripts/make_picture.py --check    # only say whether it is current

The output is real: the command runs in a terminal of its own over a copy of fixtures/demo. The picture asks for no font
from the net.
"""

from __future__ import annotations

import argparse
import html
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "assets" / "terminal.svg"
ARGUMENTS = ("models/vlm.py",)
COLUMNS = 116

FONT = "ui-monospace, 'SF Mono', SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
# Rich's template without its web fonts, with the title at the left, and without the frame that cuts the last line's letters below.
TEMPLATE = f"""\
<svg class="rich-terminal" viewBox="0 0 {{width}} {{height}}" xmlns="http://www.w3.org/2000/svg" role="img"
     aria-label="tclint reports a tokenizer read and a boolean mask assignment in models/vlm.py">
<style>
.{{unique_id}}-matrix {{{{ font-family: {FONT}; font-size: {{char_height}}px; line-height: {{line_height}}px; }}}}
.{{unique_id}}-title {{{{ font-family: {FONT}; font-size: 15px; fill: #8b949e; }}}}
{{styles}}
</style>
<defs>
{{lines}}
</defs>
{{chrome}}
<g transform="translate({{terminal_x}}, {{terminal_y}})">
{{backgrounds}}
<g class="{{unique_id}}-matrix">
{{matrix}}
</g>
</g>
</svg>
"""


def output() -> str:
    """What the command prints, with colours, in a terminal of COLUMNS columns."""
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder, "demo")
        shutil.copytree(ROOT / "fixtures" / "demo", demo, ignore=shutil.ignore_patterns("__pycache__", ".tclint_cache"))
        return _in_terminal([sys.executable, "-m", "tclint", *ARGUMENTS], demo)


def _in_terminal(command: list[str], cwd: Path) -> str:
    # Only on the systems that have pseudo-terminals; the picture is made where the project is developed.
    import fcntl
    import struct
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")}
    environment |= {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command += ["--no-cache", "--target-torch", "2.13"]
    child = subprocess.Popen(command, cwd=cwd, env=environment, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    _, complaint = child.communicate(timeout=60)
    if child.returncode != 1:
        raise SystemExit(f"the demo should have findings (exit 1), not exit {child.returncode}: {complaint.decode()}")
    return seen.decode().replace("\r\n", "\n")


def render(printed: str) -> str:
    """The picture of what was printed."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    theme = TerminalTheme(
        (13, 17, 23),
        (201, 209, 217),
        [_rgb(each) for each in "484f58 ff7b72 7ee787 f0be5a 79c0ff d2a8ff 76e3ea c9d1d9".split()],
        [_rgb(each) for each in "6e7681 ffa198 56d364 e3b341 79c0ff d2a8ff 56d4dd f0f6fc".split()],
    )
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        highlight=False,
        emoji=False,
        markup=False,
    )
    prompt = Text("$ ", style="bold green") + Text(f"tclint {' '.join(ARGUMENTS)}", style="bold white")
    console.print(prompt, soft_wrap=True)
    for line in Text.from_ansi(printed.rstrip("\n")).split("\n", allow_blank=True):
        for piece in line.divide(range(COLUMNS, len(line), COLUMNS)):  # as a terminal folds what is longer
            console.print(piece, soft_wrap=True)
    svg = console.export_svg(title="tclint", theme=theme, code_format=TEMPLATE, unique_id="tclint")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _rgb(color: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(color)
    return red, green, blue


def words(svg: str) -> list[str]:
    """The lines of text in the picture, to compare pictures drawn by different versions of rich."""
    rows: dict[float, str] = {}
    root = ElementTree.fromstring(svg)
    for node in root.iter("{http://www.w3.org/2000/svg}text"):
        if "-title" in node.get("class", ""):
            continue
        y, x = float(node.get("y", "0")), float(node.get("x", "0"))
        row = rows.get(y, "")
        column = round(x / 12.2)
        rows[y] = row.ljust(column) + html.unescape("".join(node.itertext())).replace("\N{NO-BREAK SPACE}", " ")
    return [rows[y].rstrip() for y in sorted(rows)]


def lines(printed: str) -> list[str]:
    """The lines of the output as `words` gives those of the picture."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", printed)
    shown = [f"$ tclint {' '.join(ARGUMENTS)}", *plain.rstrip("\n").split("\n")]
    return [line[at : at + COLUMNS].rstrip() for line in shown for at in range(0, max(len(line), 1), COLUMNS)]


def current() -> bool:
    """Whether the picture shows what the command prints today."""
    if not PICTURE.exists():
        return False
    seen = [line for line in words(PICTURE.read_text(encoding="utf-8")) if line]
    return seen == [line for line in lines(output()) if line]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the picture is current")
    if parser.parse_args().check:
        if current():
            return 0
        print("docs/assets/terminal.svg is not current: run python scripts/make_picture.py", file=sys.stderr)
        return 1
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(render(output()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
