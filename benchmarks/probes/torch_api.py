"""torch: contexts, modules, shapes, random numbers, numerics. Each function without a leading underscore is a program: benchmarks/probes.py."""

import torch, contextlib, functools, math, numpy as np, operator, collections, typing, logging
from torch import nn
import torch.nn.functional as F
import torch.distributions as D

LIN = nn.Linear(8, 8)
BN = nn.BatchNorm1d(8)
LSTM = nn.LSTM(8, 8, batch_first=True)
MHA = nn.MultiheadAttention(8, 2, batch_first=True)
EMB = nn.Embedding(10, 8)
ENC = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
SEQ = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
LOG = logging.getLogger("a")
STATE = {"n": 0}
LST = []


def d_normal(x):
    return D.Normal(x, 1.0).log_prob(x)


def d_sample(x):
    return D.Normal(0.0, 1.0).sample((4,)) + x[:, 0]


def d_rsample(x):
    return D.Normal(x, torch.ones_like(x)).rsample()


def d_cat(x):
    return D.Categorical(logits=x).sample()


def d_kl(x):
    return D.kl_divergence(D.Normal(x, 1.0), D.Normal(0.0, 1.0))


def d_bern(x):
    return D.Bernoulli(logits=x).log_prob(torch.ones_like(x))


def d_mvn(x):
    return D.MultivariateNormal(torch.zeros(8), torch.eye(8)).log_prob(x)


def d_dir(x):
    return D.Dirichlet(x.exp()).rsample()


def autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return LIN(x)


def nograd(x):
    with torch.no_grad():
        return LIN(x)


def inference(x):
    with torch.inference_mode():
        return x * 2


def enable_grad(x):
    with torch.enable_grad():
        return x * 2


def set_grad(x):
    torch.set_grad_enabled(True)
    return x * 2


def set_grad_ctx(x):
    with torch.set_grad_enabled(False):
        return x * 2


def anomaly(x):
    with torch.autograd.set_detect_anomaly(True):
        return x * 2


def profiler_rf(x):
    with torch.profiler.record_function("a"):
        return x * 2


def profiler_full(x):
    with torch.profiler.profile() as p:
        return x * 2


def device_ctx(x):
    with torch.device("cpu"):
        return x + torch.zeros(8)


def default_dtype(x):
    torch.set_default_dtype(torch.float32)
    return x


def manual_seed(x):
    torch.manual_seed(0)
    return x + torch.rand(8)


def initial_seed(x):
    return x + torch.initial_seed() * 0


def fork_rng(x):
    with torch.random.fork_rng():
        return x + torch.rand(8)


def is_grad(x):
    return x + 1 if torch.is_grad_enabled() else x


def is_auto(x):
    return x + 1 if torch.is_autocast_enabled() else x


def is_comp(x):
    return x + 1 if torch.compiler.is_compiling() else x


def is_tracing(x):
    return x + 1 if torch.jit.is_tracing() else x


def is_script(x):
    return x + 1 if torch.jit.is_scripting() else x


def cuda_avail(x):
    return x + 1 if torch.cuda.is_available() else x


def nthreads(x):
    return x + torch.get_num_threads() * 0


def deterministic(x):
    return x + 1 if torch.are_deterministic_algorithms_enabled() else x


def version(x):
    return x + len(torch.__version__) * 0


def dtype_info(x):
    return x + torch.finfo(x.dtype).eps


def iinfo(x):
    return x + torch.iinfo(torch.int32).max * 0


def lstm(x):
    return LSTM(x[None])[0]


def lstmcell(x):
    return nn.functional.relu(x)


def mha(x):
    return MHA(x[None], x[None], x[None])[0]


def enc(x):
    return ENC(x[None])


def bn(x):
    return BN(x)


def bn_eval(x):
    BN.eval()
    return BN(x)


def train_toggle(x):
    LIN.train(False)
    return LIN(x)


def sd(x):
    return x + len(LIN.state_dict())


def load_sd(x):
    LIN.load_state_dict(LIN.state_dict())
    return LIN(x)


def params(x):
    return x + sum(p.sum() for p in LIN.parameters())


def named_params(x):
    return x + sum(p.sum() for n, p in LIN.named_parameters())


def named_mods(x):
    return x + len(list(SEQ.named_modules()))


def children(x):
    for c in SEQ.children():
        x = c(x)
    return x


def get_sub(x):
    return SEQ.get_submodule("0")(x)


def get_param(x):
    return x + LIN.get_parameter("weight")


def apply_(x):
    SEQ.apply(lambda m: None)
    return x


def mod_to(x):
    return LIN.to(torch.float32)(x)


def mod_half(x):
    return x


def mod_device(x):
    return x.to(next(LIN.parameters()).device)


