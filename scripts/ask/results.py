"""What rank and dtype come out, by those that go in: asked eagerly of the installed torch, for every operation of the table.

    python scripts/ask/results.py        # writes tclint/torch_facts/results.json (a minute)

The table has one rank and a few dtypes for each way of calling. Here the first tensor of each way is given ranks 0 to 4 and
four dtypes; what an operation computes does not change between releases, so one release is asked. A line of the file is
`dtypes | way rank ; way rank`: `f>f i>f b>f c>c` (a dtype that is refused is left out), then for each way of calling what
becomes of the rank: `=` kept, `0` or another constant, `-1` or `+1` against the first tensor's.
"""

from __future__ import annotations

import itertools
import json
import math
import multiprocessing
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tclint.torch_facts import traits  # noqa: E402
from tclint.torch_facts.facts import table  # noqa: E402
from tclint.torch_facts.form import Form  # noqa: E402
from tclint.torch_facts.kind import Kind  # noqa: E402

ASKED = re.compile(r"(tensor#|torch\.|torch\.nn\.functional\.|torch\.(special|linalg|fft)\.)[a-z]\w*$")
#: Change the process, or never come back.
LEFT_OUT = re.compile(r"(set_|manual_seed|seed|save|load|compile|from_file|quantize|miopen|cudnn|mkldnn|fbgemm|init_)")
DTYPES = {"f": torch.float32, "i": torch.int64, "b": torch.bool, "c": torch.complex64}
LETTERS = {"f": "f", "d": "f", "h": "f", "i": "i", "j": "i", "b": "b", "c": "c"}
#: One size is 1: what leaves out such dimensions shows itself.
SHAPE = (2, 1, 2, 2)
SQUARE = (2, 2, 2, 2)
PLAIN: dict[str, tuple[Any, ...]] = {"int": (1, 0), "float": (0.5,), "bool": (True,)}
TOGETHER = 40
SECONDS = 60


def tensor(dtype: str, sizes: tuple[int, ...]) -> torch.Tensor:
    made = torch.arange(1, math.prod(sizes) + 1).reshape(sizes)
    return made.to(DTYPES[dtype]) if dtype != "b" else made % 2 == 0


def call(key: str, form: Form, dtype: str, sizes: tuple[int, ...], choice: int) -> Any:
    """The result of a way of calling with another first tensor."""
    first = form.arguments[0].kind
    given: list[Any] = []
    keywords: dict[str, Any] = {}
    for place, argument in enumerate(form.arguments):
        kind = argument.kind
        if listed(kind):
            member = kind.members[0]
            value: Any = [tensor(dtype, SHAPE[: member.rank or 0]) for _ in range(2)]
        elif kind.is_tensor:
            like = place == 0 or (kind.dtype == first.dtype and kind.rank == first.rank)
            letter = dtype if like else LETTERS[kind.dtype or "f"]
            # An index or a mask of the same shape follows the first.
            value = tensor(letter, sizes if kind.rank == first.rank else SHAPE[: kind.rank or 0])
            value = value.clamp(max=1) if letter == "i" and not like else value
        else:
            value = PLAIN[kind.name][choice % len(PLAIN[kind.name])]
        if argument.label == "self" or argument.label.isdigit():
            given.append(value)
        else:
            keywords[argument.label] = value
    if key.startswith("tensor#"):
        return getattr(given[0], key[7:])(*given[1:], **keywords)
    owner: Any = torch
    for part in key.split(".")[1:]:
        owner = getattr(owner, part)
    return owner(*given, **keywords)


def seen(key: str, form: Form, dtype: str, rank: int) -> torch.Tensor | None:
    """The tensor that comes out, or the first of several; None where the arguments are refused."""
    for shape, choice in itertools.product((SHAPE, SQUARE), (0, 1)):
        try:
            result = call(key, form, dtype, shape[:rank], choice)
        except Exception:
            continue
        while isinstance(result, (tuple, list)) and result:
            result = result[0]
        return result if isinstance(result, torch.Tensor) else None
    return None


