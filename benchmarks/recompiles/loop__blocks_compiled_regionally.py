import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return x + torch.relu(self.fc(self.norm(x)))


class Model(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def main():
    torch.manual_seed(0)
    model = Model(8, 5)
    for block in model.blocks:
        block.compile()
    for _ in range(3):
        y = model(torch.randn(2, 8, requires_grad=True))
    print(y.sum().item())


if __name__ == "__main__":
    main()
