import torch


def make_filter(threshold):
    def apply(x):  # recompile
        return x.clamp(max=threshold) * 2  # recompile

    return torch.compile(apply)


def sweep(values):
    x = torch.randn(10)
    return [make_filter(v)(x).sum().item() for v in values]


sweep([0.1, 0.2, 0.5, 0.9])
