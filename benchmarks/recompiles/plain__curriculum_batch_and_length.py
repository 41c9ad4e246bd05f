"""Both the batch and the length follow a schedule, not at the same time."""
import torch
import torch.nn as nn

SCHEDULE = [(4, 8), (4, 16), (8, 16), (8, 32)]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 8)

    def forward(self, ids):  # recompile
        return self.emb(ids).mean(1)  # recompile


def main():
    model = torch.compile(Model())
    for batch, length in SCHEDULE:
        model(torch.randint(0, 10, (batch, length)))  # recompile


if __name__ == "__main__":
    main()
