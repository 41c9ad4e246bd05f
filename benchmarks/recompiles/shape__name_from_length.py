"""A string made of the sequence length picks the branch's key in the output dict."""
import torch
import torch.nn as nn


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        out = {}
        out[f"hidden_{x.shape[1]}"] = self.fc(x)  # recompile
        return out


def make_model():
    return torch.compile(Probe())


def batches():
    return [(torch.randn(2, n, 4),) for n in (3, 5, 6, 8, 9)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
