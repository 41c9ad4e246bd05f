"""A hand-written cycle rewrites the SGD group's momentum every step; the step is compiled."""
import torch
import torch.nn as nn


class CycleMomentum:
    def __init__(self, opt, lo=0.8, hi=0.95):
        self.opt, self.lo, self.hi, self.n = opt, lo, hi, 0

    def step(self):
        self.n += 1
        f = (self.n % 10) / 10
        for g in self.opt.param_groups:
            g["momentum"] = self.hi - (self.hi - self.lo) * f


def make_model():
    model = nn.Linear(8, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    cyc = CycleMomentum(opt)
    opt_step = torch.compile(opt.step)

    def train(x):
        opt.zero_grad()
        model(x).pow(2).mean().backward()
        opt_step()
        cyc.step()
    return train


def batches():
    return [(torch.randn(4, 8),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
