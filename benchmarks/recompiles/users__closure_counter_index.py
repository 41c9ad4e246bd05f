"""The closure reads an int that only indexes."""
import torch


def train(steps):
    where = 2
    table = torch.randn(40, 3)

    @torch.compile
    def look():
        return table[where] * 2

    for _ in range(steps):
        look()
        where += 1


def main():
    train(5)


main()
