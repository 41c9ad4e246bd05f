"""The step is defined, and compiled, anew for each epoch."""
import torch


def main():
    w = torch.randn(4, 4, requires_grad=True)
    for epoch in range(4):

        @torch.compile
        def step(x):
            return (x @ w).sum()

        for _ in range(2):
            step(torch.randn(2, 4)).backward()


main()
