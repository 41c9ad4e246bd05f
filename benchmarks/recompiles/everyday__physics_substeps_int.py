import torch


@torch.compile
def advance(x, v, substeps):  # recompile
    dt = 0.1 / substeps
    for _ in range(substeps):  # recompile
        v = v - dt * x
        x = x + dt * v
    return x, v


def simulate():
    x, v = torch.ones(4), torch.zeros(4)
    for substeps in (1, 2, 4, 8, 16):
        x, v = advance(x, v, substeps)
    return x


simulate()
