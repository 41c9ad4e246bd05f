"""Compiled optimiser step with a float lr that LambdaLR rewrites every step."""
import torch
import torch.nn as nn


def make_model():
    model = nn.Linear(8, 2)
    opt = torch.optim.AdamW(model.parameters(), lr=0.01)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 0.9 ** s)

    @torch.compile(fullgraph=False)
    def opt_step():
        opt.step()

    def train(x):
        opt.zero_grad()
        model(x).pow(2).mean().backward()
        opt_step()
        sched.step()
    return train


def batches():
    return [(torch.randn(4, 8),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
