"""Called with gradients, under no_grad and in inference mode."""
import torch
from torch import nn


def main():
    lin = nn.Linear(4, 4)
    f = torch.compile(lin)
    x = torch.randn(2, 4)
    f(x).sum().backward()
    with torch.no_grad():  # recompile
        f(x)
    with torch.inference_mode():  # recompile
        f(x)  # recompile
    f(x).sum().backward()


main()
