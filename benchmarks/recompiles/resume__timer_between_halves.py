"""time.perf_counter read before and after: the float crosses the break and is returned."""
import time
import torch
import torch.nn as nn


class Timed(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        t0 = time.perf_counter()
        y = self.fc(x).relu()
        torch._dynamo.graph_break()
        z = y.sum(-1)
        return z, time.perf_counter() - t0


def make_model():
    return torch.compile(Timed())


def batches():
    return [(torch.randn(4, 8),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
