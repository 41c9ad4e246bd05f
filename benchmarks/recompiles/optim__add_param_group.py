"""Layers are unfrozen over time with add_param_group on a compiled optimiser."""
import torch
import torch.nn as nn


def make_model():
    layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(5))
    opt = torch.optim.SGD(layers[-1].parameters(), lr=0.05)
    opt_step = torch.compile(opt.step)  # recompile

    def train(x, n):
        while len(opt.param_groups) < n:
            opt.add_param_group({"params": list(layers[-1 - len(opt.param_groups)].parameters())})  # recompile
        for l in layers:
            x = torch.tanh(l(x))
        opt.zero_grad()
        x.sum().backward()
        opt_step()
    return train


def batches():
    return [(torch.randn(4, 8), n) for n in (1, 2, 3, 4, 5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
