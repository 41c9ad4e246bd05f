import torch

DEBUG = False
SCALE = 1


@torch.compile
def step(x):  # recompile
    if DEBUG:
        x = x - x.mean()
    return x * SCALE  # recompile


def main():
    global DEBUG, SCALE
    for i in range(5):
        DEBUG = i == 2
        SCALE = 2 ** i
        step(torch.randn(4))


main()
