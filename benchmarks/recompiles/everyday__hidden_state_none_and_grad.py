import torch
import torch.nn as nn


class Cell(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.i = nn.Linear(d, d)
        self.h = nn.Linear(d, d)

    def forward(self, x, state=None):  # recompile
        if state is None:  # recompile
            state = x.new_zeros(x.shape[0], 8)
        return torch.tanh(self.i(x) + self.h(state))


cell = torch.compile(Cell())


def unroll(seq, detach_every=2):
    state = None
    for t, x in enumerate(seq):
        state = cell(x, state)
        if t % detach_every == 0:
            state = state.detach()
    return state


for epoch in range(2):
    unroll(torch.randn(6, 2, 8)).sum().backward()
