"""The moments of small programs: what is called, with what, and what is written in between, in the order of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import Project

from tclint.run import parts
from tclint.timeline import guarded
from tclint.values.moments import Call, Moment

HEAD = """\
import dataclasses, enum, itertools, numpy, random, time, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

@torch.compile
def f(x, k=None):
    return x.sin()

X = torch.zeros(2, 3)

"""


@pytest.fixture
def walks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Lints a program and gives its walks: moments by the entry from which they happen."""
    found: dict[object, list[Moment]] = {}
    plain = parts.PartRunner.find_sites

    def listen(self: parts.PartRunner, *args: object) -> None:
        plain(self, *args)  # type: ignore[arg-type]
        found.update(self.main.learned.walks)

    monkeypatch.setattr(parts.PartRunner, "find_sites", listen)

    def run(source: str) -> dict[object, list[Moment]]:
        Project(tmp_path).write({"m.py": HEAD + source}).lint("m.py")
        return found

    return run


def told(moments: list[Moment]) -> list[str]:
    """Moments in a few words: `f(2×3, 1)`, `N = 4`."""
    rows = []
    for moment in moments:
        if isinstance(moment, Call):
            values = [*moment.args, *moment.keywords.values()]
            modes = "".join(f" {mode.name}" for mode in moment.modes)
            code, _ = moment.callee  # type: ignore[misc]
            rows.append(f"{code[1]}({', '.join(text(v.guarded()) for v in values)}){modes}")
        elif moment.place[3] != "X":
            rows.append(f"{moment.place[3]} = {moment.again or text(moment.value.guarded())}")
    return rows


def text(value: guarded.Guarded) -> str:
    return guarded.text(value) or type(value).__name__.lower()


# --- where a program starts -------------------------------------------------------------------------------------------

ENTRIES = {
    "module level": ("f(X, 1)\nf(X, 2)\n", "m.py"),
    "main guard": ('if __name__ == "__main__":\n    f(X, 1)\n    f(X, 2)\n', "m.py"),
    "main function": ("def main():\n    f(X, 1)\n    f(X, 2)\n\nmain()\n", "m.py"),
    "a function nobody calls": ("def run():\n    f(X, 1)\n    f(X, 2)\n", "run"),
    "a trainer": (
        "class Trainer:\n    def __init__(self):\n        self.k = 1\n\n    def fit(self):\n"
        "        for k in (1, 2):\n            self.step(k)\n\n    def step(self, k):\n        f(X, k)\n\nTrainer().fit()\n",
        "m.py",
    ),
}


@pytest.mark.parametrize(("source", "entry"), ENTRIES.values(), ids=ENTRIES)
def test_calls_in_the_order_of_a_run(walks: object, source: str, entry: str) -> None:
    found = walks(source)  # type: ignore[operator]
    key = next(key for key in found if key == entry or (isinstance(key, tuple) and key[1] == entry))
    assert told(found[key]) == ["f(2×3, 1)", "f(2×3, 2)"]


def test_tests_are_kept_apart(walks: object) -> None:
    found = walks("def test_a():\n    f(X, 1)\n\ndef test_b():\n    f(X, 2)\n")  # type: ignore[operator]
    by_name = {key[1]: told(moments) for key, moments in found.items() if isinstance(key, tuple)}
    assert by_name["test_a"] == ["f(2×3, 1)"]
    assert by_name["test_b"] == ["f(2×3, 2)"]
    assert told(found["m.py"]) == []


# --- sequences --------------------------------------------------------------------------------------------------------

