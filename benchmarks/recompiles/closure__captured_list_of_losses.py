"""The closure appends each loss to a captured Python list inside the compiled step."""
import torch
import torch.nn as nn


def make_step(model):
    trace = []

    @torch.compile
    def step(x, y):
        loss = ((model(x) - y) ** 2).mean()
        trace.append(loss.detach())  # recompile
        return loss
    return step


def make_model():
    return make_step(nn.Linear(8, 2))


def batches():
    return [(torch.randn(4, 8), torch.randn(4, 2)) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
