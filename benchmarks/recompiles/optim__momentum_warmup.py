"""Momentum is warmed up by writing a new float in the param group before each compiled step: it settles after the state is made."""
import torch
import torch.nn as nn


def make_model():
    model = nn.Linear(8, 4)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    opt_step = torch.compile(opt.step)

    def train(x, i):
        opt.param_groups[0]["momentum"] = 0.5 + 0.05 * i
        opt.zero_grad()
        model(x).square().mean().backward()
        opt_step()
    return train


def batches():
    return [(torch.randn(4, 8), i) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
