"""Two lengths from .tolist() split the packed rows; there are always two."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, lengths):
        a, b = lengths.tolist()
        p, q = self.fc(x).split([a, b])
        return p.mean(0) - q.mean(0)


def make_model():
    return torch.compile(Net())


def batches():
    return [(torch.randn(a + b, 8), torch.tensor([a, b])) for a, b in ((3, 4), (5, 3), (6, 7), (4, 8), (9, 3), (7, 5))]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
