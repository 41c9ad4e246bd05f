import torch
import torch.nn as nn


def batches(lengths, width=8):
    for n in lengths:
        yield torch.randn(2, n, width)


class Encoder(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):  # recompile
        pos = torch.arange(x.shape[1])
        y = x + pos[None, :, None]
        outs = []
        for i in range(x.shape[1]):  # recompile
            outs.append(self.proj(y[:, i]))
        return torch.stack(outs, 1)


encoder = torch.compile(Encoder())
for batch in batches([6, 7, 8, 9]):
    encoder(batch)
