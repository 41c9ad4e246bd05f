"""A precision study casts the compiled model to one dtype after another."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        w = self.fc.weight
        return self.fc(x.to(w.dtype)).float().logsumexp(-1)  # recompile


def make_model():
    net = Net()
    compiled = torch.compile(net)

    @torch.no_grad()
    def study(x, dtype):
        net.to(dtype)  # recompile
        return compiled(x)
    return study


def batches():
    return [(torch.randn(4, 8), d) for d in (torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.float32)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
