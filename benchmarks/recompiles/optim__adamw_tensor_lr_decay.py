"""The lr is a tensor, the schedule fills it in place: one program."""
import torch
import torch.nn as nn


def make_model():
    model = nn.Linear(8, 8)
    opt = torch.optim.AdamW(model.parameters(), lr=torch.tensor(0.01))
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)

    @torch.compile
    def step():
        opt.step()

    def train(x):
        opt.zero_grad()
        model(x).square().mean().backward()
        step()
        sched.step()
    return train


def batches():
    return [(torch.randn(4, 8),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
