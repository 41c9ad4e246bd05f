"""A layer more is trained in every epoch."""
import torch
import torch.nn as nn


def main():
    net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(4)])
    for p in net.parameters():
        p.requires_grad_(False)
    fast = torch.compile(net)
    for epoch in range(4):
        for p in net[epoch].parameters():
            p.requires_grad_(True)  # recompile
        fast(torch.randn(4, 8)).sum().backward()  # recompile


if __name__ == "__main__":
    main()
