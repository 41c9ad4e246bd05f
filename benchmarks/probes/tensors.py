"""Copies, sets, attributes of tensors. Each function without a leading underscore is a program: benchmarks/probes.py."""

import torch, types, copy, dataclasses, inspect, collections, string
from torch import nn


class Cfg:
    def __init__(self, a=1):
        self.a = a


CFG = Cfg()
MOD = nn.Linear(8, 8)


@dataclasses.dataclass
class DC:
    a: object


def cc_tensor(x):
    return copy.copy(x) + 1


def cc_list(x):
    return copy.copy([x])[0]


def cc_local(x):
    return copy.copy(Cfg(x)).a


def cc_dc(x):
    return copy.copy(DC(x)).a


def cc_mod(x):
    return copy.copy(MOD)(x)


def cc_global(x):
    return copy.copy(CFG).a + x


def cc_set(x):
    return len(copy.copy({1, 2})) + x


def cc_tuple(x):
    return copy.copy((x,))[0]


def cc_range(x):
    return len(copy.copy(range(3))) + x


def dc_local(x):
    return copy.deepcopy(Cfg(1)).a + x


def dc_mod(x):
    return copy.deepcopy(MOD)(x)


def set_sum(x):
    out = 0
    for t in {x, x * 2}:
        out = out + t
    return out


def set_from_list(x):
    s = set([x, x * 2])
    return sum(s)


def set_len(x):
    return x + len({x, x * 2})


def set_add(x):
    s = set()
    s.add(x)
    return sum(s)


def set_in(x):
    return x + 1 if x in {x} else x


def set_union(x):
    return sum({x} | {x * 2})


def fz(x):
    return sum(frozenset([x]))


def set_comp(x):
    return sum({t for t in [x, x * 2]})


def dir_cls(x):
    return x + len(dir(Cfg)) * 0


def dir_obj(x):
    return x + len(dir(CFG)) * 0


def dir_local(x):
    return x + len(dir(Cfg())) * 0


def dir_t(x):
    return x + len(dir(x)) * 0


def dir_mod(x):
    return x + len(dir(MOD)) * 0


def ln_aff(x):
    return nn.LayerNorm(8, elementwise_affine=False)(x)


def bn_aff(x):
    return nn.BatchNorm1d(8, affine=False)(x)


def bn_aff2(x):
    return nn.BatchNorm1d(8, affine=False, track_running_stats=False)(x)


def gn(x):
    return nn.GroupNorm(2, 8)(x)


def inorm(x):
    return nn.InstanceNorm1d(4)(x[None])


def prelu(x):
    return nn.PReLU()(x)


def rms(x):
    return nn.RMSNorm(8)(x)


def mha(x):
    return nn.MultiheadAttention(8, 2)(x, x, x)[0]


def lin_nograd(x):
    with torch.no_grad():
        return nn.Linear(8, 8)(x)


def lin_to(x):
    return nn.Linear(8, 8).to(x.device)(x)


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x)


