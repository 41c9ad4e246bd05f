"""Three optional tensors: every combination of None is a program."""
import torch
import torch.nn as nn


class CrossAttend(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)

    def forward(self, x, bias=None, key_mask=None, gate=None):
        s = self.q(x) @ x.transpose(1, 2)
        if bias is not None:  # recompile
            s = s + bias
        if key_mask is not None:  # recompile
            s = s.masked_fill(key_mask[:, None], -1e4)
        out = s.softmax(-1) @ x
        if gate is not None:  # recompile
            out = out * gate.sigmoid()
        return out


def make_model():
    return torch.compile(CrossAttend())


def batches():
    x, b, m, g = torch.randn(2, 5, 8), torch.randn(5, 5), torch.rand(2, 5) > 0.7, torch.randn(2, 5, 8)
    return [(x,), (x, b), (x, None, m), (x, b, m), (x, None, None, g), (x, b, m, g)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
