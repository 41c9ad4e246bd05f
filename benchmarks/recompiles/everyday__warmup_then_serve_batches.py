import torch
import torch.nn as nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 1))

    def forward(self, x):  # recompile
        return self.net(x).squeeze(-1)


def warmup(model, batch_sizes):
    for b in batch_sizes:
        model(torch.zeros(b, 8))


def serve(model, queue):
    while queue:
        n = min(len(queue), 4)
        batch = torch.stack([queue.pop() for _ in range(n)])
        model(batch)


@torch.no_grad()
def main():
    model = torch.compile(Scorer(), dynamic=False)  # recompile
    warmup(model, [1, 2, 4])
    serve(model, [torch.randn(8) for _ in range(11)])


main()
