"""The probability of dropout is written into the program."""
import torch
import torch.nn.functional as F


@torch.compile
def noisy(x, p):
    return F.dropout(x, p=p) + x  # recompile


def main():
    x = torch.randn(16)
    for p in (0.1, 0.2, 0.3, 0.4):
        noisy(x, p)  # recompile


if __name__ == "__main__":
    main()
