import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.active = 1

    def forward(self, x):  # recompile
        for layer in self.layers[: self.active]:  # recompile
            x = x + torch.tanh(layer(x))
        return x


def main():
    torch.manual_seed(0)
    net = Stack(8, 5)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    fwd = torch.compile(net)
    for stage in range(1, 6):
        net.active = stage  # recompile
        for _ in range(2):
            loss = fwd(torch.randn(4, 8)).square().mean()  # recompile
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()
