import torch
import torch.nn.functional as F


@torch.compile
def summarize(x):  # recompile
    n = x.shape[0]
    if n < 8:  # recompile
        return x.mean(0)
    elif n < 32:  # recompile
        return x.view(n, -1).max(0).values
    elif n < 128:
        return F.softmax(x, 0).mul(x).sum(0)
    return x[::4].mean(0)


def main():
    torch.manual_seed(0)
    for n in (5, 6, 20, 30, 64, 100, 256, 300):
        s = summarize(torch.randn(n, 4))  # recompile
        print(n, s.sum().item())


if __name__ == "__main__":
    main()
