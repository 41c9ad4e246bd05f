"""Layers alternate between local and full attention by a bool attribute; each is compiled: two programs."""
import torch
import torch.nn as nn


class Layer(nn.Module):
    def __init__(self, local):
        super().__init__()
        self.local = local
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        s = x @ x.transpose(-1, -2)
        if self.local:
            s = s.tril(1).triu(-1)
        return x + self.proj(s.softmax(-1) @ x)


def make_model():
    layers = [torch.compile(Layer(i % 2 == 0)) for i in range(6)]

    @torch.no_grad()
    def run(x):
        for layer in layers:
            x = layer(x)
        return x
    return run


def batches():
    return [(torch.randn(2, 5, 8),) for _ in range(4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
