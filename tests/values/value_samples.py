"""Values of every kind, to ask every operation of."""

from __future__ import annotations

from collections.abc import Iterator

from interpreted import Interpreted

from tclint.values import (
    ARRAY,
    BOOL,
    DATA_SIZED,
    FLOAT,
    INT,
    NAMED,
    NONE,
    NOWHERE,
    OWNED,
    PARAMETER,
    RAW,
    SIZE,
    STR,
    TRUE,
    UNKNOWN,
    ClassValue,
    Compiled,
    CompileSite,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Member,
    Method,
    ModuleValue,
    NamedTupleClass,
    Namespace,
    Object,
    Partial,
    Scalar,
    Seq,
    Super,
    Tensor,
    Union,
    Value,
)
from tclint.values.provided import Provided, Proviso

PROGRAM = Interpreted(
    """
    import enum


    class Base:
        def twice(self, value):
            return value * 2


    class Box(Base):
        def __init__(self, size=1):
            self.size = size

        def __len__(self):
            return 3

        def __getitem__(self, index):
            return index

        def __iter__(self):
            return iter([1, 2])

        def __add__(self, other):
            return other


    class Pair:
        first: int
        second: int


    def double(value):
        return value * 2


    class Mode(enum.Enum):
        FAST = 1


    class Kind(str, enum.Enum):
        SLOW = "slow"
    """
)
SITE = CompileSite("train.py", 3, "torch.compile(model)")
BOX = Instance(PROGRAM.cls("Box"))
DOUBLE = FunctionValue(PROGRAM.function("double"))

SAMPLES: list[Value] = [
    UNKNOWN,
    NONE,
    TRUE,
    Const(0),
    Const(-3),
    Const(1.5),
    Const("text"),
    INT,
    FLOAT,
    BOOL,
    STR,
    Scalar("str", among=("a", "b")),
    SIZE,
    Scalar("number", "data"),
    Scalar("int", "arg", ref=("n", -1)),
    Tensor(),
    Tensor(NAMED),
    Tensor(dtype="b", ndim=0),
    Tensor(dtype="f", ndim=2, flags=RAW | PARAMETER, base="x"),
    Tensor(flags=ARRAY),
    Tensor(flags=DATA_SIZED),
    Tensor(shape=(2, 3), marks=frozenset({0})),
    Tensor(flags=OWNED, site=SITE),
    Seq("list", ()),
    Seq("tuple", (Const(1), Tensor())),
    Seq("list", None, Tensor(dtype="f")),
    Seq("size", None, SIZE, "x"),
    Seq("slice", (NONE, Const(2), NONE)),
    Dict({}),
    Dict({"a": Tensor(), 1: NONE}),
    Dict({"a": Const(1)}, UNKNOWN),
    Dict({}, UNKNOWN, "kwargs"),
    BOX,
    Instance(PROGRAM.cls("Box"), "other"),
    Instance(PROGRAM.cls("Pair"), "fields", {"first": Tensor(flags=DATA_SIZED), "second": NONE}),
    ClassValue(PROGRAM.cls("Box")),
    DOUBLE,
    FunctionValue(PROGRAM.function("double"), BOX),
    ModuleValue(PROGRAM.module),
    Namespace(PROGRAM.module),
    External("torch.relu"),
    External("builtins.list"),
    NamedTupleClass(("left", "right")),
    Object("logging.Logger"),
    Object("torch.nn.Linear", kind="module"),
    Object("torch.nn.Sequential", args=Seq("list", (DOUBLE, External("torch.relu")))),
    Object("torch.compiler.disable", kind="disabled", args=DOUBLE),
    Partial(DOUBLE, (Const(1),), {}),
    Provided((Proviso("m.py", 1, None, True, "Net"),)),
    Method(Tensor(), "view"),
    Method(Seq("list", ()), "append"),
    Member(PROGRAM.cls("Mode"), "FAST", Const(1), False, NOWHERE),
    Member(PROGRAM.cls("Kind"), "SLOW", Const("slow"), True, NOWHERE),
    Super(BOX, PROGRAM.cls("Box")),
    Compiled(DOUBLE, SITE),
    Union((Tensor(), NONE)),
    Union((UNKNOWN, NONE)),
    Union((Const("a"), Seq("list", ()), BOX)),
]


def kinds() -> Iterator[type[Value]]:
    """Every kind of value there is."""
    pending = [Value]
    while pending:
        for kind in pending.pop().__subclasses__():
            if kind.__module__.startswith("tclint."):
                yield kind
                pending.append(kind)
