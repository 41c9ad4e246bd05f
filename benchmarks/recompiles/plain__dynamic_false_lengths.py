"""dynamic=False while the lengths differ."""
import torch
import torch.nn as nn


def main():
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    fast = torch.compile(model, dynamic=False)  # recompile
    for n in (3, 5, 7, 9):
        fast(torch.randn(n, 8))  # recompile


if __name__ == "__main__":
    main()
