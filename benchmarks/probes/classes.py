"""Classes, exceptions, functions, strings. Each function without a leading underscore is a program: benchmarks/probes.py."""

import torch, functools, abc, enum, dataclasses, typing, collections, weakref, types, contextlib, operator, copy, sys
from torch import nn
import torch.nn.functional as F


class Base:
    kind = "base"

    def __init__(self, s=2):
        self.s = s

    def run(self, x):
        return x * self.s

    @property
    def twice(self):
        return self.s * 2

    @twice.setter
    def twice(self, v):
        self.s = v // 2

    @staticmethod
    def stat(x):
        return x + 1

    @classmethod
    def make(cls, s):
        return cls(s)

    @functools.cached_property
    def cached(self):
        return self.s * 3

    def __call__(self, x):
        return x + self.s

    def __getitem__(self, i):
        return self.s + i

    def __len__(self):
        return 3

    def __iter__(self):
        return iter([1, 2])

    def __contains__(self, v):
        return v == 1

    def __eq__(self, o):
        return self.s == o.s

    def __hash__(self):
        return hash(self.s)

    def __lt__(self, o):
        return self.s < o.s

    def __add__(self, o):
        return Base(self.s + o.s)

    def __bool__(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *a):
        return False

    def __repr__(self):
        return f"Base({self.s})"

    def __str__(self):
        return "b"

    def __format__(self, spec):
        return "f"

    def __int__(self):
        return self.s

    def __index__(self):
        return self.s


class Child(Base):
    def __init__(self):
        super().__init__(3)

    def run(self, x):
        return super().run(x) + 1


class Meta(type):
    def __call__(cls, *a):
        return super().__call__(*a)


class WithMeta(metaclass=Meta):
    def __init__(self, v):
        self.v = v


class GetAttr:
    def __init__(self):
        self.d = {"a": 2}

    def __getattr__(self, n):
        if n in self.__dict__.get("d", {}):
            return self.d[n]
        raise AttributeError(n)


class GetAttribute:
    def __init__(self):
        self.a = 1

    def __getattribute__(self, n):
        return object.__getattribute__(self, n)


class SetAttr:
    def __init__(self):
        self.a = 1

    def __setattr__(self, n, v):
        object.__setattr__(self, n, v)


class Desc:
    def __get__(self, o, t):
        return 2

    def __set__(self, o, v):
        pass


class HasDesc:
    d = Desc()


class Abstract(abc.ABC):
    @abc.abstractmethod
    def f(self, x): ...


class Concrete(Abstract):
    def f(self, x):
        return x + 1


class DictSub(dict):
    def get2(self, k):
        return self[k]


class ListSub(list):
    pass


class StrSub(str):
    pass


class IntSub(int):
    pass


class TupleSub(tuple):
    pass


class ODSub(collections.OrderedDict):
    def __getattr__(self, k):
        return self[k]


class ErrA(Exception):
    def __init__(self, m):
        super().__init__(m)
        self.m = m


class Prot(typing.Protocol):
    def f(self, x): ...


class Gen(typing.Generic[typing.TypeVar("T")]):
    def __init__(self, v):
        self.v = v


class New:
    def __new__(cls, v):
        o = super().__new__(cls)
        o.v = v
        return o


class Single:
    inst = None

    def __new__(cls):
        if cls.inst is None:
            cls.inst = super().__new__(cls)
        return cls.inst


class Flag(enum.Flag):
    A = 1
    B = 2


class SE(str, enum.Enum):
    A = "a"


B = Base()
C = Child()
GA = GetAttr()
GAT = GetAttribute()
SA = SetAttr()
HD = HasDesc()
CO = Concrete()
DS = DictSub(a=1)
OD = ODSub(a=1)
REG = {"run": B.run}


def run(x):
    return B.run(x)


def child(x):
    return C.run(x)


def new_obj(x):
    return Base(4).run(x)


def new_child(x):
    return Child().run(x)


def prop(x):
    return x * B.twice


def prop_set(x):
    b = Base()
    b.twice = 6
    return x * b.s


def prop_set_g(x):
    B.twice = 6
    return x * B.s


def stat(x):
    return Base.stat(x)


def clsm(x):
    return Base.make(2).run(x)


def cached_p(x):
    return x * B.cached


def call_obj(x):
    return B(x)


def getitem(x):
    return x + B[1]


def len_o(x):
    return x + len(B)


def iter_o(x):
    return x + sum(B)


def contains(x):
    return x + 1 if 1 in B else x


def eq_o(x):
    return x + 1 if B == Base() else x


def hash_o(x):
    return x + {B: 1}[B]


def lt_o(x):
    return x + 1 if B < C else x


def sorted_o(x):
    return x + sorted([C, B])[0].s


def add_o(x):
    return x + (B + C).s


