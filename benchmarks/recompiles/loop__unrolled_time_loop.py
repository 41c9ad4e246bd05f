import torch
from torch import nn


class GRUEncoder(nn.Module):
    def __init__(self, d_in, d_h):
        super().__init__()
        self.cell = nn.GRUCell(d_in, d_h)
        self.d_h = d_h

    def forward(self, seq):  # recompile
        h = seq.new_zeros(seq.shape[1], self.d_h)
        for t in range(seq.shape[0]):  # recompile
            h = self.cell(seq[t], h)
        return h


def main():
    torch.manual_seed(0)
    enc = GRUEncoder(4, 8)
    run = torch.compile(enc)
    with torch.no_grad():
        for length in (3, 5, 4, 7, 6):
            h = run(torch.randn(length, 2, 4))  # recompile
    print(h.norm().item())


if __name__ == "__main__":
    main()