SEQUENCES = {
    "a literal": ("(1, 2, 3)", "1 2 3"),
    "a range": ("range(1, 4)", "1 2 3"),
    "a comprehension": ("[n * n for n in range(3)]", "0 1 4"),
    "a condition": ("[n for n in range(4) if n % 2]", "1 3"),
    "a generator expression": ("(n + 1 for n in range(3))", "1 2 3"),
    "a generator": ("made()", "1 2 4"),
    "a generator of loops": ("nested()", "1 2 2 4"),
    "a list of the program": ("listed()", "5 6 7"),
    "zip": ("[a + b for a, b in zip((1, 2), (3, 4))]", "4 6"),
    "enumerate": ("[i for i, _ in enumerate('abc')]", "0 1 2"),
    "a string": ("'abc'", "'a' 'b' 'c'"),
    "reversed": ("reversed([1, 2, 3])", "3 2 1"),
    "sorted": ("sorted([3, 1, 2])", "1 2 3"),
    "keys": ("{'a': 1, 'b': 2}", "'a' 'b'"),
    "values": ("{'a': 1, 'b': 2}.values()", "1 2"),
    "product": ("[a * b for a, b in itertools.product((1, 2), (3, 4))]", "3 4 6 8"),
    "permutations": ("[p[0] for p in itertools.permutations((1, 2, 3), 2)]", "1 1 2 2 3 3"),
    "chain": ("itertools.chain((1, 2), [3])", "1 2 3"),
    "islice": ("itertools.islice(itertools.count(5), 3)", "5 6 7"),
    "repeat": ("itertools.repeat(4, 3)", "4 4 4"),
    "pairwise": ("[b - a for a, b in itertools.pairwise((1, 4, 9))]", "3 5"),
    "an enumeration": ("Kind", "Kind.A Kind.B"),
    "a dict of pairs": ("dict(zip('ab', (1, 2))).values()", "1 2"),
    "a list that a loop fills": ("[len(filled(9)), len(filled(11))]", "9 11"),
    "members and more": ("(*Kind, Kind.A)", "Kind.A Kind.B Kind.A"),
}


@pytest.mark.parametrize(("sequence", "values"), SEQUENCES.values(), ids=SEQUENCES)
def test_a_known_sequence_is_walked_element_by_element(walks: object, sequence: str, values: str) -> None:
    source = f"""
class Kind(enum.Enum):
    A = 1
    B = 2

def made():
    n = 1
    while n < 5:
        yield n
        n *= 2

def nested():
    for a in (1, 2):
        for b in (1, 2):
            yield a * b

def filled(n):
    found = []
    for _ in range(n):
        found.append(n)
    return found

def listed():
    found = []
    for n in range(5, 8):
        found.append(n)
    return found

def main():
    for k in {sequence}:
        f(X, k)

main()
"""
    found = walks(source)  # type: ignore[operator]
    assert told(found["m.py"]) == [f"f(2×3, {value})" for value in values.split()]


UNKNOWN = {
    "what nobody knows": "for k in loader:",
    "a file": "for k in open('k.txt'):",
    "the environment": "for k in torch.load('k.pt'):",
}