def letter(made: torch.Tensor) -> str:
    if made.dtype == torch.bool:
        return "b"
    return "c" if made.is_complex() else "f" if made.is_floating_point() else "i"


def change(ranks: dict[int, int]) -> str | None:
    """What becomes of the rank, where all that were tried agree; nothing is told from one alone."""
    if len(ranks) < 2:
        return None
    if all(after == before for before, after in ranks.items()):
        return "="
    if len(set(ranks.values())) == 1:
        return str(next(iter(ranks.values())))
    # A number without dimensions loses none.
    steps = {after - before for before, after in ranks.items() if before or after}
    return f"{steps.pop():+d}" if len(steps) == 1 else None


def listed(kind: Kind) -> bool:
    """Tensors of one kind in a list or tuple."""
    return kind.name in ("list", "tuple") and kind.alike and all(member.is_tensor for member in kind.members)


def usable(form: Form) -> bool:
    """A way whose first argument is a tensor, or a list of them, and the others are tensors and plain numbers."""
    kinds: list[Kind] = [argument.kind for argument in form.arguments]
    known = all(kind.is_tensor or kind.name in PLAIN for kind in kinds[1:])
    result = form.result.members[0] if form.result.members else form.result
    return bool(kinds) and (kinds[0].name == "tensor" or listed(kinds[0])) and known and result.is_tensor


def ask(key: str) -> str | None:
    forms = [form for form in traits.forms(key) if usable(form)]
    dtypes: dict[str, set[str]] = {}
    ways: dict[str, dict[int, set[int]]] = {}
    for form in forms:
        first = form.arguments[0].kind
        for dtype in DTYPES:
            made = seen(key, form, dtype, first.rank or 0)  # members of a list have a rank of their own
            if made is not None:
                dtypes.setdefault(dtype, set()).add(letter(made))
        for rank in range(5) if not listed(first) else ():
            made = seen(key, form, LETTERS.get(first.dtype or "f", "f"), rank)
            if made is not None:
                ways.setdefault(traits.way_of(form), {}).setdefault(rank, set()).add(made.dim())
    told = [f"{given}>{next(iter(found))}" for given, found in dtypes.items() if len(found) == 1]
    if len(told) != len(dtypes):
        told = []
    ranks = []
    for name, found in ways.items():
        agreed = {before: next(iter(after)) for before, after in found.items() if len(after) == 1}
        what = change(agreed) if len(agreed) == len(found) else None
        if what is not None:
            ranks.append(f"{name} {what}")
    if not told and not ranks:
        return None
    return " ".join(told) + " | " + " ; ".join(ranks)


def answers(keys: list[str]) -> list[tuple[str, str | None]]:
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    return [(key, ask(key)) for key in keys]


def all_answers(keys: list[str]) -> Iterator[tuple[str, str | None]]:
    """In children: what ends the process costs its own answer only."""
    waiting = [keys[i : i + TOGETHER] for i in range(0, len(keys), TOGETHER)]
    while waiting:
        batch = waiting.pop(0)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            try:
                yield from pool.apply_async(answers, (batch,)).get(SECONDS)
            except multiprocessing.TimeoutError:
                if len(batch) > 1:
                    waiting[:0] = [[key] for key in batch]
                else:
                    print(f"no answer: {batch[0]}", file=sys.stderr)


def main() -> int:
    keys = [key for key in table().names if ASKED.match(key) and not LEFT_OUT.search(key.rpartition(".")[2])]
    keys = [key for key in keys if any(usable(form) for form in traits.forms(key))]
    found = {key: told for key, told in all_answers(keys) if told is not None}
    body = ",\n".join(f"{json.dumps(key)}: {json.dumps(told)}" for key, told in sorted(found.items()))
    (ROOT / "tclint" / "torch_facts" / "results.json").write_text(
        f'{{"torch": {json.dumps(torch.__version__.split("+")[0])},\n"names": {{\n{body}\n}}}}\n'
    )
    print(f"{len(found)} of {len(keys)} answered")
    return 0


if __name__ == "__main__":
    sys.exit(main())
