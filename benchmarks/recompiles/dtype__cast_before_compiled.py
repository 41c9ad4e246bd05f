"""The loader's dtypes differ, and the wrapper casts to float32 before the compiled model."""
import torch
import torch.nn as nn


def make_model():
    net = torch.compile(nn.Sequential(nn.Linear(6, 6), nn.Tanh()))

    def run(x):
        return net(x.to(torch.float32))
    return run


def batches():
    return [(torch.ones(3, 6).to(d),) for d in (torch.float32, torch.float64, torch.uint8, torch.float16, torch.int32)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
