import torch
from torch import nn


class MaskedLinear(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.register_buffer("mask", torch.ones(d, d))

    def forward(self, x):
        return torch.nn.functional.linear(x, self.fc.weight * self.mask, self.fc.bias)


def main():
    torch.manual_seed(0)
    net = MaskedLinear(10)
    fast = torch.compile(net)
    x = torch.randn(4, 10)
    for sparsity in (0.0, 0.2, 0.4, 0.6, 0.8):
        with torch.no_grad():
            k = int(sparsity * net.mask.numel())
            order = net.fc.weight.abs().flatten().argsort()
            net.mask.fill_(1.0).view(-1)[order[:k]] = 0.0
        print(sparsity, fast(x).std().item())


if __name__ == "__main__":
    main()
