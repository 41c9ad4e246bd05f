"""What is asked about: every public callable and attribute, with the ways to try of calling it.

A fact's key is a dotted name for a call (`torch.sin`, `math.sqrt`, `builtins.len`), `kind#name` for a method
(`tensor#item`, `ndarray#cumsum`, `torch.nn.Linear#__call__`) and `kind@name` for an attribute (`tensor@shape`). A kind that
is not of Python, torch or numpy themselves is the full name of its class.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import re
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import calls
import recipes
import torch
from operations import OPERATIONS
from python_types import PYTHON
from special import SPECIAL
from written import FIXED as WRITTEN

FIXED = WRITTEN | OPERATIONS | SPECIAL | PYTHON

TORCH_MODULES = """
torch torch.amp torch.autograd torch.autograd.forward_ad torch.autograd.functional torch.autograd.graph torch.backends.cuda
torch.backends.cudnn torch.backends.mkldnn torch.backends.mps torch.backends.mkl torch.backends.openmp torch.compiler torch._dynamo
torch.cpu torch.cuda torch.cuda.amp torch.cuda.nvtx torch.cuda.random torch.distributed torch.distributions torch.fft torch.func
torch.linalg torch.mps torch.nested torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn
torch.nn.utils.parametrize torch.nn.utils.parametrizations torch.nn.utils.prune torch.nn.utils.stateless torch.nn.attention torch.overrides
torch.random torch.signal.windows torch.sparse torch.special torch.utils torch.utils._pytree torch.utils.checkpoint torch.utils.data
torch.utils.dlpack torch.masked
""".split()
#: Modules whose callables are pure enough to be called with arguments at random.
PLAIN_MODULES = """
builtins math cmath operator itertools statistics bisect heapq copy string random textwrap numpy numpy.random numpy.linalg
numpy.fft einops
""".split()
#: Never called with arguments at random: they wait, write files, or end the process.
UNTOUCHED = re.compile(
    r"""builtins\.(breakpoint|exit|quit|input|open|exec|eval|compile|help|copyright|credits|license|__\w+|print)$
    |random\.SystemRandom|numpy\.(\w*save\w*|\w*load\w*|fromfile|memmap|test|show_\w+|info|lookfor|source|genfromtxt|fromregex|DataSource|get_include|\w*printoptions)$
    |.*[#.](tofile|dump|dumps|share_memory_|_\w*|register_hook|register_post\w*|module_load|cuda|xpu|ipu|hpu|mtia|pin_memory|record_stream)$
    |tensor\#(set_|storage|resize\w*|reinforce|is_shared)$""",
    re.VERBOSE,
)
#: Kind of object -> expressions that make one.
RECEIVERS: dict[str, list[str]] = {
    "tensor": list(recipes.RECEIVERS),
    "ndarray": ["g", "gi"],
    "str": ["'abc'", "'a b'"],
    "bytes": ["b'ab'"],
    "int": ["k"],
    "float": ["f"],
    "complex": ["(1 + 2j)"],
    "list": ["[3, 1, 2]", "['a', 'b']"],
    "tuple": ["(1, 2)"],
    "dict": ["{'a': 1}"],
    "set": ["{1, 2}"],
    "range": ["range(3)"],
    "size": ["x.shape"],
    "dtype": ["x.dtype"],
    "device": ["x.device"],
    "module": ["linear", "sequential"],
    "scalar": ["numpy.float64(1.5)"],
    "numpy.dtype": ["g.dtype"],
    "numpy.random._generator.Generator": ["rng"],
    "numpy.random.mtrand.RandomState": ["random_state"],
    "random.Random": ["generator"],
    "torch._C.Generator": ["torch_generator"],
    "torch.finfo": ["torch.finfo(torch.float32)"],
    "torch.iinfo": ["torch.iinfo(torch.int64)"],
    "collections.deque": ["collections.deque([1, 2])"],
    "collections.Counter": ["collections.Counter([1, 2])"],
    "collections.OrderedDict": ["collections.OrderedDict(a=1)"],
    "collections.defaultdict": ["collections.defaultdict(list)"],
    "re.Pattern": ["pattern"],
    "re.Match": ["pattern.match('a')"],
    "logging.Logger": ["logger"],
    "datetime.datetime": ["clock"],
    "datetime.timedelta": ["datetime.timedelta(1)"],
    "decimal.Decimal": ["decimal.Decimal('1.5')"],
    "fractions.Fraction": ["fractions.Fraction(1, 2)"],
    "torch.distributions.normal.Normal": ["torch.distributions.Normal(x, x)"],
    "torch.distributions.categorical.Categorical": ["torch.distributions.Categorical(x)"],
    "torch.distributions.bernoulli.Bernoulli": ["torch.distributions.Bernoulli(x)"],
    "torch.nn.utils.rnn.PackedSequence": ["packed"],
    "torch.nn.parameter.Parameter": ["linear.weight"],
    "inspect.Signature": ["signature"],
}
MORE = """
sequential = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
rng, random_state = numpy.random.default_rng(0), numpy.random.RandomState(0)
torch_generator = torch.Generator()
packed = torch.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 8), torch.tensor([3, 2]), batch_first=True)
signature = inspect.signature(helper)
F, nn = torch.nn.functional, torch.nn
transformer = torch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
ctc = torch.nn.CTCLoss()
GLOBAL_LIST, GLOBAL_DICT = [1, 2], {"a": 1}
weak_keys = weakref.WeakKeyDictionary({linear: 3})
scripted = torch.jit.script(add_one)
plain_reference, one_day = weakref.ref(plain), datetime.timedelta(1)
some_date, some_time = datetime.date(2020, 1, 2), datetime.time(12, 30)
one_half = decimal.Decimal("0.5")
mapping_proxy = types.MappingProxyType({"a": 1})
"""
CONSTRUCTORS = recipes.recipes(
    """- | 4 | 4, 4 | 8, 4 | 3 | 3, 4, 3 | 2, 3, 2 | 2 | 3, 3 | 8, 2 | 8, 2, 16 | (4,) | 1, 3 | 1, 1 | 0.5 | 10, 4 | 4, 4, 4 | 4, 4, 2 |
    -0.5, 0.5 | 0.1, 20.0 | 1 | (2, 2) | 2, 2 | 1, (2, 2) | (4, 4), 2 | (3, 2, 2) | [torch.nn.ReLU()] | torch.nn.ReLU() | {'a': torch.nn.ReLU()} | 4, 2 |
    torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1 | torch.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 1 |
    8, 10, [2, 4] | 2.0 | 1, (4, 4) | 4, (1, 4)"""
)
MODULE_INPUTS = recipes.recipes(
    "x | img | seq | vol | v | n | x, x | x, iv | iv, x | seq, seq | seq, seq, seq | x, x, x | x, x, v.sign() | x, n | x, x.abs() | x, x, x.abs() | iv, iv | img[:, :1] | img, img | v, v, v | x, n.float() | img.reshape(1, 12, 4, 4)"
)
METHOD_OF = {
    "datetime.datetime",
    "logging.Logger",
    "re.Pattern",
    "re.Match",
    "random.Random",
    "collections.Counter",
    "collections.deque",
}
METHOD_OF |= {"collections.OrderedDict", "str", "bytes", "int", "float", "list", "tuple", "dict", "set"}
METHOD_OF |= {"concurrent.futures.ThreadPoolExecutor", "concurrent.futures.Future", "random.SystemRandom"}
METHOD_OF |= {"torch.amp.GradScaler", "torch.optim.lr_scheduler.StepLR", "torch.nn.AdaptiveLogSoftmaxWithLoss"}
METHOD_OF |= {"torch.optim.Optimizer"}
RENAMED = {"pathlib.Path": "pathlib.PosixPath", "threading.Lock": "_thread.lock", "threading.Event": "threading.Event"}
RENAMED |= {"queue.Queue": "queue.Queue", "io.StringIO": "_io.StringIO", "frozenset": "set"}
RENAMED |= {"contextvars.ContextVar": "_contextvars.ContextVar", "string.Formatter": "string.Formatter"}


