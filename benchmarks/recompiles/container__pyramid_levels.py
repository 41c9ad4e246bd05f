"""A list of feature maps; the number of pyramid levels depends on the image."""
import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.cls = nn.Conv2d(4, 2, 1)

    def forward(self, feats):
        out = []
        for f in feats:  # recompile
            out.append(self.cls(f).flatten(2))
        return torch.cat(out, -1)


def make_model():
    return torch.compile(Head())


def batches():
    def pyramid(n):
        return [torch.randn(1, 4, 32 >> i, 32 >> i) for i in range(n)]
    return [(pyramid(n),) for n in (2, 3, 4, 5, 3)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
