"""Containers, itertools, dataclasses, enums, layers. Each function without a leading underscore is a program: benchmarks/probes.py."""

import torch, types, inspect, collections, contextlib, dataclasses, enum, functools, copy, typing, operator, itertools, string
import numpy as np
from torch import nn
import torch.nn.functional as F
from types import SimpleNamespace


class Cfg:
    def __init__(self):
        self.a = 1


class Slots:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class IColor(enum.IntEnum):
    RED = 1


@dataclasses.dataclass
class DC:
    a: torch.Tensor
    b: int = 1


@dataclasses.dataclass(frozen=True)
class FDC:
    a: torch.Tensor
    b: int = 1


class NT(typing.NamedTuple):
    a: torch.Tensor
    b: int = 1


class TD(typing.TypedDict):
    a: torch.Tensor


CFG = Cfg()
NS = SimpleNamespace(a=2)


def ns_global(x):
    return x + NS.a


def ns_make(x):
    n = SimpleNamespace(a=1)
    return x + n.a


def ns_tensor(x):
    n = SimpleNamespace(a=x)
    return n.a + 1


def slots(x):
    return Slots(x).v + 1


def enum_cmp(x):
    return x + 1 if Color.RED == Color.BLUE else x


def enum_name(x):
    return x + len(Color.RED.name)


def enum_value(x):
    return x + Color.RED.value


def enum_call(x):
    return x + Color(1).value


def enum_iter(x):
    return x + len(list(Color))


def enum_getitem(x):
    return x + Color["RED"].value


def ienum(x):
    return x + IColor.RED


def dc_new(x):
    return DC(x).a + 1


def fdc_new(x):
    return FDC(x).a + 1


def dc_fields(x):
    return x + len(dataclasses.fields(DC))


def dc_asdict(x):
    return dataclasses.asdict(DC(x))["a"]


def dc_astuple(x):
    return dataclasses.astuple(DC(x))[0]


def dc_replace(x):
    return dataclasses.replace(DC(x), b=2).a


def nt_new(x):
    return NT(x).a + 1


def nt_asdict(x):
    return NT(x)._asdict()["a"]


def nt_replace(x):
    return NT(x)._replace(b=2).a


def td_new(x):
    return TD(a=x)["a"]


def copy_list(x):
    return copy.copy([x])[0]


def copy_dict(x):
    return copy.copy({"a": x})["a"]


def deepcopy_list(x):
    return copy.deepcopy([1, 2])[0] + x


def deepcopy_dict(x):
    return copy.deepcopy({"a": 1})["a"] + x


def deepcopy_tensor(x):
    return copy.deepcopy(x.detach()) + 1


def copy_obj(x):
    c = copy.copy(CFG)
    return x + c.a


def deepcopy_obj(x):
    c = copy.deepcopy(CFG)
    return x + c.a


def insp_isfunction(x):
    return x + 1 if inspect.isfunction(len) else x


def insp_sig_user(x):
    return x + len(inspect.signature(dc_new).parameters)


def insp_stack(x):
    s = inspect.stack()
    return x + 1


def insp_frame(x):
    s = inspect.currentframe()
    return x + 1


def insp_class(x):
    return x + 1 if inspect.isclass(Cfg) else x


def insp_argspec(x):
    return x + len(inspect.getfullargspec(dc_new).args)


def insp_source(x):
    return x + len(inspect.getsource(dc_new)) * 0


def callable_fn(x):
    return x + 1 if callable(F.relu) else x


def callable_obj(x):
    return x + 1 if callable(CFG) else x


def callable_mod(x):
    return x + 1 if callable(M) else x


M = nn.Linear(8, 8)


def in_if(x):
    if 1 in x:
        return x + 1
    return x


def in_two(x):
    y = x * 2
    return x + 1 if x in [y] else x


def not_in_two(x):
    y = x * 2
    return x + 1 if x not in (y, 1) else x


def set_lit(x):
    s = {x, x + 1}
    return x


def set_call(x):
    s = set([x, x + 1])
    return x


def set_add(x):
    s = set()
    s.add(x)
    return x + len(s)


def set_in(x):
    s = {x}
    return x + 1 if x in s else x


def set_iter(x):
    return sum(t for t in {x, x * 2})


def set_ret(x):
    return {x, x * 2}


def dict_key_t(x):
    d = {x: 1}
    return d[x] + x


def exit_null(x):
    with contextlib.ExitStack() as st:
        st.enter_context(contextlib.nullcontext())
        return x + 1


def exit_cb(x):
    with contextlib.ExitStack() as st:
        st.callback(len, [])
        return x + 1


@contextlib.contextmanager
def _cm():
    yield 1


@contextlib.contextmanager
def _cm2():
    try:
        yield 1
    finally:
        pass


def exit_user(x):
    with contextlib.ExitStack() as st:
        st.enter_context(_cm())
        return x + 1


def exit_auto(x):
    with contextlib.ExitStack() as st:
        st.enter_context(torch.autocast("cpu"))
        return x @ x.T


def exit_loop(x):
    with contextlib.ExitStack() as st:
        for c in [_cm(), _cm2()]:
            st.enter_context(c)
        return x + 1


def usercm(x):
    with _cm2() as v:
        return x + v


def dir_self(x):
    return x + len(dir(CFG)) * 0


def dir_t(x):
    return x + len(dir(x)) * 0


def dir_mod(x):
    return x + len(dir(torch)) * 0


def linear_new(x):
    return nn.Linear(8, 8)(x)


def conv_new(x):
    return nn.Conv1d(4, 4, 1)(x[None])


