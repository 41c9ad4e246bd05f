"""Only the loss is compiled; the optimiser and its scheduler stay eager."""
import torch
import torch.nn as nn


def make_model():
    model = nn.Linear(8, 2)
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)

    @torch.compile
    def loss_fn(x):
        return model(x).pow(2).mean()

    def train(x):
        opt.zero_grad(set_to_none=True)
        loss_fn(x).backward()
        opt.step()
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
