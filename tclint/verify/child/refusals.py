"""Code of the project that ends with what is no `Exception`: a file of tests that skips itself where a package is missing.

It ends what was being tried, as an error does, and not the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Refused(Exception):
    """The project's code ended itself."""


@contextmanager
def as_errors() -> Iterator[None]:
    try:
        yield
    except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise Refused(f"{type(error).__name__}: {error}") from error
