"""A closure over a number that the loop changes: it becomes dynamic."""
import torch


def main():
    k = 1

    @torch.compile
    def best(x):
        return x.topk(k).values

    x = torch.randn(16)
    for k in (1, 2, 3, 4):
        best(x)


if __name__ == "__main__":
    main()
