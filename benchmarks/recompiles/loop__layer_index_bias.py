import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, idx):
        super().__init__()
        self.idx = idx
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):  # recompile
        return x + torch.relu(self.fc(x)) / (1 + self.idx)  # recompile


class Model(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dim, i) for i in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)  # recompile
        return x


def main():
    torch.manual_seed(0)
    model = Model(8, 5)
    for block in model.blocks:
        block.compile()  # recompile
    for _ in range(3):
        y = model(torch.randn(2, 8))
    print(y.sum().item())


if __name__ == "__main__":
    main()
