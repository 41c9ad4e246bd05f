"""What somebody waits for who types: from the pause to the diagnostics of the text, in a real client of the server.

    python benchmarks/editor.py path/to/timm                   # 40 edits of files at random, in a copy
    python benchmarks/editor.py --edits 100 --open 3 --json editor.json path/to/timm

The folder is copied into a project of its own. `tclint server` runs in a process of its own and is spoken to over stdio; a file
is opened, a statement is added to a function of it as an editor sends it (`didChange`), and the time runs from the pause (the
server's delay, which is left at what people have, does not count) until its diagnostics have that version. `--open` are other
files that stay open beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import edits

ROOT = Path(__file__).resolve().parent.parent
DELAY = 0.25
"""What `tclint server` waits for by itself."""


class Client:
    """As much of the protocol as an editor speaks while somebody types."""

    def __init__(self, root: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "tclint", "server", "--delay", str(DELAY)]
        self.process = subprocess.Popen(command, cwd=root, stdin=pipe, stdout=pipe, env=environment)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in: IO[bytes] = self.process.stdin
        self._heard: queue.Queue[tuple[float, dict[str, Any]]] = queue.Queue()
        threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True).start()
        folder = {"uri": root.as_uri(), "name": root.name}
        given = {"processId": None, "rootUri": folder["uri"], "workspaceFolders": [folder], "capabilities": {}}
        self._send({"id": 1, "method": "initialize", "params": given})
        while self._heard.get()[1].get("id") != 1:
            pass
        self.notify("initialized", {})

    def _listen(self, stream: IO[bytes]) -> None:
        while True:
            size = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    size = int(line.partition(b":")[2])
            if not size:
                return
            self._heard.put((time.perf_counter(), json.loads(stream.read(size))))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._in.flush()

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def open(self, path: Path, text: str) -> float:
        item = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return self.told(path, 1)

    def change(self, path: Path, text: str, version: int) -> float:
        """The moment at which the diagnostics of this version are there."""
        document = {"uri": path.as_uri(), "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        return self.told(path, version)

    def close(self, path: Path) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def told(self, path: Path, version: int) -> float:
        while True:
            moment, message = self._heard.get(timeout=600)
            given = message.get("params") or {}
            if message.get("method") == "textDocument/publishDiagnostics" and given.get("version") == version:
                if given.get("uri") == path.as_uri():
                    return moment

    @property
    def cpu(self) -> float:
        """The CPU seconds that the server took so far, where the system tells: on a machine that does other things, too, they
        say more than the clock."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def waited(client: Client, paths: Sequence[Path], each: int, pause: float) -> list[tuple[float, float, str]]:
    """For each edit the seconds from the pause to the diagnostics, those of them on a CPU, and the file."""
    found = []
    for path in paths:
        text = path.read_text()
        client.open(path, text)
        for number in range(each):
            time.sleep(pause)  # nobody types all the time: what the last edit means for other files is done
            text = edits.within(text, number)
            sent, before = time.perf_counter(), client.cpu
            late = client.change(path, text, number + 2) - sent - DELAY
            found.append((late, client.cpu - before, path.name))
        client.close(path)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edits", type=int, default=40, metavar="N", help="how many edits (four of each file)")
    parser.add_argument("--open", type=int, default=0, metavar="N", help="how many other files are open")
    parser.add_argument("--pause", type=float, default=1.0, metavar="SECONDS", help="between two edits")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve() / "project"
        shutil.copytree(options.folder, root / options.folder.name, ignore=shutil.ignore_patterns("__pycache__"))
        (root / "pyproject.toml").write_text('[project]\nname = "edited"\nversion = "1"\n')
        files = sorted(path for path in root.rglob("*.py") if b"def " in path.read_bytes())
        dice = random.Random(options.seed)
        each = 4
        chosen = dice.sample(files, max(1, options.edits // each))
        beside = dice.sample([path for path in files if path not in chosen], options.open)
        client = Client(root)
        try:
            begun = time.perf_counter()
            first = client.open(files[0], files[0].read_text()) - begun
            for path in beside:
                client.open(path, path.read_text())
            found = waited(client, chosen, each, options.pause)
        finally:
            client.end()
    print(f"{len(files)} files, {len(found)} edits; the first diagnostics of all: {first:.2f} s")
    for what, times in (("from the pause", [row[0] for row in found]), ("on a CPU", [row[1] for row in found])):
        times.sort()
        late = times[min(len(times) - 1, int(len(times) * 0.95))]
        print(f"{what}: median {statistics.median(times):.3f} s, 95th {late:.3f} s, longest {times[-1]:.3f} s")
    for seconds, cpu, name in sorted(found, reverse=True)[:8]:
        print(f"  {seconds:.3f} s, {cpu:.3f} s CPU {name}")
    if options.json is not None:
        options.json.write_text(json.dumps({"first": first, "edits": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
