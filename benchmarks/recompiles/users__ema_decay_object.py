"""An EMA object computes its decay from the number of updates; the update is compiled."""
import torch


class EMA:
    def __init__(self, value):
        self.value = value
        self.n = 0

    @torch.compile
    def blend(self, new):
        decay = min(0.99, (1 + self.n) / (10 + self.n))
        self.value = self.value * decay + new * (1 - decay)

    def update(self, new):
        self.n += 1
        self.blend(new)


def main():
    ema = EMA(torch.zeros(4))
    for _ in range(6):
        ema.update(torch.randn(4))


main()
