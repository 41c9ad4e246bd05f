"""A compiled SGD step with an exponential schedule that writes a new float lr in each iteration."""
import torch
import torch.nn as nn


def make_model():
    model = nn.Linear(8, 8)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)

    @torch.compile
    def step():
        opt.step()  # recompile

    def train(x):
        opt.zero_grad()
        model(x).square().mean().backward()
        step()
        sched.step()  # recompile
    return train


def batches():
    return [(torch.randn(4, 8),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
