"""A global counter incremented inside the compiled function."""
import torch

N_CALLS = 0


@torch.compile
def noisy(x, w):
    global N_CALLS
    N_CALLS += 1  # recompile
    return torch.tanh(x @ w) / (1 + N_CALLS)  # recompile


def make_model():
    w = torch.randn(5, 5)
    return lambda x: noisy(x, w)


def batches():
    return [(torch.randn(3, 5),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
