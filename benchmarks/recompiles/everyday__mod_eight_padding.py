import torch
import torch.nn.functional as F


def pad_to(x, m):
    extra = -x.shape[1] % m
    return F.pad(x, (0, extra)) if extra else x


@torch.compile
def block_mean(x):  # recompile
    if x.shape[1] % 8 != 0:  # recompile
        x = F.pad(x, (0, 8 - x.shape[1] % 8))
    return x.view(x.shape[0], -1, 8).mean(-1)


def run(sizes):
    for n in sizes:
        block_mean(torch.randn(4, n))


def run_padded(sizes):
    for n in sizes:
        block_mean(pad_to(torch.randn(4, n), 8))


if __name__ == "__main__":
    run([10, 16, 21, 24, 33])
