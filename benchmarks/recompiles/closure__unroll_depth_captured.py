"""A captured int sets the unroll depth; the caller raises it through nonlocal."""
import torch


def make_model():
    w = torch.randn(5, 5) * 0.1
    depth = 1

    @torch.compile
    def solve(x):
        h = torch.zeros_like(x)
        for _ in range(depth):  # recompile
            h = torch.tanh(h @ w + x)
        return h

    def run(x):
        nonlocal depth
        out = solve(x)
        depth += 1  # recompile
        return out
    return run


def batches():
    return [(torch.randn(2, 5),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
