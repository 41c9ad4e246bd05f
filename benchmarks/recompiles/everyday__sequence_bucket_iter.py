import itertools
import torch
import torch.nn as nn

rnn = nn.Linear(8, 8)


@torch.compile
def run(x):  # recompile
    h = torch.zeros(x.shape[0], 8)
    for t in range(x.shape[1]):
        h = torch.tanh(rnn(x[:, t]) + h)
    return h


def stream():
    lengths = itertools.cycle([4, 6, 8])
    while True:
        yield torch.randn(2, next(lengths), 8)


for x in itertools.islice(stream(), 6):
    run(x)
