"""Some batches lack a modality, so keys appear and vanish."""
import torch
from torch import nn


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.ModuleDict({k: nn.Linear(4, 4) for k in ("image", "audio", "text")})

    def forward(self, batch):  # recompile
        return sum(self.proj[k](v) for k, v in batch.items())  # recompile


def main():
    model = torch.compile(Fusion())
    full = {k: torch.randn(2, 4) for k in ("image", "audio", "text")}
    for drop in (None, "audio", "text", "image"):
        batch = {k: v for k, v in full.items() if k != drop}
        model(batch)  # recompile


main()
