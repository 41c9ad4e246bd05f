"""A module-level epoch that the loop writes."""
import torch

EPOCH = 0


@torch.compile
def loss(x):
    return x.mean() * min(EPOCH, 3)  # recompile


def train():
    global EPOCH
    for epoch in range(5):
        EPOCH = epoch  # recompile
        loss(torch.randn(8))


if __name__ == "__main__":
    train()
