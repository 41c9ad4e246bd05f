"""One compiled model is trained, validated under no_grad, served under inference_mode, and profiled under bf16 autocast."""
import contextlib
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.conv(x).relu().mean((2, 3)))


def make_model():
    net = torch.compile(Net())

    def run(x, phase):
        ctx = {"train": contextlib.nullcontext, "val": torch.no_grad, "serve": torch.inference_mode,
               "amp": lambda: torch.autocast("cpu", dtype=torch.bfloat16)}[phase]()
        with ctx:  # recompile
            return net(x)  # recompile
    return run


def batches():
    x = torch.randn(2, 3, 8, 8)
    return [(x, p) for p in ("train", "val", "serve", "amp", "train", "val", "serve")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
