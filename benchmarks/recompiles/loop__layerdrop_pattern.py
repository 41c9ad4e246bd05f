import random
import torch
from torch import nn


class LayerDrop(nn.Module):
    def __init__(self, d, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(d, d) for _ in range(depth))

    def forward(self, x, keep):  # recompile
        for flag, layer in zip(keep, self.layers):  # recompile
            if flag:
                x = x + torch.relu(layer(x))
        return x


def main():
    random.seed(0)
    torch.manual_seed(0)
    net = LayerDrop(6, 4)
    fwd = torch.compile(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(8):
        keep = tuple(random.random() > 0.3 for _ in net.layers)  # recompile
        loss = fwd(torch.randn(4, 6), keep).square().mean()  # recompile
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()
