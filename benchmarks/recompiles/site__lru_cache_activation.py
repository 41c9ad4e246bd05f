"""A cached factory compiles an MLP for each activation class asked for."""
import functools
import torch
import torch.nn as nn


class Gated(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        self.act = act

    def forward(self, x):
        return self.act(self.a(x)) * self.b(x)  # recompile


@functools.lru_cache(maxsize=None)
def get_ffn(act_cls):
    return torch.compile(Gated(act_cls()))  # recompile


def make_model():
    return lambda x, act_cls: get_ffn(act_cls)(x)


def batches():
    return [(torch.randn(4, 8), a) for a in (nn.SiLU, nn.GELU, nn.ReLU, nn.Mish, nn.SiLU, nn.GELU)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
