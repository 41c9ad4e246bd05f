"""A real browser for the tests of pages: Chromium, where there is one, spoken to through a pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell")
OPTIONS = (
    "--headless --no-sandbox --no-zygote --single-process --disable-gpu --in-process-gpu --hide-scrollbars".split()
)
LIMIT = 90.0


def chromium() -> str:
    """The one that TCLINT_CHROMIUM names, or one on PATH."""
    for name in (os.environ.get("TCLINT_CHROMIUM", ""), *NAMES):
        if name and (found := shutil.which(name)):
            return found
    pytest.skip("no Chromium; TCLINT_CHROMIUM names one")


class Tab:
    """One page: commands of the DevTools protocol, one after another."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write, self._count, self._rest = read, write, 0, b""
        self._session: str | None = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to a command."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        os.write(
            self._write, json.dumps(message | ({"sessionId": self._session} if self._session else {})).encode() + b"\0"
        )
        end = time.monotonic() + LIMIT
        while (answer := self._next(end)).get("id") != self._count:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._read], [], [], max(0.0, end - time.monotonic()))[0], (
                "the browser does not answer"
            )
            self._rest += os.read(self._read, 1 << 20)
        one, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(one)
        return message

    def show(self, url: str, width: int, dark: bool = False) -> None:
        """Load a page, as wide as that."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=url)
        end = time.monotonic() + LIMIT
        while self.ask("document.readyState") != "complete":
            assert time.monotonic() < end, f"{url} does not load"
            time.sleep(0.05)

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        return self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)[
            "result"
        ].get("value")

    def picture(self, path: Path) -> None:
        """All of the page, to look at."""
        taken = self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(taken))


@contextmanager
def opened(folder: Path) -> Iterator[Tab]:
    """A browser whose profile is in that folder, until the end of the block."""
    to_browser, write = os.pipe()
    read, from_browser = os.pipe()
    command = [chromium(), *OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    process = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "browser", *command],
        pass_fds=(to_browser, from_browser),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Tab(read, write)
    finally:
        process.kill()
        process.wait()
        os.close(read)
        os.close(write)
