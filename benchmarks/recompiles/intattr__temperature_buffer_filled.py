"""A callback lowers the temperature buffer in place after every epoch."""
import torch
import torch.nn as nn


class Contrastive(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 4)
        self.register_buffer("temperature", torch.tensor(0.5))

    def forward(self, a, b):
        za, zb = self.enc(a), self.enc(b)
        return (za @ zb.T / self.temperature).logsumexp(-1).mean()


def make_model():
    model = Contrastive()
    fast = torch.compile(model)

    def epoch(a, b):
        out = fast(a, b)
        model.temperature.mul_(0.9)
        return out
    return epoch


def batches():
    return [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
