"""All dropouts of the model get a new probability each epoch."""
import torch
from torch import nn


def set_dropout(model, p):
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.p = p  # recompile


def main():
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0), nn.Linear(4, 4), nn.Dropout(0.0))
    f = torch.compile(model)
    for epoch in range(5):
        set_dropout(model, 0.1 * epoch)
        f(torch.randn(2, 4)).sum().backward()  # recompile


main()
