"""A step function that counts in a closure; the count only scales: it becomes dynamic."""
import torch


def make():
    count = 1

    @torch.compile
    def body(x):
        return x * count

    def step(x):
        nonlocal count
        count += 1
        return body(x)

    return step


def main():
    step = make()
    for _ in range(6):
        step(torch.randn(4))


if __name__ == "__main__":
    main()
