"""Programs that nobody wrote: by a small grammar, and real files of installed libraries with some changes."""

from __future__ import annotations

import ast
import functools
import importlib.util
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

LIBRARIES: Final = (
    "torch/nn/modules",
    "torch/_dynamo",
    "torch/optim",
    "torch/distributions",
    "libcst",
    "click",
    "rich",
)
_NAMES: Final = "x y z self a b n model f g h net cfg mask out".split()
_ATTRIBUTES: Final = (
    "shape sum item T data size view dtype device grad layers weight forward append keys items tolist numpy cpu detach "
    "max any all norm backward training compile"
).split()
_CALLS: Final = (
    "torch.compile torch.ones torch.where torch.zeros nn.Linear nn.Sequential len range print int float bool str list "
    "dict tuple sorted zip isinstance super open id hash f g h torch.tensor torch.cat random.random time.time getattr "
    "torch.no_grad torch.cuda.graph partial os.getenv enumerate type"
).split()
_SIGNS: Final = "+ - * / // % @ ** & | ^ << >>".split()
_RELATIONS: Final = ("<", ">", "<=", ">=", "==", "!=", "in", "is", "not in", "is not")
_HAZARDS: Final = (
    "print(x)",
    "n = x.sum().item()",
    "y = int(x.max())",
    "x = x + time.time()",
    "mask = x[x > 0]",
    "self.n = self.n + 1",
    "out = torch.where(x > 0)",
    "x.data = x.data * 2",
    "out = x.tolist()",
    "if x.sum() > 0: x = x + 1",
    "y = x if x.any() else -x",
    "assert x.min() > 0",
    "a = float(x.mean())",
    "x = x * random.random()",
    "n = os.getenv('N')",
    "z = model(x.numpy())",
)
_HEAD: Final = "import os, random, time\nfrom functools import partial\nimport torch\nfrom torch import nn\n\n"


# --- programs by a grammar ------------------------------------------------------------------------------------------


