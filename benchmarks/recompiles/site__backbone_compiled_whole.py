"""The whole backbone is compiled once; its stages are inlined."""
import torch
import torch.nn as nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        dims = [4, 8, 12, 16, 20]
        self.blocks = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))

    def forward(self, x):
        for i, blk in enumerate(self.blocks):
            x = blk(x)
            if i < len(self.blocks) - 1:
                x = x.relu()
        return x


def make_model():
    model = Backbone()
    model.compile()
    return model


def batches():
    return [(torch.randn(3, 4),) for _ in range(4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
