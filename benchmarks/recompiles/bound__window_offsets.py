"""Windows of one long signal: views with another storage offset each time, same size and stride."""
import torch
import torch.nn as nn


def make_model():
    net = torch.compile(nn.Conv1d(1, 2, 5))
    signal = torch.randn(1, 1, 200)
    return lambda start: net(signal[:, :, start : start + 32])


def batches():
    return [(s,) for s in (0, 16, 32, 48, 77, 101)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