@pytest.mark.parametrize("header", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_unknown_stays_so(walks: object, header: str) -> None:
    found = walks(f"def run(loader):\n    {header}\n        f(X, k)\n")  # type: ignore[operator]
    (moments,) = [moments for key, moments in found.items() if isinstance(key, tuple) and key[1] == "run"]
    assert told(moments) == ["f(2×3, unknown)"] * 3


def test_what_varies_has_a_reason(walks: object) -> None:
    source = "def main():\n    for _ in range(3):\n        f(X, random.random())\n\nmain()\n"
    found = walks(source)  # type: ignore[operator]
    assert set(told(found["m.py"])) == {"f(2×3, a random number)"}


# --- tensors ----------------------------------------------------------------------------------------------------------

TENSORS = {
    "X.double()": guarded.Tensor((2, 3), "float64", False),
    "X.to(torch.bfloat16)": guarded.Tensor((2, 3), "bfloat16", False),
    "X.t()": guarded.Tensor((3, 2), "float32", False, strides=(1, 3)),
    "X[:, 0]": guarded.Tensor((2,), "float32", False, strides=(3,)),
    "X[:1]": guarded.Tensor((1, 3), "float32", False),
    "X.unsqueeze(0)": guarded.Tensor((1, 2, 3), "float32", False),
    "X.reshape(-1)": guarded.Tensor((6,), "float32", False),
    "X + torch.ones(4, 1, 3)": guarded.Tensor((4, 2, 3), "float32", False),
    "torch.cat([X, X], 1)": guarded.Tensor((2, 6), "float32", False),
    "torch.stack([X, X])": guarded.Tensor((2, 2, 3), "float32", False),
    "torch.ones(2, requires_grad=True) * 2": guarded.Tensor((2,), "float32", True),
    "X.sum(1)": guarded.Tensor((2,), "float32", False),
    "nn.Parameter(X)": guarded.Tensor((2, 3), "float32", True, static=True),
    "torch.tensor([[1, 2]])": guarded.Tensor((1, 2), "int64", False),
    "X @ torch.ones(3, 5)": guarded.Tensor((2, 5), "float32", False),
    "X.max(1).values": guarded.Tensor((2,), "float32", False),
    "X.topk(2).indices": guarded.Tensor((2, 2), "int64", False),
    "X > 0": guarded.Tensor((2, 3), "bool", False),
    "X[torch.tensor([0, 1, 1])]": guarded.Tensor((3, 3), "float32", False),
    "X[:, [0, 2]]": guarded.Tensor((2, 2), "float32", False),
    "nn.functional.pad(X, (0, 2))": guarded.Tensor((2, 5), "float32", False),
    "X.index_select(1, torch.tensor([2]))": guarded.Tensor((2, 1), "float32", False),
    "nn.functional.one_hot(torch.tensor([1, 2]), 4)": guarded.Tensor((2, 4), "int64", False),
    "nn.functional.max_pool2d(torch.ones(1, 2, 8, 6), 2)": guarded.Tensor((1, 2, 4, 3), "float32", False),
    "X.repeat_interleave(2, 0)": guarded.Tensor((4, 3), "float32", False),
    "-X": guarded.Tensor((2, 3), "float32", False),
    "~(X > 0)": guarded.Tensor((2, 3), "bool", False),
    "X[..., 0]": guarded.Tensor((2,), "float32", False, strides=(3,)),
    "X[torch.arange(2), torch.tensor([0, 1])]": guarded.Tensor((2,), "float32", False),
    "X[torch.arange(2), -1]": guarded.Tensor((2,), "float32", False),
    "X.new_zeros(X.shape[0], 8)": guarded.Tensor((2, 8), "float32", False),
    "X.new_full((2, 1), 1.0)": guarded.Tensor((2, 1), "float32", False),
    "torch.zeros_like(torch.ones(2, requires_grad=True))": guarded.Tensor((2,), "float32", False),
    "X.argmax(-1)": guarded.Tensor((2,), "int64", False),
    "(X > 0).sum()": guarded.Tensor((), "int64", False),
    "torch.max(X, dim=-1).values": guarded.Tensor((2,), "float32", False),
    "torch.sort(X, dim=-1)[1]": guarded.Tensor((2, 3), "int64", False),
    "torch.topk(X, 2)[0]": guarded.Tensor((2, 2), "float32", False),
    "torch.where(X > 0, X, 0.0)": guarded.Tensor((2, 3), "float32", False),
    "torch.einsum('ij,kj->ik', X, torch.ones(4, 3)).contiguous()": guarded.Tensor((2, 4), "float32", False),
    "X.expand(2, -1)": guarded.Tensor((2, 3), "float32", False),
    "torch.linspace(0, 1, 5)": guarded.Tensor((5,), "float32", False),
    "torch.multinomial(torch.ones(2, 5), 3)": guarded.Tensor((2, 3), "int64", False),
    "torch.normal(0.0, 1.0, size=(3, 4))": guarded.Tensor((3, 4), "float32", False),
    "torch.randn(size=(3, 4))": guarded.Tensor((3, 4), "float32", False),
    "torch.randn(()).exp()": guarded.Tensor((), "float32", False),
    "nn.functional.layer_norm(X, (3,))": guarded.Tensor((2, 3), "float32", False),
    "nn.functional.adaptive_avg_pool2d(torch.ones(1, 2, 8, 9), 1)": guarded.Tensor((1, 2, 1, 1), "float32", False),
    "nn.functional.scaled_dot_product_attention(X, X, X)": guarded.Tensor((2, 3), "float32", False),
    "X.unflatten(-1, (3, 1))": guarded.Tensor((2, 3, 1), "float32", False),
    "X @ X.T": guarded.Tensor((2, 2), "float32", False),
    "nn.utils.rnn.pad_sequence([torch.ones(3), torch.ones(5)], batch_first=True)": guarded.Tensor(
        (2, 5), "float32", False
    ),
    "nn.Parameter(X).detach()": guarded.Tensor((2, 3), "float32", False),
    "nn.ReLU()(X)": guarded.Tensor((2, 3), "float32", False),
    "nn.Linear(3, 7)(X)": guarded.Tensor((2, 7), "float32", True),
    "torch.from_numpy(numpy.zeros((4, 2)))": guarded.Tensor((4, 2), "float64", False),
    "torch.from_numpy(numpy.arange(5).astype(numpy.float32))": guarded.Tensor((5,), "float32", False),
    "torch.as_tensor(numpy.random.default_rng(0).normal(size=(2, 4)))": guarded.Tensor((2, 4), "float64", False),
}

MODULES = {
    "nn.Linear(3, 7)(X)": (2, 7),
    "nn.Embedding(9, 4)(torch.tensor([[1, 2]]))": (1, 2, 4),
    "nn.Conv2d(3, 5, 3, stride=2, padding=1)(torch.ones(2, 3, 9, 8))": (2, 5, 5, 4),
    "nn.MaxPool1d(2)(torch.ones(1, 2, 9))": (1, 2, 4),
    "nn.AdaptiveAvgPool2d(1)(torch.ones(1, 2, 8, 9))": (1, 2, 1, 1),
    "nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4), nn.Flatten(0))(X)": (8,),
    "nn.GRUCell(3, 6)(X)": (2, 6),
    "nn.Linear(3, 7).weight[[0, 1]]": (2, 3),
    "nn.Upsample(scale_factor=2)(torch.ones(1, 2, 4, 5))": (1, 2, 8, 10),
    "nn.ConvTranspose2d(3, 5, 2, stride=2)(torch.ones(1, 3, 4, 5))": (1, 5, 8, 10),
    "nn.functional.conv1d(torch.ones(1, 1, 9), torch.ones(4, 1, 3), padding=1)": (1, 4, 9),
}


@pytest.mark.parametrize("expression", MODULES)
def test_what_modules_of_torch_give(walks: object, expression: str) -> None:
    found = walks(f"FROZEN = 'requires_grad'\nf({expression})\n")  # type: ignore[operator]
    (call,) = [moment for moment in found["m.py"] if isinstance(moment, Call)]
    given = call.args[0].guarded()
    assert isinstance(given, guarded.Tensor)
    assert given.sizes == MODULES[expression]
    assert given.requires_grad is not True, "the file may freeze parameters"


@pytest.mark.dynamo
@pytest.mark.parametrize("expression", MODULES)
def test_torch_gives_the_same(expression: str) -> None:
    torch = pytest.importorskip("torch")
    made = eval(expression, {"torch": torch, "nn": torch.nn, "X": torch.zeros(2, 3)})
    assert tuple(made.shape) == MODULES[expression]


@pytest.mark.parametrize("expression", TENSORS)
def test_what_is_known_of_tensors_that_eager_code_makes(walks: object, expression: str) -> None:
    found = walks(f"f({expression})\n")  # type: ignore[operator]
    (call,) = [moment for moment in found["m.py"] if isinstance(moment, Call)]
    assert call.args[0].guarded() == TENSORS[expression]


@pytest.mark.dynamo
@pytest.mark.parametrize("expression", TENSORS)
def test_torch_lays_them_out_so(expression: str) -> None:
    torch = pytest.importorskip("torch")
    numpy = pytest.importorskip("numpy")
    made = eval(expression, {"torch": torch, "nn": torch.nn, "numpy": numpy, "X": torch.zeros(2, 3)})
    wanted = TENSORS[expression]
    assert tuple(made.shape) == wanted.sizes
    assert str(made.dtype) == f"torch.{wanted.dtype}"
    assert made.requires_grad == wanted.requires_grad
    assert made.is_contiguous() if wanted.strides is None else made.stride() == wanted.strides


# --- what happens in between ------------------------------------------------------------------------------------------


def test_writes_stand_between_the_calls(walks: object) -> None:
    source = """
N = 1

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 4

    def forward(self, x):
        return x * self.width

def main():
    global N
    net = Net()
    fast = torch.compile(net)
    for width in (5, 6):
        net.width = width
        N = width
        with torch.no_grad():
            fast(X)
    net.eval()
    fast(X)

main()
"""
    found = walks(source)  # type: ignore[operator]
    assert told(found["m.py"]) == [
        "N = 1",
        *("width = 5", "N = 5", "Net(2×3) no_grad"),
        *("width = 6", "N = 6", "Net(2×3) no_grad"),
        *("training = False", "Net(2×3)"),
    ]


def test_objects_that_are_their_fields(walks: object) -> None:
    source = """
@dataclasses.dataclass
class Config:
    mode: str = "a"
    size: int = 3

def main():
    config = Config("a")
    f(X, config)
    f(X, dataclasses.replace(config, mode="b"))
    config.mode = "c"
    f(X, config)

main()
"""
    found = walks(source)  # type: ignore[operator]
    calls = [moment for moment in found["m.py"] if isinstance(moment, Call)]
    fields = [dict(call.args[1].guarded().items)["mode"] for call in calls]  # type: ignore[union-attr]
    assert [text(field) for field in fields] == ["'a'", "'b'", "'c'"]


# --- what calls do ----------------------------------------------------------------------------------------------------

CONTAINERS = {
    "a second name": """
held = []
other = held
for k in range(3):
    other.append(k)
    f(X, held)
""",
    "a function that is given it": """
def push(into, what):
    into.append(what)

held = []
for k in range(3):
    push(held, k)
    f(X, held)
""",
    "an attribute and a name": """
class Buffer:
    def __init__(self):
        self.rows = []

buffer = Buffer()
rows = buffer.rows
for k in range(3):
    rows.append(k)
    f(X, buffer.rows)
""",
    "a list in a list": """
held = []
table = [held, []]
for k in range(3):
    for row in table[:1]:
        row.append(k)
    f(X, held)
""",
    "compiled code": """
@torch.compile
def push(x, into):
    into.append(x)
    return x

held = []
for k in range(3):
    push(X, held)
    f(X, held)
""",
}


@pytest.mark.parametrize("source", CONTAINERS.values(), ids=CONTAINERS)
def test_a_container_changes_under_all_its_names(walks: object, source: str) -> None:
    found = walks(source)  # type: ignore[operator]
    calls = [moment for moment in found["m.py"] if isinstance(moment, Call) and moment.callee[0][1] == "f"]  # type: ignore[index]
    assert [len(call.args[1].guarded().items) for call in calls] == [1, 2, 3]  # type: ignore[union-attr]


def test_two_containers_that_are_equal_are_two(walks: object) -> None:
    source = "def made():\n    return []\n\na = made()\nb = made()\nfor k in range(3):\n    a.append(k)\n    f(X, b)\n"
    found = walks(source)  # type: ignore[operator]
    assert told(found["m.py"])[-1] == "f(2×3, 0 items)"


def test_what_compiled_code_gives_has_sizes(walks: object) -> None:
    source = """
@torch.compile
def widen(x):
    return torch.cat([x, x[:, -1:]], 1)

x = X
for _ in range(3):
    x = widen(x)
    f(x)
"""
    found = walks(source)  # type: ignore[operator]
    assert [each for each in told(found["m.py"]) if each.startswith("f(")] == ["f(2×4)", "f(2×5)", "f(2×6)"]


def test_a_forced_eager_stance_calls_nothing(walks: object) -> None:
    source = "with torch.compiler.set_stance('force_eager'):\n    f(X, 1)\nf(X, 2)\n"
    found = walks(source)  # type: ignore[operator]
    assert told(found["m.py"]) == ["f(2×3, 2)"]


def test_asking_what_a_name_is_calls_nothing(walks: object) -> None:
    source = "y, state = f(X, 1), f(X, 2)\n\ndef late():\n    return state\n\nlate()\n"
    found = walks(source)  # type: ignore[operator]
    assert [each for each in told(found["m.py"]) if each.startswith("f(")] == ["f(2×3, 1)", "f(2×3, 2)"]


def test_the_last_turn_of_a_long_loop_is_walked(walks: object) -> None:
    found = walks("rows = [torch.zeros(4)] * 11 + [torch.zeros(2)]\nfor row in rows:\n    f(row)\n")  # type: ignore[operator]
    assert [each for each in told(found["m.py"]) if each.startswith("f(")][-1] == "f(2)"


DRAWN = {
    "random.random() < 0.5": "a random flag",
    "time.perf_counter()": "a random number",
    "torch.rand(3).sum().item()": "read out of a tensor",
}


@pytest.mark.parametrize("expression", DRAWN)
def test_numbers_that_are_others_each_time(walks: object, expression: str) -> None:
    found = walks(f"for _ in range(3):\n    f(X, {expression})\n")  # type: ignore[operator]
    assert {each for each in told(found["m.py"]) if each.startswith("f(")} == {f"f(2×3, {DRAWN[expression]})"}
