"""Models of libraries: what calls of theirs give."""

from __future__ import annotations

import pytest
from interpreted import Interpreted, function_of, value_of

from tclint import events
from tclint.interpreter.models import functions, tokenizers
from tclint.values import (
    ARRAY,
    BOOL,
    CONSTANT,
    DATA_SIZED,
    FALSE,
    FLOAT,
    FOLDED,
    HOST,
    INT,
    NO_GRADIENT,
    NONE,
    PARAMETER,
    SIZE,
    SPARSE,
    STR,
    STRIDED,
    TRUE,
    UNKNOWN,
    USED,
    Const,
    Dict,
    External,
    Instance,
    Method,
    Object,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Value,
)


def tensor(value: Value) -> Tensor:
    assert isinstance(value, Tensor), value
    return value


# --- builtins and the standard library --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("len((1, 2))", Const(2)),
        ("len('abc')", Const(3)),
        ("len([1, 2])", INT),
        ("len(x)", Scalar("int", "size")),
        ("len(u)", INT),
        ("range(3)", Seq("range", (Const(0), Const(1), Const(2)))),
        ("range(n)", Seq("range", None, INT, "arg")),
        ("range(0, 9, 0)", Seq("range", None, INT)),
        ("int('7')", Const(7)),
        ("int('seven')", INT),
        ("int(x)", Scalar("int", "data")),
        ("str(x)", Scalar("str", "tensor")),
        ("float(x.shape[0])", Scalar("float", "size", ref=("x", 0))),
        ("bool([])", BOOL),
        ("list((1, 2))", Seq("list", (Const(1), Const(2)))),
        ("tuple(x.shape)", Seq("tuple", None, SIZE, "x")),
        ("dict(a=1)", Dict({"a": Const(1)})),
        ("list(zip((1, 2), 'ab'))", Seq("list", None, Seq("tuple", (INT, UNKNOWN)))),
        (
            "list(zip((1, 2), (3, 4)))",
            Seq("list", (Seq("tuple", (Const(1), Const(3))), Seq("tuple", (Const(2), Const(4))))),
        ),
        ("list(enumerate(('a',), 5))", Seq("list", (Seq("tuple", (Const(5), Const("a"))),))),
        ("abs(-2)", Const(2)),
        ("max(1, 2)", INT),
        ("sum([n, n])", Scalar("int", "arg", ref=("n", -2))),
        ("isinstance(x, torch.Tensor)", TRUE),
        ("isinstance(x, (list, tuple))", FALSE),
        ("getattr(x, 'shape')", Seq("size", None, SIZE, "x")),
        ("list(map(len, ('a', 'bc')))", Seq("list", None, INT)),
        ("next(iter([1]), None)", Const(1)),
        ("next((i for i in (2, 3)), None)", Const(2)),
        ("divmod(7, 2)", Seq("tuple", (Const(3), Const(1)))),
        ("type(x)", External("torch.Tensor")),
        ("print(x)", NONE),
        ("'a,b'.split(',')", Seq("list", None, STR)),
        ("'abc'.startswith('ab')", TRUE),
        ("'{}'.format(x)", Scalar("str", "tensor")),
        ("math.ceil(x.shape[0] / 2)", Scalar("int", "size")),
        ("math.sqrt(x.item())", Scalar("float", "data")),
        ("math.isnan(u)", BOOL),
        ("random.randint(0, 9)", Scalar("int", "drawn")),
        ("logging.getLogger('a')", Object("logging.Logger")),
        ("copy.copy(3)", Const(3)),
        ("partial(max, 1)", Partial(External("builtins.max"), (Const(1),), {})),
        ("partial(max, 1)(2)", INT),
        ("__import__('functools')", UNKNOWN),
    ],
)
def test_python(expression: str, value: Value) -> None:
    assert value_of(expression).key == value.key


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("isinstance(x, numbers.Integral)", FALSE),
        ("isinstance(n, numbers.Integral)", TRUE),
        ("isinstance(t, numbers.Integral)", FALSE),
        ("isinstance(flag, int)", TRUE),
        ("isinstance(1.5, numbers.Real)", TRUE),
        ("type(x) is int", FALSE),
        ("type(x) not in (int, list)", TRUE),
        ("type(x) is torch.Tensor", BOOL),
        ("type(n) in [int, float]", TRUE),
        ("type(flag) == int", BOOL),
        ("type(u) is int", BOOL),
    ],
)
def test_what_is_asked_for_its_type(expression: str, value: Value) -> None:
    assert value_of(expression, before="import numbers\n").key == value.key


def test_the_length_of_an_object_is_what_it_says() -> None:
    assert value_of("len(Box())", before="class Box:\n    def __len__(self):\n        return 3\n").key == Const(3).key