class Grammar:
    """Python that mostly parses, and says something about torch."""

    def __init__(self, rng: random.Random, most: int = 6) -> None:
        self.rng = rng
        self.most = most

    def program(self) -> str:
        parts = [_HEAD]
        for _ in range(self.rng.randint(1, self.most)):
            parts.append(self.rng.choice([self.function, self.function, self.module, self.top])())
        return "\n".join(parts)

    def top(self) -> str:
        return "".join(self.statements("", 3, 0))

    def function(self, indent: str = "", name: str = "", first: str = "") -> str:
        rng = self.rng
        decorator = rng.choice(
            ["", "@torch.compile", "@torch.compile", "@torch.compile(fullgraph=True)", "@staticmethod", "@f"]
        )
        names = [each for each in dict.fromkeys(["x", *rng.sample(_NAMES, rng.randint(0, 3))]) if each != "self"]
        given = [first] * bool(first) + [
            each + rng.choice(["", "", f"={self.expression(1)}", ": torch.Tensor"]) for each in names
        ]
        # What has no default cannot follow what has one.
        given.sort(key=lambda each: "=" in each)
        head = f"{indent}{decorator}\n" if decorator else ""
        kind = rng.choice(["def", "def", "def", "def", "async def"])
        body = "".join(self.statements(indent + "    ", rng.randint(1, 6), 0, inside=True))
        return f"{head}{indent}{kind} {name or rng.choice(_NAMES)}({', '.join(given)}):\n{body}"

    def module(self) -> str:
        rng = self.rng
        base = rng.choice(["nn.Module", "nn.Module", "Net", "Net.Base", "object", "f(1)", "nn.ModuleList"])
        name = rng.choice(["Net", "Model", "Block"])
        methods = ["forward", rng.choice(["__init__", "__call__", "helper", "forward", "reset"])]
        inner = "\n".join(self.function("    ", method, "self") for method in methods[: rng.randint(1, 2)])
        return f"class {name}({base}):\n{inner}"

    def statements(self, indent: str, count: int, depth: int, inside: bool = False) -> Iterator[str]:
        for _ in range(count):
            yield self.statement(indent, depth, inside)

    def statement(self, indent: str, depth: int, inside: bool) -> str:
        rng = self.rng
        simple: list[Callable[[], str]] = [
            lambda: f"{self.target()} = {self.expression()}",
            lambda: f"{self.target()} {rng.choice(_SIGNS)}= {self.expression()}",
            lambda: f"{self.expression()}",
            lambda: f"{rng.choice(_NAMES)}: {rng.choice(['int', 'torch.Tensor', 'list[int]'])} = {self.expression()}",
            lambda: f"assert {self.expression()}, {self.expression(1)}",
            lambda: f"del {self.target()}",
            lambda: f"{', '.join(rng.sample(_NAMES, 2))} = {self.expression()}",
            lambda: "pass",
            lambda: f"from {rng.choice(['m0', 'm1', 'os', '.m2'])} import {rng.choice(['*', 'Net', 'f', 'g'])}"
            if not inside
            else "import torch",
            lambda: f"raise ValueError({self.expression(1)})",
            *[lambda: rng.choice(_HAZARDS)] * 6,
        ]
        if inside:
            simple += [lambda: f"return {self.expression()}"] * 3 + [lambda: f"global {rng.choice(['a', 'b'])}_g"]
        if depth < 3 and rng.random() < 0.35:
            body = "".join(self.statements(indent + "    ", rng.randint(1, 3), depth + 1, inside))
            head = rng.choice(
                [
                    lambda: f"if {self.expression()}:",
                    lambda: f"while {self.expression()}:",
                    lambda: f"for {rng.choice(_NAMES)} in {self.expression()}:",
                    lambda: f"with {self.expression()} as {rng.choice(_NAMES)}:",
                    lambda: "try:",
                ]
            )()
            text = f"{indent}{head}\n{body}"
            if head == "try:":
                text += f"{indent}except Exception as e:\n{indent}    {rng.choice(['pass', 'raise'])}\n"
            elif head.startswith("if") and rng.random() < 0.5:
                text += f"{indent}else:\n" + "".join(self.statements(indent + "    ", 1, depth + 1, inside))
            return text
        if depth < 2 and inside and rng.random() < 0.08:
            return self.function(indent)
        return f"{indent}{rng.choice(simple)()}\n"

    def target(self) -> str:
        rng = self.rng
        name = rng.choice(_NAMES)
        return rng.choice([name, name, f"{name}.{rng.choice(_ATTRIBUTES)}", f"{name}[{self.expression(2)}]"])

    def expression(self, depth: int = 0) -> str:
        rng = self.rng
        if depth > 3 or rng.random() < 0.25:
            return rng.choice(
                [rng.choice(_NAMES), rng.choice(_NAMES), f"({rng.randint(-2, 9)})", "None", "True", "'s'", "1.5"]
            )
        deeper = functools.partial(self.expression, depth + 1)
        return rng.choice(
            [
                lambda: f"{deeper()}.{rng.choice(_ATTRIBUTES)}",
                lambda: f"{deeper()}.{rng.choice(_ATTRIBUTES)}({deeper()})",
                lambda: f"{deeper()}.{rng.choice(_ATTRIBUTES)}()",
                lambda: f"{rng.choice(_CALLS)}({', '.join(deeper() for _ in range(rng.randint(0, 3)))})",
                lambda: f"({deeper()} {rng.choice(_SIGNS)} {deeper()})",
                lambda: f"({deeper()} {rng.choice(_RELATIONS)} {deeper()})",
                lambda: f"({deeper()} {rng.choice(['and', 'or'])} {deeper()})",
                lambda: f"(not {deeper()})",
                lambda: f"({deeper()} if {deeper()} else {deeper()})",
                lambda: f"[{deeper()}, {deeper()}]",
                lambda: f"({deeper()}, {deeper()})",
                lambda: f"{{{deeper()}: {deeper()}}}",
                lambda: f"[{deeper()} for {rng.choice(_NAMES)} in {deeper()}]",
                lambda: f"(lambda {rng.choice(_NAMES)}: {deeper()})",
                lambda: f"{deeper()}[{deeper()}]",
                lambda: f"{deeper()}[{deeper()}:{deeper()}]",
                lambda: f"f'{{{rng.choice(_NAMES)}}} {{{rng.choice(_NAMES)}.shape}}'",
                lambda: f"(y := {deeper()})" if depth == 0 else deeper(),
                lambda: f"super().forward({deeper()})",
            ]
        )()


