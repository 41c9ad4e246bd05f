"""Deterministic algorithms are on for evaluation and off for training: two programs."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 8)

    def forward(self, idx, src):
        return self.emb.weight.index_add(0, idx, src).sum(0)


def make_model():
    net = torch.compile(Net())

    def run(idx, src, det):
        torch.use_deterministic_algorithms(det)
        try:
            return net(idx, src)
        finally:
            torch.use_deterministic_algorithms(False)
    return run


def batches():
    return [(torch.randint(0, 10, (6,)), torch.randn(6, 8), bool(i % 2)) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