class OwnPlain(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 2

    def forward(self, x):
        return x * self.k


class OwnBuf(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(8))

    def forward(self, x):
        return x + self.b


def own(x):
    return Own()(x)


def own_plain(x):
    return OwnPlain()(x)


def own_buf(x):
    return OwnBuf()(x)


def modlist(x):
    for m in nn.ModuleList([nn.ReLU()]):
        x = m(x)
    return x


def rg_keep(x):
    y = x * 2
    y.retain_grad()
    return y.sum()


def rg_input(x):
    x.retain_grad()
    return x * 2


def sn_kw(x):
    n = types.SimpleNamespace(**{"a": 1})
    return x + n.a


def sn_set(x):
    n = types.SimpleNamespace()
    n.a = x
    return n.a


def md(x):
    return types.MappingProxyType({"a": x})["a"]


def mtype(x):
    return types.MethodType(lambda s, v: v + 1, CFG)(x)


def sig_bind(x):
    return x + len(inspect.signature(cc_list).parameters)


def hasattr_t(x):
    return x + 1 if hasattr(x, "foo") else x


def hasattr_o(x):
    return x + 1 if hasattr(CFG, "b") else x


def type_name(x):
    return x + len(type(x).__name__)


def cls_name(x):
    return x + len(CFG.__class__.__name__)


def fn_name(x):
    return x + len(cc_list.__name__)


def obj_dict(x):
    return x + len(CFG.__dict__)


def vars_obj(x):
    return x + len(vars(CFG))


def mod_name(x):
    return x + len(cc_list.__module__)


def t_is(x):
    y = x
    return x + 1 if y is x else x


def t_none(x):
    return x + 1 if x is not None else x


def setattr_t(x):
    x.foo = 1
    return x + 1


def setattr_mid(x):
    y = x * 2
    y.foo = 3
    return y + y.foo


def setattr_obj(x):
    CFG.b = x.shape[0]
    return x


def delattr_obj(x):
    c = Cfg()
    del c.a
    return x


def t_grad(x):
    return x.grad if x.grad is not None else x


def t_gradfn(x):
    return x + 1 if x.grad_fn is None else x


def t_version(x):
    return x + x._version * 0


def t_storage(x):
    return x + len(x.untyped_storage()) * 0


def t_isleaf(x):
    return x + 1 if x.is_leaf else x


def t_names(x):
    return x + len(x.names)


def t_layout(x):
    return x + 1 if x.layout == torch.strided else x


def t_stride(x):
    return x + x.stride(0)


def t_offset(x):
    return x + x.storage_offset()


def t_contig(x):
    return x + 1 if x.is_contiguous() else x


def t_elem(x):
    return x + x.element_size()


def t_nbytes(x):
    return x + x.nbytes


def t_type(x):
    return x + len(x.type())


def t_type_to(x):
    return x.type(torch.float64)


def t_typestr(x):
    return x.type("torch.DoubleTensor")


def t_device(x):
    return x + 1 if x.device.type == "cpu" else x


def t_devidx(x):
    return x + (x.device.index or 0)


def t_getdev(x):
    return x + x.get_device()


def t_iscuda(x):
    return x + 1 if x.is_cuda else x


def t_numpy_f(x):
    return torch.from_numpy(x.detach().numpy()) + 1


def t_array(x):
    return torch.tensor(np.array([1.0])) + x.sum()


import numpy as np


def t_list(x):
    return torch.tensor([1, 2, 3]) + x[0, :3]


def t_listt(x):
    return torch.tensor([x.sum(), x.mean()])


def t_as(x):
    return torch.as_tensor([1.0]) + x.sum()


def t_len(x):
    return x + len(x)


def t_iter(x):
    return torch.stack([r for r in x])


def t_unbind(x):
    a, b, c, d = x
    return a + b


def t_bool(x):
    return x + bool(x.shape[0])


def t_float(x):
    return x + float(x.shape[0])


def t_idx(x):
    return x[x.shape[0] - 1]


def t_pow(x):
    return x ** x.shape[0]


def t_copyto(x):
    y = torch.empty_like(x)
    y.copy_(x)
    return y


def t_data(x):
    return x.data + 1


def t_dataset(x):
    y = x.detach().clone()
    y.data = x.data * 2
    return y


def t_apply(x):
    return x.detach().clone().apply_(lambda v: v * 2)


def t_map(x):
    return x.detach().clone().map_(x.detach(), lambda a, b: a + b)


def t_tolist(x):
    return x + sum(x.shape)


def t_pin(x):
    return x.detach().is_pinned()


def t_sparse(x):
    return x.to_sparse().to_dense()


def t_named(x):
    return x.refine_names("a", "b").rename(None)


def t_quant(x):
    return torch.quantize_per_tensor(x.detach(), 0.1, 0, torch.qint8).dequantize()
