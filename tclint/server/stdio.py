"""A server on its streams, until the editor ends it."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from typing import BinaryIO, cast

from tclint.server.language import Language

_LONGEST_HEADER = 8192
_LONGEST_MESSAGE = 256 * 2**20


def serve(port: int | None, host: str, delay: float) -> int:
    language = Language(delay)
    # A line on stderr for every odd message: an editor that floods us and reads none of it would stop us both.
    heard = logging.getLogger("pygls")
    heard.addHandler(logging.NullHandler())
    heard.propagate = False
    if port is None:
        # pygls closes the stream it speaks on; and a `print` in somebody's rule must not end up in the conversation.
        with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, contextlib.redirect_stdout(sys.stderr):
            language.server.start_io(stdin=cast("BinaryIO", _Bounded(sys.stdin.buffer)), stdout=out)
    else:
        print(f"tclint: listening on {host}:{port}", file=sys.stderr, flush=True)
        language.server.start_tcp(host, port)
    # The protocol wants to know whether the end was asked for.
    return 0 if language.ended else 1


class _Bounded:
    """What a client writes, in messages that one can hold: pygls reads as much as a header announces."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        return self._stream.readline(_LONGEST_HEADER)

    def read(self, size: int) -> bytes:
        if size > _LONGEST_MESSAGE:
            print(
                f"tclint: a message of {size} bytes is none of an editor's: the server ends",
                file=sys.stderr,
                flush=True,
            )
            return b""
        return self._stream.read(size)
