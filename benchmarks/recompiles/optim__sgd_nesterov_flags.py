"""An ablation sets the group's flags (nesterov, maximize, weight decay on or off) between runs of one compiled step."""
import torch
import torch.nn as nn


def make_model():
    model = nn.Linear(8, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    opt_step = torch.compile(opt.step)  # recompile

    def train(x, flags):
        opt.zero_grad()
        model(x).pow(2).mean().backward()
        opt.param_groups[0].update(flags)  # recompile
        opt_step()
    return train


def batches():
    x = torch.randn(4, 8)
    fl = [dict(nesterov=n, maximize=m, weight_decay=w) for n in (False, True) for m in (False, True) for w in (0, 0.1)]
    return [(x, f) for f in fl[:7]]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
