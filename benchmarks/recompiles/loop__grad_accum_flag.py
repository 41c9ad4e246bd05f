import torch
from torch import nn


def main():
    torch.manual_seed(0)
    model = nn.Linear(5, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)

    @torch.compile
    def micro_loss(x, y, last):
        loss = (model(x) - y).square().mean() / 4
        if last:
            loss = loss + 1e-3 * model.weight.abs().sum()
        return loss

    for step in range(12):
        x, y = torch.randn(8, 5), torch.randn(8, 1)
        last = step % 4 == 3
        loss = micro_loss(x, y, last)
        loss.backward()
        if last:
            opt.step()
            opt.zero_grad(set_to_none=False)
    print(loss.item())


if __name__ == "__main__":
    main()
