"""A print breaks the graph; what is resumed carries only tensors."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        h = self.a(x).relu()
        print("hidden", tuple(h.shape))
        return self.b(h)


def make_model():
    return torch.compile(Net())


def batches():
    return [(torch.randn(4, 8),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