def test_setattr_is_a_store() -> None:
    program = function_of("1", "setattr(u, 'name', 3)")
    program.returned()
    (store,) = program.told(events.Store)
    assert (store.target, store.name) == ("attribute", "name")


# --- torch ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "dtype", "ndim", "flags"),
    [
        ("torch.zeros(2, 3)", "f", 2, HOST | CONSTANT | NO_GRADIENT),
        ("torch.zeros((2, 3), device=u)", "f", 2, CONSTANT | NO_GRADIENT),
        ("torch.arange(n)", "i", 1, HOST | CONSTANT | NO_GRADIENT),
        ("torch.arange(0., 1.)", "f", 1, HOST | CONSTANT | NO_GRADIENT),
        ("torch.tensor([1, 2])", "i", 1, HOST | CONSTANT | NO_GRADIENT),
        ("torch.tensor(2.5)", "f", 0, HOST | CONSTANT | FOLDED | NO_GRADIENT),
        ("torch.full((2,), True)", "b", 1, HOST | CONSTANT | NO_GRADIENT),
        ("torch.randn(3, dtype=torch.int64)", "i", 1, HOST | NO_GRADIENT),
        ("torch.zeros_like(mask)", "b", -1, 0),
        ("x.sum()", "", 0, 0),
        ("mask.sum()", "i", 0, 0),
        ("(x > 0).any()", "b", 0, 0),
        ("x.argmax(-1)", "i", -1, 0),
        ("x.float()", "f", -1, 0),
        ("x.masked_select(mask)", "", 1, DATA_SIZED),
        ("x[x > 0]", "", -1, DATA_SIZED),
        ("torch.repeat_interleave(x, dim=1, repeats=n)", "", -1, 0),
        ("torch.repeat_interleave(x, repeats=u, dim=1)", "", -1, 0),
        ("x.repeat_interleave(repeats=n, dim=1)", "", -1, 0),
        ("torch.repeat_interleave(x, repeats=x.long())", "", -1, DATA_SIZED),
        ("torch.softmax(x, -1)", "f", -1, 0),
        ("torch.sparse_coo_tensor(u, u)", "", -1, SPARSE),
        ("nn.Parameter(torch.zeros(2))", "", -1, PARAMETER),
        ("np.array([1.5])", "", -1, ARRAY | HOST),
        ("nn.Linear(2, 2)(x)", "f", -1, 0),
        ("nn.MSELoss()(x, x)", "f", 0, 0),
        ("F.relu(x)", "", -1, 0),
        ("torch.vmap(lambda a: a > 0)(x)", "b", -1, 0),
    ],
)
def test_tensors(expression: str, dtype: str, ndim: int, flags: int) -> None:
    made = tensor(value_of(expression))
    assert (made.dtype, made.ndim, made.flags) == (dtype, ndim, flags)


@pytest.mark.parametrize(
    ("expression", "ndim"),
    [
        ("rearrange(x, 'b (h w) c -> b c h w', h=2)", 4),
        ("rearrange(nothing_known(), '... c -> ... c 1')", -1),
        ("repeat(x, 'b c -> b c d', d=2)", 3),
        ("reduce(x, 'b c -> b', 'max')", 1),
        ("einops.einsum(x, x, 'b c, b d -> c d')", 2),
        ("rearrange([x, x], 'n b c -> b n c')", 3),
        ("pack([x], 'b *')[0]", -1),
        ("unpack(x, [(2,)], 'b *')[0]", -1),
        ("Rearrange('b c -> (b c)')(x)", 1),
    ],
)
def test_patterns_of_einops(expression: str, ndim: int) -> None:
    """A tensor with the axes that the pattern writes, whatever is taken apart by it: asked under torch 2.11 and 2.13."""
    imports = "import einops\nfrom einops import pack, rearrange, reduce, repeat, unpack\n"
    before = f"{imports}from einops.layers.torch import Rearrange\nfrom elsewhere import nothing_known\n"
    made = tensor(value_of(expression, before=before))
    assert made.ndim == ndim
    assert made.conf >= USED


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("x.shape", Seq("size", None, SIZE, "x")),
        ("x.size(1)", Scalar("int", "size", ref=("x", 1))),
        ("x.ndim", SIZE),
        ("x.numel()", SIZE),
        ("x.item()", Scalar("number", "data")),
        ("mask.any().item()", Scalar("bool", "data")),
        ("x.tolist()", Seq("list", None, Scalar("number", "data"), "size")),
        ("torch.equal(x, x)", Scalar("bool", "data")),
        ("x.is_cuda", BOOL),
        ("x.dtype", External("torch.dtype()")),
        ("torch.compiler.is_compiling()", TRUE),
        ("torch.jit.is_scripting()", FALSE),
        ("torch.is_tensor(x)", TRUE),
        ("torch.is_tensor([x])", FALSE),
        ("torch.no_such_function(x)", UNKNOWN),
        ("x.no_such_method()", UNKNOWN),
        ("torch.cond(u, u, u)", UNKNOWN),
        ("nn.Linear(2, 3)", Object("torch.nn.Linear", kind="module")),
        ("nn.Linear(2, 3).in_features", INT),
        ("nn.Linear(2, 3).eval()", Object("torch.nn.Linear", kind="module")),
        ("nn.ModuleList([nn.ReLU()])[0]", Object("torch.nn.ReLU", kind="module")),
        ("nn.DataParallel(u)", UNKNOWN),
        (
            "torch.compiler.disable(len)",
            Object("torch.compiler.disable", kind="disabled", args=External("builtins.len")),
        ),
        ("torch.jit.ignore(len)", External("builtins.len")),
        ("torch.jit.load('m.pt')", Object("torch.jit.ScriptModule")),
        ("torch.Generator().manual_seed(3)", Object("torch.Generator")),
        ("np.sqrt(4.0)", FLOAT),
    ],
)
def test_torch(expression: str, value: Value) -> None:
    assert value_of(expression).key == value.key


