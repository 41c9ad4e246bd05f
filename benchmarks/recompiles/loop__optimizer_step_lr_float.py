import torch
from torch import nn
import torch.nn.functional as F


def main():
    torch.manual_seed(0)
    model = nn.Linear(6, 1)
    opt = torch.optim.Adam(model.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)

    @torch.compile(fullgraph=False)
    def update():
        opt.step()
        sched.step()

    x, y = torch.randn(32, 6), torch.randn(32, 1)
    for epoch in range(6):
        opt.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        update()
    print(loss.item())


if __name__ == "__main__":
    main()
