"""float32 matmul precision is changed between calls."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        return (x @ self.w).softmax(-1)


def make_model():
    net = torch.compile(Net())

    def run(x, precision):
        torch.set_float32_matmul_precision(precision)
        return net(x)
    return run


def batches():
    return [(torch.randn(4, 8), p) for p in ("highest", "high", "medium", "highest", "high", "medium")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
