import torch
import torch.nn as nn


class EMA:
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = [p.detach().clone() for p in model.parameters()]
        self.updates = 0
        self._update = torch.compile(self._apply)

    def _apply(self, params, decay):
        for s, p in zip(self.shadow, params):
            s.lerp_(p.detach(), 1 - decay)

    def update(self, model):
        self.updates += 1
        self._update(list(model.parameters()), self.decay)


def main():
    model = nn.Linear(4, 4)
    ema = EMA(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        model(torch.randn(2, 4)).sum().backward()
        opt.step()
        opt.zero_grad()
        ema.update(model)


main()
