"""An encoder is run with or without gradients by a bool argument inside the compiled forward: two programs."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x, tune_encoder):
        with torch.set_grad_enabled(tune_encoder):
            h = self.enc(x).relu()
        return self.head(h)


def make_model():
    return torch.compile(Net())


def batches():
    return [(torch.randn(4, 8), f) for f in (False, True, False, True, True, False)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
