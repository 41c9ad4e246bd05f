"""Past chunks are kept in a Python list on the module, appended in forward and concatenated."""
import torch
import torch.nn as nn


class Streaming(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)
        self.past = []

    def forward(self, chunk):
        h = self.proj(chunk)
        self.past.append(h)  # recompile
        mem = torch.cat(self.past, 1)  # recompile
        return torch.softmax(h @ mem.transpose(1, 2), -1) @ mem


def make_model():
    return torch.no_grad()(torch.compile(Streaming()))


def batches():
    return [(torch.randn(2, 4, 8),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
