"""A helper picks the chunk size from the sequence length with a ladder of ifs."""
import torch
import torch.nn as nn


def pick_chunk(n):
    if n <= 16:  # recompile
        return 4
    elif n <= 32:  # recompile
        return 8
    elif n <= 64:  # recompile
        return 16
    return 32


class ChunkPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x)
        c = pick_chunk(x.shape[1])
        return h[:, :c].mean(1)


def make_model():
    return torch.compile(ChunkPool(), dynamic=True)


def batches():
    return [(torch.randn(2, n, 4),) for n in (12, 24, 48, 96, 14, 30, 60, 100)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
