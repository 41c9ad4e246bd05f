"""Generation: the position is a Python number that becomes dynamic."""
import torch


@torch.compile
def decode(token, cache, position):
    cache[:, position] = token  # recompile
    return cache.sum(1)


def main():
    cache = torch.zeros(2, 32)
    token = torch.randn(2)
    for position in range(2, 10):
        decode(token, cache, position)


if __name__ == "__main__":
    main()
