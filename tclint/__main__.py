"""`python -m tclint`."""

from __future__ import annotations

import sys

# `python -m` puts the current folder first, and a linter's current folder is somebody else's code: a click.py or an
# ast.py in it is read, never run. (`python -P` leaves the folder out by itself.)
if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

from tclint.cli import run

if __name__ == "__main__":
    run()
