"""Progressive sequence length: a prefix of the tokens."""
import torch
from torch import nn


def main():
    model = nn.Embedding(100, 8)
    forward = torch.compile(model, dynamic=False)  # recompile
    tokens = torch.randint(0, 100, (4, 64))
    for step in range(6):
        n = 16 + 8 * step
        out = forward(tokens[:, :n])  # recompile
        out.sum().backward()


main()
