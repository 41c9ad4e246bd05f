"""Python's library and builtins. Each function without a leading underscore is a program: benchmarks/probes.py."""

import torch, copy, itertools, collections, functools, math, weakref, inspect, types, enum, dataclasses, operator, contextlib, typing, warnings, os, sys, json, string, decimal, fractions, datetime, heapq, bisect, random, statistics, re, struct, hashlib, uuid, queue, threading, io, pathlib, pickle, abc
import numpy as np
from torch import nn
import torch.nn.functional as F


def retain_grad(x):
    y = x * 2
    y.retain_grad()
    return y


def set_(x):
    y = torch.empty(0)
    y.set_(x.detach())
    return y


def resize_as_(x):
    y = torch.empty(2)
    y.resize_as_(x)
    return y


def resize_(x):
    y = torch.empty(2)
    y.resize_(4, 8)
    return y


def share_memory(x):
    y = x * 2
    y.share_memory_()
    return y


def getattr_dyn(x):
    n = "re" + "lu"
    return getattr(x, n)()


def repr_t(x):
    s = repr(x.shape)
    return x + len(s)


def repr_tensor(x):
    s = repr(x)
    return x + 1


def str_tensor(x):
    s = str(x)
    return x + 1


def data_ptr_cmp(x):
    return x + 1 if x.data_ptr() == 0 else x


def hook_out(x):
    y = x * 2
    h = y.register_hook(lambda g: g * 2)
    return y


def set_of_tensors(x):
    s = {x, x + 1}
    return sum(t.sum() for t in s)


def groupby(x):
    out = 0
    for k, g in itertools.groupby([1, 1, 2, 3], key=lambda v: v % 2):
        out = out + k
    return x + out


def astype_obj(x):
    a = x.detach().numpy().astype(object)
    return x + len(a)


def uniform_from(x):
    return torch.empty(4).uniform_(**{"from": 0.0, "to": 1.0}) + x.sum()


def uniform_kw(x):
    return torch.empty(4).uniform_(-1, 1) + x.sum()


def new_parameter(x):
    p = nn.Parameter(torch.randn(8))
    return x * p


def new_module(x):
    m = nn.Linear(8, 8)
    return m(x)


def new_module_nograd(x):
    m = nn.ReLU()
    return m(x)


def weakref_(x):
    r = weakref.ref(x)
    return x + 1


def inspect_sig(x):
    s = inspect.signature(len)
    return x + 1


def enum_iter(x):
    class C(enum.Enum):
        A = 1
        B = 2

    return x + 1


def dc_make(x):
    D = dataclasses.make_dataclass("D", ["a"])
    return D(x).a


def dc_replace(x):
    return x


def datetime_now(x):
    return x + datetime.datetime.now().second * 0


def date_today(x):
    return x + datetime.date.today().year * 0


def uuid4(x):
    u = uuid.uuid4()
    return x + 1


def hashlib_(x):
    h = hashlib.md5(b"a").hexdigest()
    return x + len(h)


def json_dumps(x):
    return x + len(json.dumps({"a": 1}))


def json_loads(x):
    return x + json.loads('{"a": 1}')["a"]


def pickle_(x):
    return x + len(pickle.dumps([1]))


def re_match(x):
    return x + (1 if re.match("a", "abc") else 0)


def re_sub(x):
    return x + len(re.sub("a", "b", "abc"))


def decimal_(x):
    return x * float(decimal.Decimal("1.5"))


def fraction_(x):
    return x * float(fractions.Fraction(1, 2))


def statistics_(x):
    return x * statistics.mean([1, 2, 3])


def heap_(x):
    h = [3, 1, 2]
    heapq.heapify(h)
    return x + heapq.heappop(h)


def bisect_(x):
    return x + bisect.bisect([1, 2, 3], 2)


def struct_(x):
    return x + struct.unpack("i", struct.pack("i", 3))[0]


def stringio(x):
    s = io.StringIO()
    s.write("a")
    return x + len(s.getvalue())


def path_join(x):
    return x + len(os.path.join("a", "b"))


def path_exists(x):
    return x + (1 if os.path.exists("/nope") else 0)


def pathlib_(x):
    return x + len(str(pathlib.Path("a") / "b"))


def env_get(x):
    return x + len(os.environ.get("HOME", ""))


def env_getenv(x):
    return x + len(os.getenv("HOME", ""))


def getsizeof(x):
    return x + sys.getsizeof(1) * 0


def id_(x):
    return x + (id(x) > 0)


def hash_(x):
    return x + hash("a") % 2


def hash_tensor(x):
    d = {x: 1}
    return x + d[x]


def globals_(x):
    return x + len(globals()) * 0


def locals_(x):
    return x + len(locals())


def vars_(x):
    return x + 1 if vars(torch) else x


def dir_(x):
    return x + len(dir(1)) * 0


def eval_(x):
    return x + eval("1")


def exec_(x):
    exec("a = 1")
    return x


def compile_(x):
    return x


def open_(x):
    with open("/dev/null") as f:
        return x + 1


def input_(x):
    return x


def sys_exc(x):
    try:
        raise ValueError("a")
    except ValueError as e:
        return x + len(e.args)


def tb(x):
    import traceback

    try:
        raise ValueError("a")
    except ValueError:
        s = traceback.format_exc()
        return x + 1


def exc_str(x):
    try:
        raise ValueError("abc")
    except ValueError as e:
        return x + len(str(e))


def finally_(x):
    try:
        y = x + 1
    finally:
        y = x * 2
    return y


