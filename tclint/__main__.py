"""`python -m tclint`."""

from __future__ import annotations

from tclint.cli import run

if __name__ == "__main__":
    run()
