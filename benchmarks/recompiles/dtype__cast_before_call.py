"""Inputs of every dtype are cast outside, before the compiled region."""
import torch
import torch.nn as nn


def make_model():
    net = torch.compile(nn.Sequential(nn.Linear(8, 8), nn.GELU()))

    def run(x):
        return net(x.to(torch.float32))
    return run


def batches():
    x = torch.randint(0, 9, (4, 8))
    return [(x.to(d),) for d in (torch.int64, torch.uint8, torch.float16, torch.float64, torch.bfloat16, torch.int32)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