def mod_dtype(x):
    return x.to(next(LIN.parameters()).dtype)


def weight_t(x):
    return F.linear(x, LIN.weight.T)


def weight_copy(x):
    with torch.no_grad():
        LIN.weight.copy_(LIN.weight * 1.0)
    return LIN(x)


def weight_data(x):
    LIN.weight.data.mul_(1.0)
    return LIN(x)


def zero_grad(x):
    LIN.zero_grad()
    return LIN(x)


def requires_f(x):
    LIN.requires_grad_(False)
    y = LIN(x)
    LIN.requires_grad_(True)
    return y


def reg_buf(x):
    LIN.register_buffer("b", torch.zeros(8))
    return LIN(x) + LIN.b


def setattr_mod(x):
    LIN.cache = x
    return LIN(x)


def fwd_hook(x):
    h = LIN.register_forward_hook(lambda m, i, o: o * 2)
    y = LIN(x)
    h.remove()
    return y


def extra(x):
    return x + len(LIN.extra_repr()) * 0


def log_info(x):
    LOG.info("a")
    return x


def log_debug(x):
    LOG.debug("a %s", x.shape)
    return x


def log_enabled(x):
    return x + 1 if LOG.isEnabledFor(10) else x


def glob_dict(x):
    STATE["n"] += 1
    return x + STATE["n"]


def glob_list(x):
    LST.append(1)
    return x


def nonzero(x):
    return x.nonzero()


def where1(x):
    return torch.where(x > 0)[0]


def unique(x):
    return torch.unique(x)


def masked(x):
    return x[x > 0]


def masked_select(x):
    return torch.masked_select(x, x > 0)


def mask_assign(x):
    y = x.clone()
    y[y > 0] = 0.0
    return y


def mask_assign_t(x):
    y = x.clone()
    m = y > 0
    y[m] = y[m] * 2
    return y


def topk(x):
    return x.topk(2)[0]