# --- real programs, changed -----------------------------------------------------------------------------------------


@functools.cache
def real_files() -> tuple[Path, ...]:
    """Files of installed libraries, none of them long."""
    found: list[Path] = []
    for library in LIBRARIES:
        package, _, below = library.partition("/")
        # The finder of a package inside another would import it, and torch takes seconds and half a gigabyte.
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            found += [path for path in Path(place, below).rglob("*.py") if 200 < path.stat().st_size < 20_000]
    return tuple(sorted(found))


def parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class Mutation:
    """A real file with a few changes."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def program(self) -> bytes:
        files = real_files()
        text = self.rng.choice(files).read_text(encoding="utf-8", errors="replace") if files else _HEAD
        if self.rng.random() < 0.5:
            text = text.replace("    def forward(", "    @torch.compile\n    def forward(", 1)
        whole = self.rng.random() < 0.8
        for _ in range(self.rng.randint(1, 8)):
            changed = self.rng.choice([self.lines, self.words, self.words, self.blocks, self.characters])(text)
            # Most changes break the syntax, and then there is little left to look at.
            text = changed if not whole or parses(changed) else text
        data = text.encode("utf-8", "replace")
        if self.rng.random() < 0.05:
            at = self.rng.randrange(len(data) + 1)
            data = data[:at] + bytes(self.rng.choices(range(256), k=3)) + data[at:]
        return data

    def lines(self, text: str) -> str:
        lines = text.split("\n")
        a, b = self.rng.randrange(len(lines)), self.rng.randrange(len(lines))
        match self.rng.randrange(3):
            case 0:
                del lines[a]
            case 1:
                lines[a], lines[b] = lines[b], lines[a]
            case _:
                lines.insert(b, lines[a])
        return "\n".join(lines)

    def words(self, text: str) -> str:
        words = [word for word in set(text.replace("(", " ").replace(".", " ").split()) if word.isidentifier()]
        if len(words) < 2:
            return text
        old, new = self.rng.sample(sorted(words), 2)
        return text.replace(old, new, self.rng.choice([1, 1, 3, -1]))

    def blocks(self, text: str) -> str:
        lines = text.split("\n")
        at = self.rng.randrange(len(lines))
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        made = Grammar(self.rng).statement(indent, 1, inside=bool(indent))
        return "\n".join([*lines[:at], made.rstrip("\n"), *lines[at:]])

    def characters(self, text: str) -> str:
        at = self.rng.randrange(len(text) + 1)
        return text[:at] + self.rng.choice("()[]{}:,.=#'\"\\\n\t @*") + text[at + self.rng.randrange(2) :]


def programs(seed: int) -> Iterator[bytes]:
    """Programs without end, the same for the same seed."""
    number = 0
    while True:
        rng = random.Random(f"{seed} {number}")
        yield Grammar(rng).program().encode() if number % 2 == 0 else Mutation(rng).program()
        number += 1


def small_programs(seed: int) -> Iterator[bytes]:
    """Programs of the grammar only, of a function or a class each."""
    number = 0
    while True:
        yield Grammar(random.Random(f"{seed} small {number}"), most=1).program().encode()
        number += 1
