import torch
import torch.nn as nn


@torch.compile
def inner(w, x, y, lr, steps):  # recompile
    for _ in range(steps):
        err = x @ w - y
        w = w - lr * (x.T @ err) / x.shape[0]
    return w


def ablation(settings):
    w0 = torch.zeros(3, 1)
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    return {s["steps"]: inner(w0, x, y, **s) for s in settings}


ablation([dict(lr=0.1, steps=1), dict(lr=0.1, steps=3), dict(lr=0.05, steps=5), dict(lr=0.05, steps=10)])