def bool_o(x):
    return x + 1 if B else x


def with_o(x):
    with B as b:
        return x + b.s


def with_new(x):
    with Base() as b:
        return x + b.s


def repr_o(x):
    return x + len(repr(B))


def str_o(x):
    return x + len(str(B))


def fmt_o(x):
    return x + len(f"{B}")


def fmt_r(x):
    return x + len(f"{B!r}")


def int_o(x):
    return x + int(B)


def index_o(x):
    return x[B]


def meta(x):
    return WithMeta(x).v


def getattr_o(x):
    return x + GA.a


def getattr_def(x):
    return x + getattr(GA, "zz", 1)


def hasattr_o(x):
    return x + 1 if hasattr(GA, "zz") else x


def getattribute_o(x):
    return x + GAT.a


def setattr_o(x):
    SA.a = 3
    return x + SA.a


def setattr_dyn(x):
    n = "a"
    setattr(B, n, 2)
    return x


def desc(x):
    return x + HD.d


def desc_set(x):
    HD.d = 3
    return x


def concrete(x):
    return CO.f(x)


def dictsub(x):
    return x + DS.get2("a")


def dictsub_new(x):
    return x + DictSub(a=1)["a"]


def listsub(x):
    return x + len(ListSub([1, 2]))


def strsub(x):
    return x + len(StrSub("ab"))


def intsub(x):
    return x + IntSub(3)


def tuplesub(x):
    return x + TupleSub((1, 2))[0]


def odsub(x):
    return x + OD.a


def odsub_new(x):
    return x + ODSub(a=1).a


def err(x):
    try:
        raise ErrA("abc")
    except ErrA as e:
        return x + len(e.m)


def err_attr(x):
    try:
        raise ValueError("abc", 2)
    except ValueError as e:
        return x + e.args[1]


def err_from(x):
    try:
        try:
            raise ValueError("a")
        except ValueError as e:
            raise KeyError("b") from e
    except KeyError:
        return x + 1


def err_key(x):
    try:
        return x + {"a": 1}["b"]
    except KeyError:
        return x


def err_index(x):
    try:
        return x + [1][3]
    except IndexError:
        return x


def err_attr2(x):
    try:
        return x.foo
    except AttributeError:
        return x


def err_zero(x):
    try:
        return x + 1 / 0
    except ZeroDivisionError:
        return x


def err_type(x):
    try:
        return x + len(3)
    except TypeError:
        return x


def err_shape(x):
    try:
        return x @ x
    except RuntimeError:
        return x


def err_int(x):
    try:
        return x + int("a")
    except ValueError:
        return x


def err_stop(x):
    it = iter([])
    try:
        next(it)
    except StopIteration:
        return x


def err_assert(x):
    try:
        assert False, "a"
    except AssertionError:
        return x


def err_notimpl(x):
    try:
        raise NotImplementedError
    except NotImplementedError:
        return x


def err_group(x):
    return x


def gen_new(x):
    return Gen(x).v


def gen_sub(x):
    return Gen[int](x).v


def new_new(x):
    return New(x).v


def single(x):
    s = Single()
    return x


def flag(x):
    return x + 1 if Flag.A & Flag.B else x


def flag_or(x):
    return x + (Flag.A | Flag.B).value


def senum(x):
    return x + 1 if SE.A == "a" else x


def senum_f(x):
    return x + len(f"{SE.A}")


def senum_in(x):
    return x + 1 if "a" in [e.value for e in SE] else x


def reg(x):
    return REG["run"](x)


def lam_default(x):
    f = lambda v, k=2: v * k
    return f(x)


def closure(x):
    k = 2

    def f(v):
        return v * k

    return f(x)


def nonlocal_(x):
    k = 0

    def f():
        nonlocal k
        k += 1

    f()
    return x + k


def recursion(x):
    def f(n):
        return 1 if n == 0 else n * f(n - 1)

    return x + f(4)


def gen_fn(x):
    def g():
        for i in range(3):
            yield i

    return x + sum(g())


def gen_expr(x):
    return x + sum(i for i in range(3))


def gen_send(x):
    def g():
        v = yield 1
        yield v

    it = g()
    next(it)
    return x + it.send(2)


def yield_from(x):
    def g():
        yield from [1, 2]

    return x + sum(g())


def kwargs_(x):
    def f(a, **k):
        return a + k["b"]

    return f(x, b=1)


def args_(x):
    def f(*a):
        return a[0] + a[1]

    return f(x, 1)


def kwonly(x):
    def f(a, *, b=1):
        return a + b

    return f(x, b=2)


def posonly(x):
    def f(a, /, b):
        return a + b

    return f(x, 2)


def star_call(x):
    return torch.add(*[x, x])


def dstar_call(x):
    return F.dropout(x, **{"p": 0.0})


def decorated(x):
    return _dec(x)


