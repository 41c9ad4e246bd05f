"""The router's argmax becomes a Python int that picks the expert from a ModuleList."""
import torch
import torch.nn as nn


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(5))

    def forward(self, x, scores):
        i = scores.argmax().item()
        return self.experts[i](x)  # recompile


def make_model():
    return torch.compile(MoE())


def batches():
    return [(torch.randn(4, 8), torch.eye(5)[i]) for i in (0, 1, 2, 3, 4, 1)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