@dataclass(frozen=True)
class Item:
    """A key, and expressions to try, simplest first; `enough` successes are kept."""

    key: str
    sources: tuple[str, ...]
    enough: int = 6
    #: Names that the expressions need, and how to make them.
    setup: dict[str, str] = field(default_factory=dict, hash=False)
    #: So many of the sources were written by hand: each that works is kept, however alike.
    hands: int = 0


def add_one(a: torch.Tensor) -> torch.Tensor:
    """For torch.jit.script, which wants a source file."""
    return a + 1


def namespace() -> dict[str, Any]:
    """What every program may name besides its arguments."""
    home = sys.modules["asked"] = types.ModuleType("asked")
    space: dict[str, Any] = home.__dict__
    space |= {"torch": torch, "add_one": add_one}
    warnings.simplefilter("ignore")
    exec(calls.PRELUDE.replace('Path("/tmp")', 'Path("/tmp/none")'), space)
    exec(MORE, space)
    for name in ("einops", "cmath", "statistics"):
        try:
            space[name] = importlib.import_module(name)
        except ImportError:
            continue
    for name in TORCH_MODULES:
        try:
            importlib.import_module(name)
        except Exception:
            continue
    return space


def objects() -> dict[str, Any]:
    """Fresh ones of the objects that a call may change for the calls after it."""
    logger = logging.Logger("fresh")
    logger.addHandler(logging.NullHandler())
    linear = torch.nn.Linear(4, 4)
    return {
        "logger": logger,
        "linear": linear,
        "sequential": torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()),
        "sgd": torch.optim.SGD(linear.parameters(), lr=0.1),
        "adamw": torch.optim.AdamW(linear.parameters(), lr=0.1),
    }


