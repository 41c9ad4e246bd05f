"""Progressive sequence length with the dimension marked."""
import torch
from torch import nn


def main():
    model = nn.Embedding(100, 8)
    forward = torch.compile(model)
    tokens = torch.randint(0, 100, (4, 64))
    for step in range(6):
        n = 16 + 8 * step
        part = tokens[:, :n].clone()
        torch._dynamo.mark_dynamic(part, 1)
        out = forward(part)
        out.sum().backward()


main()
