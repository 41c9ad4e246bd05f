"""The lr is a tensor, so the scheduler fills it in place."""
import torch
import torch.nn as nn


def make_model():
    model = nn.Linear(6, 3)
    opt = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-2))
    sched = torch.optim.lr_scheduler.StepLR(opt, 1, gamma=0.9)

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
    return [(torch.randn(4, 6),) for _ in range(5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