def members(module_name: str) -> Iterator[str]:
    """The callables of a module; those with a leading underscore too in torch.nn.functional, checks in torch."""
    try:
        module = importlib.import_module(module_name)
    except Exception:
        return
    exported = set(getattr(module, "__all__", ()))
    torchy = module_name.startswith("torch")
    for name in sorted(set(dir(module)) | exported):
        private = name.startswith("_")
        if private and not (
            (
                module_name == "torch"
                and re.match(
                    r"_(check|assert|foreach|weight_norm|shape_as|dim_arange|scaled|log_softmax|softmax)", name
                )
            )
            or (module_name == "torch.nn.functional" and not name.startswith("__"))
        ):
            continue
        try:
            value = getattr(module, name)
        except Exception:
            continue
        if isinstance(value, types.ModuleType) or not callable(value) or hasattr(value, "__origin__"):
            continue
        if isinstance(value, type) and (
            issubclass(value, BaseException) or torchy and not is_asked_class(module_name, value)
        ):
            continue
        home = getattr(value, "__module__", None) or module_name
        if torchy and name not in exported and not home.startswith(("torch", "builtins")):
            continue
        if torchy and module_name != "torch" and name not in exported:
            if not home.startswith(
                (module_name.rsplit(".", 1)[0] if module_name.count(".") > 1 else module_name, "torch._C")
            ):
                continue
        yield name


def is_asked_class(module_name: str, cls: type) -> bool:
    return module_name == "torch.distributions" or (
        module_name == "torch" and cls.__name__ in ("Size", "Tensor", "device")
    )


def functions() -> Iterator[Item]:
    for module_name in TORCH_MODULES:
        for name in members(module_name):
            key = f"{module_name}.{name}"
            if key in FIXED or recipes.NEVER_CALLED.match(key):
                continue
            yield Item(key, tuple(f"{key}({r})" for r in recipes.FUNCTIONS), 5)
    for key in ("torch.nn.functional._Reduction.get_enum", "torch.nn.functional._Reduction.legacy_get_string"):
        yield Item(key, tuple(f"{key}({a})" for a in ("'mean'", "True, True")))
    for module_name in PLAIN_MODULES:
        for name in members(module_name):
            key = f"{module_name}.{name}"
            if UNTOUCHED.match(key):
                continue
            spelt = name if module_name == "builtins" else key
            yield Item(key, tuple(f"{spelt}({r})" for r in recipes.PLAIN), 7)


