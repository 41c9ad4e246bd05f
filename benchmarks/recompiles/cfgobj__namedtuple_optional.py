"""A NamedTuple input with optional tensor fields; forward looks at each."""
import typing
import torch
import torch.nn as nn


class Inputs(typing.NamedTuple):
    x: torch.Tensor
    mask: typing.Optional[torch.Tensor] = None
    bias: typing.Optional[torch.Tensor] = None


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, inp):
        s = self.fc(inp.x)
        if inp.bias is not None:  # recompile
            s = s + inp.bias
        if inp.mask is not None:  # recompile
            s = s * inp.mask
        return s


def make_model():
    return torch.compile(Scorer())


def batches():
    x, m, b = torch.randn(4, 8), torch.ones(4, 8), torch.randn(8)
    return [(Inputs(x),), (Inputs(x, m),), (Inputs(x, None, b),), (Inputs(x, m, b),), (Inputs(x),)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
