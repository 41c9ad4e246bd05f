"""A factory makes one loss per class weight list: ints burned into a shape."""
import torch


def make_head(k):
    def head(x):  # recompile
        return x.view(-1, k).sum(1)  # recompile

    return torch.compile(head, dynamic=False)  # recompile


heads = [make_head(k) for k in (1, 2, 3, 4)]
for head in heads:
    head(torch.rand(12))  # recompile