def methods(space: dict[str, Any]) -> Iterator[Item]:
    import inputs
    from observe import given

    values = given(0, inputs.PARAMETERS)
    for kind, receivers in RECEIVERS.items():
        try:
            sample = eval(receivers[0], {**space, **values})
        except Exception:
            continue
        ways = recipes.METHODS if kind in ("tensor", "size") or kind.startswith("torch.d") else recipes.PLAIN
        if kind in ("module", "torch.nn.parameter.Parameter"):
            ways = [
                *recipes.METHODS[:12],
                "'weight'",
                "''",
                "lambda *a: None",
                "torch.float32",
                "{}",
                "'weight', None",
                "mode=False",
            ]
        hidden = set(dir(torch.Tensor)) if kind == "torch.nn.parameter.Parameter" else set()
        for name in sorted(dir(type(sample)) + (["weight"] if kind == "module" else [])):
            if name.startswith("_") or name in hidden or f"{kind}#{name}" in FIXED:
                continue
            if UNTOUCHED.match(f"{kind}#{name}"):
                continue
            static = inspect.getattr_static(type(sample), name, None)
            try:
                is_call = callable(getattr(sample, name))
            except Exception:
                is_call = callable(static)
            if not is_call:
                yield Item(f"{kind}@{name}", tuple(f"{receiver}.{name}" for receiver in receivers), 3)
            else:
                first = tuple(f"{receivers[0]}.{name}({r})" for r in ways)
                rest = tuple(f"{receiver}.{name}({r})" for receiver in receivers[1:] for r in ways[:12])
                yield Item(f"{kind}#{name}", first + rest, 6 if kind == "tensor" else 4)


def exact(space: dict[str, Any]) -> Iterator[Item]:
    """What is written out by hand."""
    for name, ways in FIXED.items():
        kind, _, method = name.rpartition("#") if "#" in name else name.rpartition(".")
        if name.startswith("Tensor."):
            pairs = (way.rsplit(".", 1) if way.endswith(".") else way.split(".", 1) for way in ways)
            yield Item(f"tensor#{method}", tuple(f"{r}.{method}({a})" for r, a in pairs), 14, hands=99)
            continue
        key = f"module#{method}" if kind == "torch.nn.Module" else f"{kind}#__call__" if method == "forward" else name
        if kind.startswith("torch.optim"):
            key = f"{kind}#{method}"
        sources = [way[1:] if way[:1] == "=" else f"{name}({way})" for way in ways]
        if key == name and "#" not in name:
            spelt = name.removeprefix("builtins.")
            sources = [s for s in sources if f"{spelt}(" in s]
        if sources:
            yield Item(key, tuple(sources), 14, hands=99)
    by_key: dict[str, list[str]] = {}
    for name, source, method_like in split_calls(calls.CALLS):
        owner, _, last = name.rpartition(".")
        if method_like and (owner in METHOD_OF or owner in RENAMED):
            key = f"{RENAMED.get(owner, owner)}#{last}"
        elif method_like:
            key = name if source.startswith(f"{name}(") else ""
        else:
            key = name if "." in name else f"builtins.{name}"
        if key and not key.endswith("__getitem__"):
            by_key.setdefault(key, []).append(source)
    for key, sources in by_key.items():
        yield Item(key, tuple(sources), 14, hands=99)


def modules() -> Iterator[Item]:
    """The classes of torch.nn: made inside a region, and called as objects made outside."""
    number = 0
    for name in sorted(dir(torch.nn)):
        cls = getattr(torch.nn, name)
        if not (isinstance(cls, type) and issubclass(cls, torch.nn.Module)) or name in (
            "Module",
            "DataParallel",
            "Container",
        ):
            continue
        yield Item(f"torch.nn.{name}", tuple(f"torch.nn.{name}({c})" for c in CONSTRUCTORS), 1)
        setup, sources = {}, []
        for arguments in CONSTRUCTORS:
            number += 1
            setup[f"m{number}"] = f"torch.nn.{name}({arguments})"
            sources += [f"m{number}({given})" for given in MODULE_INPUTS]
        yield Item(f"torch.nn.{name}#__call__", tuple(sources), 3, setup)


def split_calls(text: str) -> Iterator[tuple[str, str, bool]]:
    """(name, expression, whether the name was given), separated by white space outside brackets and quotes."""
    depth, quote, piece = 0, "", ""
    for char in text + "\n":
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if not char.isspace() or depth or quote:
            piece += char
            continue
        if piece:
            name, given, expression = piece.partition(":=")
            if not given:
                expression, name = piece, re.split(r"[(\[]", piece, maxsplit=1)[0]
                name += ".__getitem__" if piece[len(name)] == "[" else ""
            yield re.sub(r"^np\.", "numpy.", name), re.sub(r"\bnp\.", "numpy.", expression), bool(given)
        piece = ""


def everything(space: dict[str, Any]) -> Iterator[Item]:
    """Every item, what is written by hand first."""
    yield from exact(space)
    yield from functions()
    yield from methods(space)
    yield from modules()