def topk_item(x):
    return x.topk(int(x.shape[1] // 2))[0]


def split_t(x):
    return torch.split(x, [2, 2])[0]


def rep_int(x):
    return torch.repeat_interleave(x, 2, dim=0)


def rep_t(x):
    return torch.repeat_interleave(x, torch.tensor([1, 2, 1, 1]), dim=0)


def bincount(x):
    return torch.bincount(torch.tensor([1, 2]))


def histc(x):
    return torch.histc(x.detach(), 4)


def one_hot(x):
    return F.one_hot(torch.tensor([0, 1]))


def one_hot_n(x):
    return F.one_hot(torch.tensor([0, 1]), 3)


def item(x):
    return x * x.sum().item()


def int_t(x):
    return x[: int((x > 0).sum())]


def float_t(x):
    return x * float(x.sum())


def tolist(x):
    return x + len(x.tolist())


def if_t(x):
    return x + 1 if x.sum() > 0 else x


def while_t(x):
    while x.sum() < 0:
        x = x + 1
    return x


def range_t(x):
    for i in range(int(x.sum().abs().item()) % 2):
        x = x + 1
    return x


def idx_t(x):
    return x[torch.tensor(1)]


def slice_t(x):
    return x[: torch.tensor(2)]


def full_t(x):
    return torch.full((2,), x.sum())


def full_item(x):
    return torch.zeros(x.shape[0] // 2)


def arange_t(x):
    return torch.arange(torch.tensor(3))


def arange_s(x):
    return torch.arange(x.shape[0])


def allclose(x):
    return x + 1 if torch.allclose(x, x) else x


def equal(x):
    return x + 1 if torch.equal(x, x) else x


def any_(x):
    return x + 1 if x.isnan().any() else x


def assert_async(x):
    torch._assert_async((x == x).all())
    return x


def torch_assert(x):
    torch._assert((x == x).all(), "a")
    return x


def tcheck(x):
    torch._check(x.shape[0] > 1)
    return x


def einsum(x):
    return torch.einsum("ij,kj->ik", x, x)


def sdpa(x):
    return F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])


def ctc(x):
    return F.ctc_loss(x[:, None].log_softmax(-1), torch.tensor([[1, 2]]), (4,), (2,))


def pad_seq(x):
    return nn.utils.rnn.pad_sequence([x, x])


def pack_seq(x):
    return nn.utils.rnn.pack_padded_sequence(x[None], [4], batch_first=True).data


def clip_norm(x):
    nn.utils.clip_grad_norm_([LIN.weight], 1.0)
    return x


def interp(x):
    return F.interpolate(x[None], scale_factor=2)


def gridsample(x):
    return F.grid_sample(x[None, None], torch.zeros(1, 2, 2, 2))


def fft(x):
    return torch.fft.rfft(x).abs()


def svd(x):
    return torch.linalg.svd(x)[1]


def eigh(x):
    return torch.linalg.eigh(x @ x.T)[0]


def inv(x):
    return torch.linalg.inv(x @ x.T + torch.eye(4))


def lstsq(x):
    return torch.linalg.lstsq(x, x)[0]


def cdist(x):
    return torch.cdist(x, x)


def searchsorted(x):
    return torch.searchsorted(x.sort()[0], x)


def bucketize(x):
    return torch.bucketize(x, torch.tensor([0.0]))


def scatter(x):
    return x.scatter_add(0, torch.zeros(4, 8, dtype=torch.long), x)


def index_add(x):
    return x.index_add(0, torch.tensor([0, 1]), x[:2])


def vmap_(x):
    return torch.vmap(lambda r: r.sum())(x)


def func_grad(x):
    return torch.func.grad(lambda t: t.sum())(x)


def jvp(x):
    return torch.func.jvp(torch.sin, (x,), (x,))[1]


def jacrev(x):
    return torch.func.jacrev(lambda t: t.sum(0))(x)


def autograd_grad(x):
    return torch.autograd.grad(x.sum(), x)[0]


def backward(x):
    x.sum().backward()
    return x


def detach_(x):
    y = x * 2
    y.detach_()
    return y


def checkpoint_(x):
    return torch.utils.checkpoint.checkpoint(LIN, x, use_reentrant=False)


def cond_(x):
    return torch.cond(x.sum() > 0, lambda t: t + 1, lambda t: t - 1, (x,))


def custom_cls(x):
    class Fn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return Fn.apply(x)


def triu(x):
    return torch.triu(torch.ones(x.shape[0], x.shape[0]))


def tril_idx(x):
    return torch.tril_indices(3, 3)


def combinations(x):
    return torch.combinations(x[0])


def cartesian(x):
    return torch.cartesian_prod(x[0], x[0])


def meshgrid(x):
    return torch.meshgrid(x[0], x[0], indexing="ij")[0]


def blockdiag(x):
    return torch.block_diag(x, x)


def tensordot(x):
    return torch.tensordot(x, x, dims=([1], [1]))


def nested(x):
    return torch.nested.nested_tensor([x.detach()]).to_padded_tensor(0.0)


def sparse_mm(x):
    return torch.sparse.mm(x.detach().to_sparse(), x.detach().T)


def complex_(x):
    return torch.view_as_complex(x.reshape(4, 4, 2)).abs()


def stft(x):
    return torch.stft(x.reshape(1, -1), 8, window=torch.ones(8), return_complex=True).abs()


def multinomial(x):
    return torch.multinomial(x.softmax(-1), 1)


def bernoulli(x):
    return torch.bernoulli(x.sigmoid())


def randperm(x):
    return x[torch.randperm(4)]


def normal_(x):
    return torch.empty(8).normal_() + x


def trunc_normal(x):
    return nn.init.trunc_normal_(torch.empty(8)) + x


def xavier(x):
    return nn.init.xavier_uniform_(torch.empty(8, 8)) @ x.T


def dropout_f(x):
    return F.dropout(x, 0.5, training=True)


def gumbel(x):
    return F.gumbel_softmax(x, hard=True)


def numpy_cast(x):
    return torch.from_numpy(np.asarray(x.detach()))


def np_mean(x):
    return x + np.mean(x.detach().numpy())


def np_random(x):
    return x + np.random.rand()


def to_list_shape(x):
    return x.reshape(list(x.shape))


def shape_tuple(x):
    return x.reshape(tuple(x.size()))


def numel_if(x):
    return x + 1 if x.numel() > 0 else x


def ndim_if(x):
    return x + 1 if x.ndim == 2 else x


def dtype_if(x):
    return x + 1 if x.dtype == torch.float32 else x


def dtype_dict(x):
    return x.to({"a": torch.float32}["a"])


def getattr_dtype(x):
    return x.to(getattr(torch, "float32"))


def str_dtype(x):
    return x + 1 if str(x.dtype) == "torch.float32" else x


def isinstance_(x):
    return x + 1 if isinstance(x, (list, tuple)) else x * 2


def type_eq(x):
    return x + 1 if type(x) is torch.Tensor else x


def is_tensor(x):
    return x + 1 if torch.is_tensor(x) else x


def is_fp(x):
    return x + 1 if torch.is_floating_point(x) else x


def result_type(x):
    return x.to(torch.result_type(x, x))


def promote(x):
    return x.to(torch.promote_types(torch.float32, torch.int32))


def can_cast(x):
    return x + 1 if torch.can_cast(torch.int32, torch.float32) else x


def broadcast_shapes(x):
    return x.expand(torch.broadcast_shapes(x.shape, (4, 8)))


def get_default(x):
    return x.to(torch.get_default_dtype())


def stream(x):
    return x
