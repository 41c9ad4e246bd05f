import torch
from torch import nn
import torch.nn.functional as F


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        return self.fc(F.normalize(x, dim=-1))


def main():
    torch.manual_seed(0)
    x, y = torch.randn(40, 6), torch.randint(0, 2, (40,))
    for fold in range(4):
        probe = Probe()
        net = torch.compile(probe)
        opt = torch.optim.SGD(probe.parameters(), lr=0.5)
        keep = torch.arange(40) % 4 != fold
        for _ in range(3):
            loss = F.cross_entropy(net(x[keep]), y[keep])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(fold, loss.item())


if __name__ == "__main__":
    main()
