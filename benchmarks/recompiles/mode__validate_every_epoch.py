"""Train and validate alternate: two programs, then reuse."""
import torch
import torch.nn as nn


def make_model():
    net = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))
    fast = torch.compile(net)

    def epoch(x):
        net.train()
        loss = fast(x).pow(2).mean()
        loss.backward()
        net.eval()
        with torch.no_grad():
            return fast(x).mean()
    return epoch


def batches():
    return [(torch.randn(8, 6),) for _ in range(4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