def test_nothing_is_traced_for_jit_while_compiling() -> None:
    assert value_of("torchvision._is_tracing()", before="import torchvision\n").key == NONE.key
    assert value_of("torchvision._is_tracing()", before="import torchvision\n", compiled=False).key == BOOL.key


def test_while_compiling_is_a_question_in_eager_code() -> None:
    assert value_of("torch.compiler.is_compiling()", compiled=False).key == BOOL.key


def test_views_share_storage_and_copies_do_not() -> None:
    assert tensor(value_of("x.view(-1)")).base == "x"
    assert tensor(value_of("x[0]")).base == "x"
    assert tensor(value_of("x.transpose(0, 1)")).flags & STRIDED
    assert tensor(value_of("x + 1")).base == ""
    assert tensor(value_of("x.clone()")).base == ""
    assert tensor(value_of("x.transpose(0, 1).contiguous()")).base == ""


def test_max_along_a_dimension_gives_values_and_indices() -> None:
    pair = value_of("x.max(dim=1)")
    assert isinstance(pair, Seq)
    assert pair.items is not None
    assert [tensor(item).dtype for item in pair.items] == ["", "i"]
    assert tensor(value_of("x.max(dim=1).indices")).dtype == "i"


def test_a_sequential_runs_its_modules_in_order() -> None:
    before = "def double(a):\n    return (a, a)\n\n\ndef second(pair):\n    return 's'\n"
    assert value_of("nn.Sequential(double, second)(x)", before=before).key == Const("s").key


def test_a_disabled_function_runs_only_in_eager_code() -> None:
    before = "@torch.compiler.disable\ndef g():\n    return 3\n"
    assert value_of("g()", before=before) is UNKNOWN
    assert value_of("g()", before=before, compiled=False).key == Const(3).key


@pytest.mark.parametrize(
    "wrapper", ["torch.compiler.disable", "torch.compiler.allow_in_graph", "torch.library.custom_op('a::b')"]
)
def test_what_dynamo_does_not_look_into_gives_what_its_annotation_says(wrapper: str) -> None:
    before = f"@{wrapper}\ndef g(a){{}}:\n    return {{}}\n"
    assert value_of("g(x)", before=before.format(" -> int", "a.item()")).key == INT.key
    assert tensor(value_of("g(x)", before=before.format(" -> torch.Tensor", "unheard_of(a)"))).flags == 0
    assert value_of("g(x)", before=before.format("", "a.item()")) is UNKNOWN
    assert value_of("g(x)", before=before.format("", "[a.item(), 3]")) is UNKNOWN


def test_what_is_put_into_the_graph_gives_tensors() -> None:
    made = value_of("g(x)", before="@torch.compiler.allow_in_graph\ndef g(a):\n    return a[a > 0]\n")
    assert tensor(made).flags == 0


def test_a_checkpointed_function_is_a_graph_of_its_own() -> None:
    before = "from torch.utils.checkpoint import checkpoint\n\n\ndef g(a):\n    return a.item()\n"
    program = function_of("checkpoint(g, x)", before=before)
    assert program.returned().key == Scalar("number", "data").key
    assert {e.inside for e in program.told(events.Call) if e.name == "Tensor.item"} == {
        "torch.utils.checkpoint.checkpoint"
    }


def test_marks_stay_on_the_tensor() -> None:
    setup = "y = torch.zeros(2, 3)\nz = y\ntorch._dynamo.mark_dynamic(y, (0, 1))"
    marked = tensor(value_of("z", setup, compiled=False))
    assert marked.marks == {0, 1}
    assert tensor(value_of("z", setup)).marks == frozenset()


