"""A SimpleNamespace config whose norm kind and activation are swept by an ablation."""
from types import SimpleNamespace
import torch
import torch.nn.functional as F


@torch.compile
def block(x, w, cfg):
    if cfg.norm == "layer":  # recompile
        x = F.layer_norm(x, x.shape[-1:])
    elif cfg.norm == "rms":  # recompile
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    x = x @ w
    return getattr(F, cfg.act)(x)  # recompile


def make_model():
    w = torch.randn(8, 8)

    def run(x, norm, act):
        return block(x, w, SimpleNamespace(norm=norm, act=act))
    return run


def batches():
    x = torch.randn(3, 8)
    return [(x, "layer", "relu"), (x, "rms", "relu"), (x, "none", "relu"), (x, "rms", "gelu"), (x, "layer", "silu")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
