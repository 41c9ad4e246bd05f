"""A factory is called for each normalisation kind; the string is captured by the one code object."""
import torch


def make_norm(kind):
    @torch.compile
    def norm(x):
        if kind == "layer":  # recompile
            return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)
        if kind == "rms":
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
        if kind == "l2":
            return x / x.norm(dim=-1, keepdim=True)
        return x
    return norm


def make_model():
    norms = {k: make_norm(k) for k in ("layer", "rms", "l2", "none")}  # recompile

    def run(x, kind):
        return norms[kind](x)
    return run


def batches():
    x = torch.randn(4, 8)
    return [(x, k) for k in ("layer", "rms", "l2", "none", "rms", "layer")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
