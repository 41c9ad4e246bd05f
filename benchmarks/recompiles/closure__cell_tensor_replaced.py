"""The closure reads a tensor cell that the loop rebinds to a new tensor of the same shape."""
import torch


def make_model():
    mem = torch.zeros(4, 8)

    @torch.compile
    def cell(x):
        return torch.tanh(x + 0.5 * mem)

    def step(x):
        nonlocal mem
        mem = cell(x).detach()
        return mem
    return step


def batches():
    return [(torch.randn(4, 8),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
