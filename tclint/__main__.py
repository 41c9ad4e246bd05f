"""`python -m tclint`."""

from __future__ import annotations

import sys

from tclint.cli import main

if __name__ == "__main__":
    sys.exit(main())
