"""Variable length that is rounded by a python branch on divisibility."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class LocalAttn(nn.Module):
    def __init__(self, window=4):
        super().__init__()
        self.window = window
        self.qkv = nn.Linear(8, 24)

    def forward(self, x):
        t = x.shape[1]
        rem = t % self.window
        if rem == 1:  # recompile
            x = F.pad(x, (0, 0, 0, 3))
        elif rem == 2:  # recompile
            x = F.pad(x, (0, 0, 0, 2))
        elif rem == 3:  # recompile
            x = F.pad(x, (0, 0, 0, 1))
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n // self.window, self.window, 24).chunk(3, -1)
        a = (q @ k.transpose(-1, -2)).softmax(-1)
        return (a @ v).reshape(b, n, c)[:, :t]


def make_model():
    return torch.compile(LocalAttn())


def batches():
    return [(torch.randn(2, t, 8),) for t in (8, 12, 13, 14, 15, 17)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
