"""Gradual unfreezing: layer after layer gets requires_grad_(True) between epochs."""
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(5))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)


class Unfreeze:
    def __init__(self, enc):
        self.enc = enc
        enc.layers.requires_grad_(False)

    def on_epoch_start(self, epoch):
        for layer in self.enc.layers[len(self.enc.layers) - epoch:]:
            layer.requires_grad_(True)  # recompile


def make_model():
    enc = Encoder()
    cb = Unfreeze(enc)
    enc.compile()

    def epoch(x, e):
        cb.on_epoch_start(e)
        enc(x).sum().backward()
    return epoch


def batches():
    return [(torch.randn(4, 8), e) for e in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
