"""The caller leaves out the mask or the bias as the batch needs."""
import torch
import torch.nn as nn


class Attn(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)

    def forward(self, x, mask=None, bias=None):
        s = self.q(x) @ self.k(x).transpose(1, 2)
        if bias is not None:  # recompile
            s = s + bias
        if mask is not None:  # recompile
            s = s.masked_fill(mask, -1e4)
        return s.softmax(-1) @ x


def make_model():
    return torch.compile(Attn())


def batches():
    x = torch.randn(2, 4, 8)
    m = torch.zeros(4, 4, dtype=torch.bool)
    b = torch.zeros(4, 4)
    return [(x,), (x, m), (x, None, b), (x, m, b), (x,)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
