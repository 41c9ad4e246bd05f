import torch
from torch import nn


class EarlyExit(nn.Module):
    def __init__(self, d, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(d, d) for _ in range(depth))
        self.heads = nn.ModuleList(nn.Linear(d, 3) for _ in range(depth))

    def forward(self, x, exit_at):  # recompile
        for i in range(exit_at + 1):  # recompile
            x = torch.relu(self.layers[i](x))
        return self.heads[exit_at](x)  # recompile


def main():
    torch.manual_seed(0)
    net = torch.compile(EarlyExit(8, 4).eval())
    x = torch.randn(5, 8)
    with torch.inference_mode():
        for exit_at in range(4):
            print(exit_at, net(x, exit_at).argmax(-1).tolist())  # recompile


if __name__ == "__main__":
    main()
