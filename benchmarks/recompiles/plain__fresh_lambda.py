"""A lambda is compiled in every step: one code, whose captured number becomes dynamic."""
import torch


def main():
    x = torch.randn(8)
    for step in range(5):
        scale = step + 2
        f = torch.compile(lambda y: y * scale)
        f(x)


if __name__ == "__main__":
    main()
