"""Conditioning tensors come as **cond under free names and are summed."""
import torch
import torch.nn as nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, **cond):
        for name, c in cond.items():  # recompile
            x = x + self.fc(c)
        return x


def make_model():
    model = torch.compile(Denoiser())
    return lambda x, kw: model(x, **kw)


def batches():
    t = torch.randn(4, 8)
    model_kwargs = [{"time": t}, {"time": t, "label": t}, {"label": t}, {"style": t}]
    return [(torch.randn(4, 8), kw) for kw in model_kwargs]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
