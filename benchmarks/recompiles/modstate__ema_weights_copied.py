"""EMA weights copied in place into the compiled model between calls."""
import torch
import torch.nn as nn


class UNetTiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, x):
        return self.b(self.a(x).relu())


def make_model():
    model, ema = UNetTiny(), UNetTiny()
    fast = torch.compile(ema)

    @torch.no_grad()
    def step(x):
        for e, p in zip(ema.parameters(), model.parameters()):
            e.lerp_(p, 0.1)
        return fast(x)
    return step


def batches():
    return [(torch.randn(1, 3, 8, 8),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