def test_autograd_functions_run_their_forward() -> None:
    before = """
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return (a, 2)
    """
    result = value_of("Twice.apply(x)", before=before)
    assert isinstance(result, Seq)
    assert result.items is not None
    assert result.items[1].key == Const(2).key


MODEL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.layers = nn.ModuleList()
        self.layers.append(nn.ReLU())
        self.register_buffer("mask", torch.zeros(2))

    def forward(self, x):
        return self.layers[0](self.fc(x))
"""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("Net().layers[0]", Object("torch.nn.ReLU", kind="module")),
        ("Net().training", BOOL),
        ("Net().state_dict", Method(Instance(Interpreted(MODEL).cls("Net"), ()), "state_dict")),
        ("[name for name, _ in Net().named_parameters()]", Seq("list", None, STR)),
    ],
)
def test_modules_of_the_program(expression: str, value: Value) -> None:
    assert value_of(expression, before=MODEL).key == value.key


def test_what_modules_hold_and_give() -> None:
    assert tensor(value_of("Net().mask", before=MODEL)).flags & PARAMETER
    assert tensor(value_of("Net()(x)", before=MODEL)).dtype == "f"
    assert isinstance(value_of("Net().eval().to('cuda')", before=MODEL), Instance)


# --- libraries without a model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("transformers.AutoTokenizer", True),
        ("transformers.AutoTokenizer.from_pretrained", True),
        ("transformers.AutoModel.from_pretrained", False),
        ("lib.get_tokenizer", True),
        ("lib.tokenize", False),
    ],
)
def test_tokenizers_by_name(name: str, made: bool) -> None:
    assert tokenizers.made_by(name) is made


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("lib.Config(1)", Object("lib.Config")),
        ("lib.load(1)", UNKNOWN),
        ("lib.AutoTokenizer.from_pretrained('a')", Object("tokenizer")),
        ("lib.AutoTokenizer.from_pretrained('a').encode", Method(Object("tokenizer"), "encode")),
        ("datetime.datetime.now()", Object("datetime.datetime.now")),
    ],
)
def test_unknown_libraries(expression: str, value: Value) -> None:
    assert value_of(expression, before="import datetime, lib\n").key == value.key


@pytest.mark.parametrize(
    ("expression", "dtype", "ndim", "flags"),
    [
        ("xp.astype(x, xp.int64)", "i", -1, 0),
        ("xp.permute_dims(mask, (1, 0))", "b", -1, 0),
        ("xp.max(xp.zeros((2, 3)), axis=-1)", "f", -1, 0),
        ("xp.sum(x > 0)", "i", 0, 0),
        ("xp.unique_values(x)", "", 1, DATA_SIZED),
        ("x if arrays.is_torch_array(x) else n", "", -1, 0),
        ("n if arrays.is_jax_array(x) else x", "", -1, 0),
        ("x if xp.__name__ == 'array_api_compat.torch' else n", "", -1, 0),
    ],
)
def test_the_array_api_of_a_tensor_is_torch(expression: str, dtype: str, ndim: int, flags: int) -> None:
    """Asked with array_api_compat 1.13 under torch 2.13, which traces all of it."""
    made = tensor(value_of(expression, "xp = arrays.array_namespace(x)", "import array_api_compat as arrays\n"))
    assert (made.dtype, made.ndim, made.flags & DATA_SIZED) == (dtype, ndim, flags)


def test_the_array_api_of_what_is_not_known() -> None:
    before = "import array_api_compat as arrays\n"
    assert value_of("arrays.array_namespace(u)", before=before) is UNKNOWN
    assert value_of("arrays.array_namespace(np.zeros(2))", before=before) is UNKNOWN
    assert value_of("arrays.is_torch_array(u)", before=before).key == BOOL.key
    assert value_of("arrays.is_array_api_obj(n)", before=before).key == FALSE.key
    assert value_of("arrays.size(x)", before=before).key == SIZE.key


def test_a_library_is_asked_for_all_of_its_names() -> None:
    seen: list[str] = []

    def answer(frame: object, node: object, name: str, *rest: object) -> Value:
        seen.append(name)
        return INT

    functions.library(["invented"], answer)
    try:
        assert value_of("invented.a.b(1) + invented.c()", before="import invented\n").key == INT.key
    finally:
        del functions._LIBRARIES["invented"]
    assert seen == ["invented.a.b", "invented.c"]


def test_a_flag_is_no_tensor_that_another_function_is_called_with() -> None:
    """`net(x, sigma)` where `net` may be one of several: an annotation `bool` says which of them the call is not for."""
    before = "def g(a, flag: bool = False):\n    return flag\n"
    assert value_of("g(x, x.float())", before=before).key == BOOL.key
    assert tensor(value_of("g(x, x > 0)", before=before)).dtype == "b"
