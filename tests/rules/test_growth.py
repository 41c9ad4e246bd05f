"""A handler's cost does not grow with the program: four times the code costs about four times as much.

Each family is a generated program whose size is one number. Twice `n log n` is far below what one scan of a file, of a
function or of the program for each event makes of it (sixteen times).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lintkit import Project

# Four times as much work, the logarithm, and room for a busy machine; a scan for each event is at 16.
MOST = 8.0
HEAD = "import os, time\nimport torch\nfrom torch import nn\n\n"
Sources = dict[str, str]


def _module_assignments(n: int) -> Sources:
    """TCL203: as many module-level names as you like, one of which changes."""
    names = "".join(f"NAME_{i} = {i}\n" for i in range(n))
    return {
        "m.py": f"{HEAD}{names}\ndef change():\n    global NAME_0\n    NAME_0 += 1\n\n@torch.compile\ndef f(x):\n    return x * NAME_0\n"
    }


def _changed_globals(n: int) -> Sources:
    """TCL203: functions that each change a global, and compiled code that reads it."""
    code = "".join(
        f"N_{i} = {i}\n\ndef change_{i}():\n    global N_{i}\n    N_{i} += 1\n\n"
        f"@torch.compile\ndef f_{i}(x):\n    return x * N_{i}\n\n"
        for i in range(n)
    )
    return {"m.py": HEAD + code}


def _dict_keys(n: int) -> Sources:
    """TCL203: a dict of settings of which every entry changes."""
    items = ", ".join(f'"k{i}": {i}' for i in range(n))
    changes = "".join(f'    C["k{i}"] = v\n' for i in range(n))
    reads = "".join(f'    x = x * C["k{i}"]\n' for i in range(n))
    return {
        "m.py": f"{HEAD}C = {{{items}}}\n\ndef change(v):\n{changes}\n@torch.compile\ndef f(x):\n{reads}    return x\n"
    }


def _captured_lambdas(n: int) -> Sources:
    """TCL203: functions in a function, each of which keeps something in a variable beside it."""
    code = "".join(
        f"    kept_{i} = []\n    f_{i} = lambda x: (kept_{i}.append(1), x * len(kept_{i}))[1]\n    x = f_{i}(x)\n"
        for i in range(n)
    )
    return {"m.py": f"{HEAD}@torch.compile\ndef outer(x):\n{code}    return x\n"}


def _captured_names(n: int) -> Sources:
    """TCL203: a function of many names, and functions in it that capture one each."""
    names = "".join(f"    a_{i} = {i}\n" for i in range(n))
    code = "".join(
        f"    def f_{i}(x):\n        nonlocal a_{i}\n        a_{i} += 1\n        return x * a_{i}\n    x = f_{i}(x)\n"
        for i in range(n // 4)
    )
    return {"m.py": f"{HEAD}@torch.compile\ndef outer(x):\n{names}{code}    return x\n"}


def _timed_calls(n: int) -> Sources:
    """TCL506: clock, compiled call, clock, again and again in one function."""
    body = "".join(f"    t{i} = time.time()\n    f(x)\n    d{i} = time.time() - t{i}\n" for i in range(n))
    return {
        "m.py": f'{HEAD}@torch.compile\ndef f(x):\n    return x * 2\n\ndef measure():\n    x = torch.ones(3, device="cuda")\n{body}\nmeasure()\n'
    }


def _calls_under_modes(n: int) -> Sources:
    """TCL214: compiled calls in one function, each under modes of its own."""
    body = "".join(
        "    with torch.no_grad():\n        f(x)\n    with torch.autocast('cuda', dtype=d):\n        f(x)\n"
        for _ in range(n)
    )
    return {"m.py": f"{HEAD}@torch.compile\ndef f(x):\n    return x * 2\n\ndef caller(x, d):\n{body}\n"}


def _frozen_layers(n: int) -> Sources:
    """TCL214: layers frozen in loops, as many as an argument says."""
    body = "".join("    for layer in model[:n]:\n        layer.requires_grad_(False)\n    f(x)\n" for _ in range(n))
    return {
        "m.py": f"{HEAD}model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))\nf = torch.compile(model)\n\ndef caller(x, n):\n{body}\n"
    }


def _environment(n: int) -> Sources:
    """TCL502: many files, each of which asks for variables."""
    reads = "".join(f'    x = x * float(os.getenv("V{i}", "1"))\n' for i in range(10))
    return {
        f"m{i}.py": f'{HEAD}os.environ["V{i}"] = "2"\n\n@torch.compile\ndef f(x):\n{reads}    return x\n'
        for i in range(n)
    }


def _class_attributes(n: int) -> Sources:
    """TCL510: many files, each with a class attribute that is read by compiled code and changed elsewhere."""
    return {
        f"m{i}.py": f"{HEAD}class C{i}:\n    factor = 1.0\n\n@torch.compile\ndef f(x):\n    return x * C{i}.factor\n\n"
        f"def main():\n    C{i}.factor = 2.0\n"
        for i in range(n)
    }


def _branches(n: int) -> Sources:
    """TCL101: one `if` on a tensor after the other, each with its fix."""
    body = "".join(f"    y{i} = x + {i}\n    if y{i}.sum() > {i}:\n        y{i} = y{i} * 2\n" for i in range(n))
    return {"m.py": f"{HEAD}@torch.compile\ndef f(x: torch.Tensor):\n{body}    return x\n"}


def _elif(n: int) -> Sources:
    """TCL101: an `if` with many `elif`."""
    body = "".join(f"    elif x.sum() > {i}:\n        y = x * {i}\n" for i in range(n))
    return {
        "m.py": f"{HEAD}@torch.compile\ndef f(x: torch.Tensor):\n    y = x\n    if x.sum() > 0:\n        y = x + 1\n{body}    return y\n"
    }


def _extractions(n: int) -> Sources:
    """TCL103: numbers taken out of tensors under names of their own."""
    body = "".join(f"    s{i} = (x + {i}).max().item()\n    x = x / s{i}\n" for i in range(n))
    return {"m.py": f"{HEAD}@torch.compile\ndef f(x: torch.Tensor):\n{body}    return x\n"}


def _stamps(n: int) -> Sources:
    """TCL103, TCL110: attributes that are set in compiled code and never read."""
    body = "".join(f"        self.s{i} = x.sum().item()\n        self.t{i} = time.time()\n" for i in range(n))
    return {
        "m.py": f"{HEAD}class Net(nn.Module):\n    def forward(self, x):\n{body}        return x\n\nf = torch.compile(Net())\n"
    }


def _tokens(n: int) -> Sources:
    """TCL102: what `__init__` could read once, asked for in every line."""
    body = "".join(f"        x = x + (x == self.tokenizer.token_{i}_id)\n" for i in range(n))
    return {
        "m.py": f"{HEAD}class Net(nn.Module):\n    def __init__(self, tokenizer):\n        super().__init__()\n"
        f"        self.tokenizer = tokenizer\n\n    def forward(self, x):\n{body}        return x\n"
    }


def _cached_sizes(n: int) -> Sources:
    """TCL202, TCL212: attributes bound in every call."""
    body = "".join(
        f"        self.n{i} = self.n{i} + 1\n        self.b{i} = self.b{i} * 2\n        x = x + self.b{i}\n"
        for i in range(n)
    )
    init = "".join(f"        self.n{i} = 0\n        self.register_buffer('b{i}', torch.ones(2))\n" for i in range(n))
    return {
        "m.py": f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{init}\n    def forward(self, x):\n{body}        return x\n"
    }


def _import_words(n: int) -> Sources:
    """The word "import", as often as you like, on one line and in brackets that never end."""
    words = "import " * n
    opened = "# import (\n" * n
    return {"m.py": f"{HEAD}# {words}\n{opened}\n@torch.compile\ndef f(x):\n    return x + 1\n"}


def _compiled_lambdas(n: int) -> Sources:
    """What is learned of compiled functions: lambdas in one function, each of which captures one name of many."""
    code = "".join(
        f"    k{i} = [{i}]\n    f{i} = torch.compile(lambda x: x * len(k{i}))\n    f{i}(x)\n" for i in range(n)
    )
    return {"m.py": f"{HEAD}def outer(x):\n{code}    return x\n\nouter(torch.ones(3))\n"}


def _comparisons(n: int) -> Sources:
    """TCL101: a chain of comparisons on tensors."""
    test = " < ".join(["x.sum()"] * n)
    return {"m.py": f"{HEAD}@torch.compile\ndef f(x):\n    if {test}:\n        return x + 1\n    return x\n"}


def _conditions(n: int) -> Sources:
    """TCL101: one `and` after the other, each a finding."""
    test = " and ".join(f"x.sum() > {i}" for i in range(n))
    return {"m.py": f"{HEAD}@torch.compile\ndef f(x):\n    if {test}:\n        return x + 1\n    return x\n"}


def _inheritance(n: int) -> Sources:
    """Classes that inherit from each other, one below the other."""
    classes = "".join(f"class C{i}(C{i - 1}):\n    def m{i}(self):\n        return {i}\n\n" for i in range(1, n))
    root = "class C0(nn.Module):\n    def forward(self, x):\n        return x.item()\n\n"
    return {"m.py": f"{HEAD}{root}{classes}"}


def _copies(n: int) -> Sources:
    """The same function again and again: every finding names the copies of its code."""
    code = "".join(f"class N{i}(nn.Module):\n    def forward(self, x):\n        return x.item()\n\n" for i in range(n))
    return {"m.py": f"{HEAD}{code}"}


def _on_one_line(n: int) -> Sources:
    """TCL108: statements that all begin on the same line, each with its fix."""
    return {"m.py": f"{HEAD}@torch.compile\ndef f(x):\n    {'; '.join(['print(x)'] * n)}\n    return x\n"}


def _handled(n: int) -> Sources:
    """Operations that a handler stands beside, and names that only some calls bind."""
    code = "".join(
        f"    if flag == {i}:\n        v_{i} = x + {i}\n    try:\n        x = x + v_{i}\n    except NameError:\n        x = x * 2\n"
        for i in range(n)
    )
    return {"m.py": f"{HEAD}@torch.compile\ndef f(x, flag):\n{code}    return x\n\nf(torch.ones(3), 2)\n"}


def _numbers(n: int) -> Sources:
    """TCL102: numbers that a function reads out of tensors, each with the crops that start at them to be looked for."""
    code = "".join(f"    n_{i} = x.sum().item()\n" for i in range(n))
    return {"m.py": f"{HEAD}@torch.compile\ndef f(x):\n{code}    return x\n"}


FAMILIES: list[tuple[Callable[[int], Sources], int, str]] = [
    (_module_assignments, 2400, "2.13"),
    (_changed_globals, 90, "2.13"),
    (_dict_keys, 180, "2.13"),
    (_captured_lambdas, 60, "2.13"),
    (_captured_names, 240, "2.13"),
    (_timed_calls, 90, "2.13"),
    (_calls_under_modes, 90, "2.13"),
    (_frozen_layers, 90, "2.13"),
    (_environment, 24, "2.13"),
    (_class_attributes, 48, "2.11"),
    (_branches, 24, "2.13"),
    (_elif, 12, "2.13"),
    (_extractions, 90, "2.13"),
    (_stamps, 24, "2.13"),
    (_tokens, 90, "2.13"),
    (_cached_sizes, 48, "2.13"),
    (_import_words, 1200, "2.13"),
    (_compiled_lambdas, 24, "2.13"),
    (_comparisons, 150, "2.13"),
    (_conditions, 90, "2.13"),
    (_inheritance, 200, "2.13"),
    (_copies, 180, "2.13"),
    (_on_one_line, 300, "2.13"),
    (_handled, 60, "2.13"),
    (_numbers, 60, "2.13"),
]


def seconds(folder: Path, sources: Sources, target: str) -> float:
    project = Project(folder).write(sources)
    gc.collect()
    before = time.process_time()
    report = project.lint(target_torch=target)
    spent = time.process_time() - before
    assert not [p for p in report.findings if p.code.startswith("TCL9")]
    return spent


@pytest.mark.parametrize(("family", "size", "target"), FAMILIES, ids=[f[0].__name__.strip("_") for f in FAMILIES])
def test_the_cost_grows_with_the_program_and_no_faster(
    family: Callable[[int], Sources], size: int, target: str, tmp_path: Path
) -> None:
    seconds(tmp_path / "warm", family(2), target)  # libcst, the rules
    small = seconds(tmp_path / "small", family(size), target)
    large = seconds(tmp_path / "large", family(4 * size), target)
    if large >= MOST * max(small, 0.02):  # other work on the machine makes a run dearer, and never cheaper
        small = min(small, *(seconds(tmp_path / f"small{n}", family(size), target) for n in range(2)))
        large = min(large, *(seconds(tmp_path / f"large{n}", family(4 * size), target) for n in range(2)))
    print(f"{family.__name__} {size}: {small:.3f} {4 * size}: {large:.3f}  x{large / small:.1f}")
    assert large < MOST * max(small, 0.02)
