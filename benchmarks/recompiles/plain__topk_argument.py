"""k of topk in a sweep: it becomes dynamic."""
import torch


@torch.compile
def best(x, k):
    return x.topk(k).values


def main():
    x = torch.randn(16)
    for k in range(1, 6):
        best(x, k)


if __name__ == "__main__":
    main()
