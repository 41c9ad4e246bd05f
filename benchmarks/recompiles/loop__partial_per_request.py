from functools import partial
import torch


def rescale(x, mode, factor):
    if mode == "sqrt":
        return x.abs().sqrt() * factor
    if mode == "log":
        return torch.log1p(x.abs()) * factor
    return x * factor


@torch.compile
def run(x, fn):  # recompile
    return fn(x).sum(-1)  # recompile


def main():
    torch.manual_seed(0)
    x = torch.randn(4, 9)
    for mode in ("sqrt", "log", "identity"):
        fn = partial(rescale, mode=mode, factor=0.5)  # recompile
        for _ in range(2):
            out = run(x, fn)  # recompile
        print(mode, out.mean().item())


if __name__ == "__main__":
    main()