def ln_new(x):
    return nn.LayerNorm(8)(x)


def bn_new(x):
    return nn.BatchNorm1d(8)(x)


def emb_new(x):
    return nn.Embedding(4, 4)(torch.tensor([1]))


def relu_new(x):
    return nn.ReLU()(x)


def drop_new(x):
    return nn.Dropout(0.1)(x)


def loss_new(x):
    return nn.CrossEntropyLoss()(x, torch.zeros(4, dtype=torch.long))


def mse_new(x):
    return nn.MSELoss()(x, x)


def softmax_new(x):
    return nn.Softmax(-1)(x)


def seq_new(x):
    return nn.Sequential(nn.ReLU(), nn.Softmax(-1))(x)


def pool_new(x):
    return nn.AdaptiveAvgPool1d(1)(x)


def param_new(x):
    return nn.Parameter(torch.zeros(8)) + x


def ln_noaff(x):
    return nn.LayerNorm(8, elementwise_affine=False)(x)


def up_new(x):
    return nn.Upsample(scale_factor=2)(x[None])


def counter_mc(x):
    return x + collections.Counter("aab").most_common(1)[0][1]


def counter_upd(x):
    c = collections.Counter()
    c.update("aa")
    return x + c["a"]


def counter_el(x):
    return x + len(list(collections.Counter("aab").elements()))


def deque_app(x):
    d = collections.deque()
    d.append(x)
    return d[0]


def deque_popl(x):
    d = collections.deque([x, x])
    return d.popleft()


def deque_extl(x):
    d = collections.deque([x])
    d.extendleft([x])
    return d[0]


def deque_max(x):
    d = collections.deque([1, 2], maxlen=2)
    d.append(x)
    return d[-1]


def deque_rot(x):
    d = collections.deque([1, 2])
    d.rotate(1)
    return x + d[0]


def defaultdict_(x):
    d = collections.defaultdict(list)
    d["a"].append(x)
    return d["a"][0]


def defaultdict_lambda(x):
    d = collections.defaultdict(lambda: 0)
    d["a"] += 1
    return x + d["a"]


def template(x):
    return x + len(string.Template("$a").substitute(a=1))


def max_key_int(x):
    return x + max([1, 2], key=lambda v: -v)


def max_key_len(x):
    return x + len(max(["a", "bb"], key=len))


def max_default(x):
    return x + max([], default=3)


def min_t_const(x):
    return min(x.sum(), 3)


def sorted_rev(x):
    return x + sorted([1, 2], reverse=True)[0]


def sort_list(x):
    l = [3, 1]
    l.sort()
    return x + l[0]


def sort_key(x):
    l = [(1, x), (0, x)]
    l.sort(key=lambda p: p[0])
    return l[0][1]


def sort_tuple_t(x):
    return sorted([(1, x), (0, x)])[0][1]


def sorted_tensors_key(x):
    return sorted([x, x * 2], key=lambda t: t.shape[0])[0]


def islice(x):
    return x + sum(itertools.islice([1, 2, 3], 2))


def chain_it(x):
    return x + sum(itertools.chain([1], [2]))


def chain_from(x):
    return x + sum(itertools.chain.from_iterable([[1], [2]]))


def accumulate(x):
    return list(itertools.accumulate([x, x, x]))[-1]


def accumulate_fn(x):
    return list(itertools.accumulate([x, x], torch.mul))[-1]


def combos(x):
    return x + len(list(itertools.combinations([1, 2, 3], 2)))


def perms(x):
    return x + len(list(itertools.permutations([1, 2, 3])))


def product_(x):
    return x + len(list(itertools.product([1, 2], [3])))


def product_rep(x):
    return x + len(list(itertools.product([1, 2], repeat=2)))


def cycle_(x):
    it = itertools.cycle([1, 2])
    return x + next(it)


def count_(x):
    it = itertools.count(3)
    return x + next(it)


def repeat_(x):
    return x + sum(itertools.repeat(1, 3))


def starmap(x):
    return x + sum(itertools.starmap(pow, [(2, 1)]))


def takewhile(x):
    return x + sum(itertools.takewhile(lambda v: v < 2, [1, 2]))


def dropwhile(x):
    return x + sum(itertools.dropwhile(lambda v: v < 2, [1, 2]))


def pairwise(x):
    return x + len(list(itertools.pairwise([1, 2, 3])))


def ziplong(x):
    return x + len(list(itertools.zip_longest([1], [1, 2])))


def tee(x):
    a, b = itertools.tee([1, 2])
    return x + next(a)


def compress(x):
    return x + sum(itertools.compress([1, 2], [1, 0]))


def filterfalse(x):
    return x + sum(itertools.filterfalse(lambda v: v > 1, [1, 2]))


def filter_(x):
    return x + sum(filter(None, [0, 1]))


def map_two(x):
    return sum(map(torch.add, [x], [x]))


def iter_sentinel(x):
    it = iter([1, 2])
    return x + next(it, 0)


def iter_callable(x):
    l = [3, 2, 1]
    return x + sum(iter(l.pop, 1))


def singledispatch(x):
    return _sd(x)


@functools.singledispatch
def _sd(x):
    return x + 1


def wraps_(x):
    @functools.wraps(len)
    def f(v):
        return v + 1

    return f(x)


def total_order(x):
    return x


def cache_(x):
    return x + _cc(2)


@functools.cache
def _cc(n):
    return n + 1


def cmp_to_key(x):
    return x + sorted([2, 1], key=functools.cmp_to_key(lambda a, b: a - b))[0]


def partialmethod(x):
    return x
