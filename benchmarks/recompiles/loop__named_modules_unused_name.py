import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self, name, dim):
        super().__init__()
        self.name = name
        self.fc = nn.Linear(dim, 1)

    @torch.compile
    def forward(self, feat):
        return self.fc(feat).squeeze(-1)


def main():
    torch.manual_seed(0)
    names = ["layer1", "layer2", "layer3", "layer4"]
    probes = nn.ModuleList(Probe(n, 8) for n in names)
    for _ in range(2):
        feats = {n: torch.randn(4, 8) for n in names}
        scores = {p.name: p(feats[p.name]).mean().item() for p in probes}
    print(scores)


if __name__ == "__main__":
    main()
