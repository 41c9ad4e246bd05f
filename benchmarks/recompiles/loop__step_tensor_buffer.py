import torch
from torch import nn


class WarmupMLP(nn.Module):
    def __init__(self, dim, warmup):
        super().__init__()
        self.fc1 = nn.Linear(dim, dim)
        self.fc2 = nn.Linear(dim, 1)
        self.warmup = warmup
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        scale = (self.steps / self.warmup).clamp(max=1.0)
        self.steps += 1
        return self.fc2(torch.relu(self.fc1(x))) * scale


def main():
    torch.manual_seed(0)
    model = WarmupMLP(16, warmup=100)
    opt = torch.optim.SGD(model.parameters(), lr=1e-2)
    compiled = torch.compile(model)
    for _ in range(6):
        x = torch.randn(4, 16)
        loss = compiled(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()
