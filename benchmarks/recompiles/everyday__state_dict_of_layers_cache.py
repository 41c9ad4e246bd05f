import torch
import torch.nn as nn


class Layer(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.k = nn.Linear(d, d)

    def forward(self, x, past=None):
        k = self.k(x)
        if past is not None:
            k = torch.cat([past, k], 1)
        return (x @ k.transpose(1, 2)).softmax(-1) @ k, k


class LM(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(n))

    def forward(self, x, past):  # recompile
        new = []
        for i, layer in enumerate(self.layers):
            x, k = layer(x, past[i] if past is not None else None)  # recompile
            new.append(k)
        return x, new


@torch.no_grad()
def main():
    lm = torch.compile(LM())
    x, past = torch.randn(1, 4, 8), None
    for _ in range(6):
        x, past = lm(x, past)
        x = x[:, -1:]


main()
