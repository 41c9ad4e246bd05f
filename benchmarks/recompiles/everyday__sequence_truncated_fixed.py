import itertools
import torch
import torch.nn as nn

rnn = nn.Linear(8, 8)


@torch.compile
def run(x):
    h = torch.zeros(x.shape[0], 8)
    for t in range(x.shape[1]):
        h = torch.tanh(rnn(x[:, t]) + h)
    return h


def windows(seq, size):
    for start in range(0, seq.shape[1] - size + 1, size):
        yield seq[:, start : start + size].contiguous()


for length in (8, 16, 24):
    for x in windows(torch.randn(2, length, 8), 4):
        run(x)
