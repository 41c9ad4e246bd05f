import torch
from torch import nn


class WarmupMLP(nn.Module):
    def __init__(self, dim, warmup):
        super().__init__()
        self.fc1 = nn.Linear(dim, dim)
        self.fc2 = nn.Linear(dim, 1)
        self.warmup = warmup
        self.steps = 0

    def forward(self, x):  # recompile
        scale = min(1.0, self.steps / self.warmup)  # recompile
        self.steps += 1  # recompile
        return self.fc2(torch.relu(self.fc1(x))) * scale


def main():
    torch.manual_seed(0)
    model = WarmupMLP(16, warmup=100)
    opt = torch.optim.SGD(model.parameters(), lr=1e-2)
    compiled = torch.compile(model)
    for _ in range(6):
        x = torch.randn(4, 16)
        loss = compiled(x).pow(2).mean()  # recompile
        loss.backward()
        opt.step()
        opt.zero_grad()
    print(loss.item())


if __name__ == "__main__":
    main()
