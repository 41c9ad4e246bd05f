"""A nonlocal iteration number, changed by the driver, is a loop bound in the compiled closure."""
import torch


def make_model():
    n_iter = 1

    @torch.compile
    def power_iteration(a, v):
        for _ in range(n_iter):  # recompile
            v = a @ v
            v = v / v.norm()
        return v

    def run(a, v):
        nonlocal n_iter
        out = power_iteration(a, v)
        n_iter += 1  # recompile
        return out
    return run


def batches():
    return [(torch.randn(6, 6), torch.randn(6)) for _ in range(5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
