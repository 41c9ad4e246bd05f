"""A hand-written Adam keeps its step count as a Python int and corrects the bias by math.sqrt inside the compiled update."""
import math
import torch
import torch.nn as nn


class TinyAdam:
    def __init__(self, params, lr=0.01):
        self.params = list(params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.v = [torch.zeros_like(p) for p in self.params]
        self.lr, self.t = lr, 0

    @torch.no_grad()
    def step(self):
        self.t += 1
        c = math.sqrt(1 - 0.999 ** self.t) / (1 - 0.9 ** self.t)
        for p, m, v in zip(self.params, self.m, self.v):
            m.mul_(0.9).add_(p.grad, alpha=0.1)
            v.mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
            p.sub_(self.lr * c * m / (v.sqrt() + 1e-8))


def make_model():
    model = nn.Linear(8, 2)
    opt = TinyAdam(model.parameters())
    opt_step = torch.compile(opt.step)

    def train(x):
        model.zero_grad(set_to_none=False)
        model(x).pow(2).mean().backward()
        opt_step()
    return train


def batches():
    return [(torch.randn(4, 8),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
