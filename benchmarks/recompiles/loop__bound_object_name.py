import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self, name, dim):
        super().__init__()
        self.name = name
        self.fc = nn.Linear(dim, 1)

    @torch.compile
    def forward(self, feats):  # recompile
        return self.fc(feats[self.name]).squeeze(-1)  # recompile


def main():
    torch.manual_seed(0)
    names = ["layer1", "layer2", "layer3", "layer4"]
    probes = nn.ModuleList(Probe(n, 8) for n in names)  # recompile
    for _ in range(2):
        feats = {n: torch.randn(4, 8) for n in names}
        scores = [p(feats) for p in probes]  # recompile
    print(torch.stack(scores).mean().item())


if __name__ == "__main__":
    main()
