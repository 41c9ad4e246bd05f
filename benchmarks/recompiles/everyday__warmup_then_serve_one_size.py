import torch
import torch.nn as nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def warmup(model, batch_sizes):
    for b in batch_sizes:
        model(torch.zeros(b, 8))


@torch.no_grad()
def main():
    model = torch.compile(Scorer(), dynamic=True)
    warmup(model, [2, 4, 8, 16])


main()
