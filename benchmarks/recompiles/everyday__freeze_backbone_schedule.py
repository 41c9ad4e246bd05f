import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(8, 8)
        self.neck = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):  # recompile
        return self.head(torch.relu(self.neck(torch.relu(self.backbone(x)))))


def freeze(module, frozen):
    for p in module.parameters():
        p.requires_grad = not frozen  # recompile


def main():
    net = Net()
    compiled = torch.compile(net)
    freeze(net.backbone, True)
    freeze(net.neck, True)
    for stage in range(3):
        if stage >= 1:
            freeze(net.neck, False)
        if stage >= 2:
            freeze(net.backbone, False)
        for _ in range(2):
            out = compiled(torch.randn(4, 8))
            out.sum().backward()


main()
