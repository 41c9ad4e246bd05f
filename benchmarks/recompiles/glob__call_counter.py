"""A global counter incremented inside the compiled function."""
import torch

N_CALLS = 0


@torch.compile
def noisy(x, w):
    global N_CALLS
    N_CALLS += 1  # recompile
    return torch.tanh(x @ w) / (1 + N_CALLS)  # recompile


def build():
    w = torch.randn(5, 5)
    return lambda x: noisy(x, w)


def calls():
    return [(torch.randn(3, 5),) for _ in range(7)]
