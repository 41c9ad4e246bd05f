import torch
import torch.nn as nn


class SignSGD:
    def __init__(self, params, lr):
        self.params = list(params)
        self.lr = lr
        self.t = 0

    @torch.compile
    def step(self):
        self.t += 1
        scale = self.lr / (1 - 0.9 ** self.t)
        with torch.no_grad():
            for p in self.params:
                p.sub_(scale * p.grad.sign())


def main():
    model = nn.Linear(4, 1)
    opt = SignSGD(model.parameters(), 0.1)
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    for it in range(6):
        loss = (model(x) - y).pow(2).mean()
        model.zero_grad()
        loss.backward()
        opt.step()


main()