def _wrap(f):
    @functools.wraps(f)
    def g(*a, **k):
        return f(*a, **k) + 1

    return g


@_wrap
def _dec(x):
    return x * 2


def cls_dec(x):
    return _CD(x)


class _CD0:
    def __init__(self, f):
        self.f = f
        self.n = 0

    def __call__(self, x):
        self.n += 1
        return self.f(x)


_CD = _CD0(lambda x: x + 1)


def del_item(x):
    d = {"a": 1, "b": 2}
    del d["a"]
    return x + len(d)


def del_slice(x):
    l = [1, 2, 3]
    del l[:2]
    return x + len(l)


def swap(x):
    a, b = x, x * 2
    a, b = b, a
    return a - b


def chained(x):
    return x + 1 if 0 < x.shape[0] < 9 else x


def ternary(x):
    return x if x.shape[0] > 100 else x * 2


def list_mul(x):
    return x + len([0] * 3)


def nested_comp(x):
    return x + sum([i * j for i in range(2) for j in range(2)])


def dict_comp(x):
    return x + {k: v for k, v in zip("ab", [1, 2])}["a"]


def set_comp(x):
    return x + len({i % 2 for i in range(4)})


def global_read(x):
    return x * SCALE


SCALE = 2


def global_write(x):
    global SCALE
    SCALE = 3
    return x * SCALE


def import_in(x):
    import math

    return x * math.pi


def import_from(x):
    from math import pi

    return x * pi


def import_torch(x):
    import torch.nn.functional as FF

    return FF.relu(x)


def inner_import_sub(x):
    import json

    return x


def type_anno(x):
    y: torch.Tensor = x + 1
    return y


def super_noarg(x):
    return Child().run(x)


def isinstance_o(x):
    return x + 1 if isinstance(B, Base) else x


def isinstance_abc(x):
    return x + 1 if isinstance([1], collections.abc.Sequence) else x


def isinstance_proto(x):
    return x + 1 if isinstance(B, (int, str)) else x * 2


def issub(x):
    return x + 1 if issubclass(Child, Base) else x


def mro(x):
    return x + len(Child.__mro__)


def class_attr(x):
    return x + len(B.kind)


def class_attr_set(x):
    Base.kind = "x"
    return x


def inst_dict(x):
    return x + B.__dict__["s"]


def vars_o(x):
    return x + vars(B)["s"]


def slots_(x):
    return x


def weak(x):
    r = weakref.ref(B)
    return x + r().s


def weakd(x):
    d = weakref.WeakKeyDictionary()
    return x


def ctxvar(x):
    return x


def printf(x):
    return x + len("%s" % "a")


def strjoin(x):
    return x + len(",".join(["a", "b"]))


def strsplit(x):
    return x + len("a,b".split(","))


def strfmt(x):
    return x + len("{}".format(1))


def startswith(x):
    return x + 1 if "abc".startswith("a") else x


def isdigit(x):
    return x + 1 if "1".isdigit() else x


def encode(x):
    return x + len("a".encode())


def ord_(x):
    return x + ord("a")


def chr_(x):
    return x + len(chr(97))


def bin_(x):
    return x + len(bin(3))


def hex_(x):
    return x + len(hex(3))


def round_(x):
    return x + round(2.5)


def int_base(x):
    return x + int("10", 2)


def bit_len(x):
    return x + (5).bit_length()


def float_is(x):
    return x + 1 if (2.0).is_integer() else x


def float_hex(x):
    return x + float("1e3")


def inf(x):
    return x + 1 if float("inf") > 3 else x


def tup_idx(x):
    return x + (1, 2, 3).index(2)


def tup_cnt(x):
    return x + (1, 1).count(1)


def lst_ins(x):
    l = [1]
    l.insert(0, 2)
    return x + l[0]


def lst_rev(x):
    l = [1, 2]
    l.reverse()
    return x + l[0]


def lst_cpy(x):
    return x + [1].copy()[0]


def lst_clear(x):
    l = [1]
    l.clear()
    return x + len(l)


def dct_set(x):
    d = {}
    d.setdefault("a", []).append(x)
    return d["a"][0]


def dct_upd(x):
    d = {}
    d.update(a=1)
    return x + d["a"]


def dct_items(x):
    return x + sum(v for k, v in {"a": 1}.items())


def dct_pop(x):
    return x + {"a": 1}.pop("a")


def dct_get(x):
    return x + {"a": 1}.get("b", 2)


def dct_fromkeys(x):
    return x + len(dict.fromkeys(["a"]))


def dct_union(x):
    d = {"a": 1}
    d |= {"b": 2}
    return x + len(d)


def sysver(x):
    return x + 1 if sys.version_info >= (3, 10) else x


def syspl(x):
    return x + 1 if sys.platform == "linux" else x
