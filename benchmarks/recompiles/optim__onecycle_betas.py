"""OneCycleLR with Adam rewrites lr and betas every step; the optimiser step is compiled."""
import torch
import torch.nn as nn


def make_model():
    model = nn.Linear(8, 2)
    opt = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.99))
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=20)
    opt_step = torch.compile(opt.step)  # recompile

    def train(x):
        opt.zero_grad()
        model(x).pow(2).mean().backward()
        opt_step()
        sched.step()  # recompile
    return train


def batches():
    return [(torch.randn(4, 8),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
