"""A dict cache keyed by layer index, empty at the first call, grown by cat afterwards."""
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 16) for _ in range(2))

    def forward(self, x, cache):
        for i, layer in enumerate(self.layers):
            k, v = layer(x).chunk(2, -1)
            if i in cache:  # recompile
                k = torch.cat([cache[i][0], k], 1)  # recompile
                v = torch.cat([cache[i][1], v], 1)
            cache[i] = (k, v)
            x = x + torch.softmax(x @ k.transpose(1, 2), -1) @ v
        return x


def make_model():
    model = torch.compile(Decoder())
    cache = {}

    @torch.no_grad()
    def step(x):
        return model(x, cache)
    return step


def batches():
    return [(torch.randn(2, 4, 8),)] + [(torch.randn(2, 1, 8),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
