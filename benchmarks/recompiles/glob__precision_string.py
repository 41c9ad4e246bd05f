"""A module-level string picks the path; a setter changes it between calls."""
import torch

KERNEL = "rbf"


def set_kernel(name):
    global KERNEL
    KERNEL = name  # recompile


@torch.compile
def gram(x, y):
    d = torch.cdist(x, y)
    if KERNEL == "rbf":  # recompile
        return torch.exp(-d * d)
    if KERNEL == "laplace":  # recompile
        return torch.exp(-d)
    if KERNEL == "cauchy":  # recompile
        return 1 / (1 + d * d)
    return x @ y.T


def make_model():
    def run(x, y, k):
        set_kernel(k)
        return gram(x, y)
    return run


def batches():
    x, y = torch.randn(4, 3), torch.randn(5, 3)
    return [(x, y, k) for k in ("rbf", "laplace", "cauchy", "linear", "rbf", "cauchy")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