def sorted_key(x):
    return x + sorted([3, 1], key=lambda v: -v)[0]


def reduce_(x):
    return functools.reduce(torch.add, [x, x, x])


def partial_(x):
    return functools.partial(torch.add, x)(x)


def lru(x):
    return _c(3) + x


@functools.lru_cache
def _c(n):
    return n * 2


def counter_(x):
    c = collections.Counter("aab")
    return x + c["a"]


def counter_mc(x):
    return x + collections.Counter("aab").most_common(1)[0][1]


def chainmap(x):
    return x + collections.ChainMap({"a": 1}, {"b": 2})["b"]


def deque_rot(x):
    d = collections.deque([1, 2, 3])
    d.rotate(1)
    return x + d[0]


def ordered_move(x):
    d = collections.OrderedDict(a=1, b=2)
    d.move_to_end("a")
    return x + next(iter(d.values()))


def userdict(x):
    return x + collections.UserDict({"a": 1})["a"]


def namedtuple_new(x):
    T = collections.namedtuple("T", "a b")
    return T(x, 1).a


def simplens(x):
    n = types.SimpleNamespace(a=x)
    return n.a


def attrgetter(x):
    return operator.attrgetter("T")(x)


def methodcaller(x):
    return operator.methodcaller("relu")(x)


def itemgetter(x):
    return operator.itemgetter(0)(x)


def suppress(x):
    with contextlib.suppress(ValueError):
        x = x + 1
    return x


def nullctx(x):
    with contextlib.nullcontext():
        return x + 1


def exitstack(x):
    with contextlib.ExitStack() as st:
        st.enter_context(torch.no_grad())
        return x + 1


def redirect(x):
    with contextlib.redirect_stdout(io.StringIO()):
        return x + 1


def cast_(x):
    return typing.cast(torch.Tensor, x) + 1


def typehints(x):
    return x + len(typing.get_type_hints(typehints))


def callable_(x):
    return x + 1 if callable(x.relu) else x


def issubclass_(x):
    return x + 1 if issubclass(type(x), torch.Tensor) else x


def type_new(x):
    T = type("T", (), {"a": 1})
    return x + T.a


def inner_class(x):
    class A:
        def f(self, v):
            return v + 1

    return A().f(x)


def gen_close(x):
    def g():
        yield 1
        yield 2

    it = g()
    v = next(it)
    it.close()
    return x + v


def async_(x):
    return x


def format_(x):
    return x + len(f"{x.shape[0]:>10}")


def fstring_t(x):
    n = f"{x.sum()}"
    return x


def fstring_dtype(x):
    return x + len(f"{x.dtype}")


def percent(x):
    return x + len("%d" % x.shape[0])


def template(x):
    return x + len(string.Template("$a").substitute(a=1))


def bytes_(x):
    return x + len(b"abc".decode())


def memoryview_(x):
    return x + len(memoryview(b"abc"))


def bytearray_(x):
    return x + len(bytearray(3))


def complex_(x):
    return x * complex(1, 2).real


def divmod_(x):
    return x + divmod(7, 3)[1]


def pow3(x):
    return x + pow(2, 3, 5)


def round_t(x):
    return x + round(x.sum().item())


def sum_start(x):
    return sum([x, x], start=x)


def any_t(x):
    return x + 1 if any(t.sum() > 0 for t in [x]) else x


def max_t(x):
    return max(x.sum(), (x * 2).sum())


def max_key(x):
    return max([x, x * 2], key=lambda t: t.sum())


def sorted_t(x):
    return sorted([x.sum(), x.mean()])[0]


def zip_strict(x):
    return sum(a + b for a, b in zip([x], [x], strict=True))


def enumerate_t(x):
    return sum(i * r for i, r in enumerate(x))


def reversed_t(x):
    return torch.stack(list(reversed(x)))


def in_t(x):
    return x + (1 in x)


def in_list(x):
    return x + (1 if x in [x] else 0)


def index_list(x):
    return x + [x].index(x)


def eq_list(x):
    return x + (1 if [x] == [x] else 0)


def remove_list(x):
    l = [x, 1]
    l.remove(1)
    return l[0]


def dict_or(x):
    return ({"a": x} | {"b": 1})["a"]


def dict_popitem(x):
    d = {"a": x}
    return d.popitem()[1]


def set_ops(x):
    return x + len({1, 2} & {2, 3})


def frozenset_(x):
    return x + len(frozenset([1, 2]))


def slice_obj(x):
    s = slice(0, 2)
    return x[s] + s.stop


def del_var(x):
    y = x + 1
    del y
    return x


def del_attr(x):
    n = types.SimpleNamespace(a=1)
    del n.a
    return x


def walrus(x):
    return (y := x + 1) + y


def star_unpack(x):
    a, *b = [x, 1, 2]
    return a + b[0]


def star_unpack_t(x):
    a, *b = x
    return a + b[0]


def match_(x):
    match x.dim():
        case 2:
            return x + 1
        case _:
            return x


def assert_(x):
    assert x.shape[0] > 0, f"bad {x.shape}"
    return x


def assert_t(x):
    assert (x == x).all(), "nan"
    return x


def raise_if(x):
    if x.shape[0] == 0:
        raise ValueError(f"{x}")
    return x


def thread_(x):
    t = threading.current_thread()
    return x + 1


def lock_(x):
    with threading.Lock():
        return x + 1


def queue_(x):
    q = queue.Queue()
    q.put(1)
    return x + q.get()


def warn_(x):
    warnings.warn("a")
    return x + 1


def warn_catch(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return x + 1
