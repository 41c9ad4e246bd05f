import torch
from torch import nn


class LayerDrop(nn.Module):
    def __init__(self, d, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(d, d) for _ in range(depth))

    def forward(self, x, keep):
        for i, layer in enumerate(self.layers):
            x = x + keep[i] * torch.relu(layer(x))
        return x


def main():
    torch.manual_seed(0)
    net = LayerDrop(6, 4)
    fwd = torch.compile(net, fullgraph=True)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(8):
        keep = (torch.rand(4) > 0.3).float()
        loss = fwd(torch.randn(4, 6), keep).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()
