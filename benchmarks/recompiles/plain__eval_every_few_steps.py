"""Evaluation with another batch size, without gradients: two programs and no more than one for the size."""
import torch
import torch.nn as nn


def main():
    net = nn.Linear(4, 4)
    fast = torch.compile(net, dynamic=True)
    for step in range(8):
        fast(torch.randn(16, 4)).sum().backward()
        if step % 4 == 3:
            with torch.no_grad():
                fast(torch.randn(32, 4))


if __name__ == "__main__":
    main()
