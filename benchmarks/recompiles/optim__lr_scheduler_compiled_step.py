"""opt.step is compiled and a scheduler changes the float lr: dynamic after one change."""
import torch
import torch.nn as nn


def make_model():
    model = nn.Linear(6, 3)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)

    @torch.compile
    def opt_step():
        opt.step()

    def train(x):
        model(x).pow(2).mean().backward()
        opt_step()
        sched.step()
        opt.zero_grad()
    return train


def batches():
    return [(torch.randn(4, 6),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
