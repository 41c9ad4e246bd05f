"""Inputs are cast in the loop before the compiled model sees them."""
import torch
import torch.nn as nn


class Scorer(nn.Module):
    def forward(self, x):  # recompile
        return x.float().softmax(-1).sum()  # recompile


if __name__ == "__main__":
    scorer = torch.compile(Scorer())
    x = torch.randn(4, 8)
    for name in ("float32", "float64", "float16", "bfloat16"):
        scorer(x.to(getattr(torch, name)))  # recompile
