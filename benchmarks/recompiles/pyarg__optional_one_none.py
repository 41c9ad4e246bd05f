"""One optional tensor: two programs and no more."""
import torch
import torch.nn as nn


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)

    def forward(self, x, bias=None):
        s = self.q(x) @ x.transpose(1, 2)
        if bias is not None:
            s = s + bias
        return s.softmax(-1) @ x


def make_model():
    return torch.compile(Attend())


def batches():
    x, b = torch.randn(2, 5, 8), torch.randn(5, 5)
    return [(x,), (x, b), (x,), (x, b), (x, b), (x,)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
