import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.fc = nn.Linear(d, d)

    def forward(self, x, mask_ratio):  # recompile
        n = x.shape[1]
        keep = int(n * (1 - mask_ratio))  # recompile
        order = torch.rand(x.shape[:2]).argsort(1)[:, :keep]
        x = x.gather(1, order[..., None].expand(-1, -1, x.shape[-1]))
        return self.fc(x)


def main():
    enc = torch.compile(Encoder())
    for epoch in range(5):
        ratio = 0.75 - 0.1 * epoch
        enc(torch.randn(2, 20, 8), ratio).mean().backward()


main()
