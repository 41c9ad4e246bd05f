"""Marked from the beginning, batch and length: one program."""
import torch


@torch.compile
def pool(x):
    return x.mean(-1) * 2


def main():
    for n, t in [(4, 10), (5, 10), (5, 12), (6, 14)]:
        x = torch.randn(n, t)
        torch._dynamo.mark_dynamic(x, 0)
        torch._dynamo.mark_dynamic(x, 1)
        pool(x)


if __name__ == "__main__":
    main()
