import random
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x, perm, lam):
        return self.fc(lam * x + (1 - lam) * x[perm])


def main():
    random.seed(0)
    torch.manual_seed(0)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    fwd = torch.compile(net)
    x, y = torch.randn(16, 8), torch.randint(0, 3, (16,))
    for step in range(8):
        lam, perm = random.betavariate(0.4, 0.4), torch.randperm(16)
        logits = fwd(x, perm, lam)
        loss = lam * F.cross_entropy(logits, y) + (1 - lam) * F.cross_entropy(logits, y[perm])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()
