"""A state tuple of which the oldest entry is dropped."""
import torch


@torch.compile
def cell(x, states):
    h = x
    for s in states:
        h = h + s
    return states[1:] + (h.tanh(),)


states = (torch.zeros(3), torch.zeros(3))
for _ in range(5):
    states = cell(torch.rand(3), states)
