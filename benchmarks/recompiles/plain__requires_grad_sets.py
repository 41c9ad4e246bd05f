"""Which inputs need gradients is swept."""
import torch


@torch.compile
def loss(x, y, z):  # recompile
    return (x * y + z).sum()  # recompile


def main():
    for a, b, c in [(True, False, False), (False, True, False), (False, False, True), (True, True, False)]:
        x = torch.randn(4, requires_grad=a)
        y = torch.randn(4, requires_grad=b)
        z = torch.randn(4, requires_grad=c)
        loss(x, y, z)  # recompile


if __name__ == "__main__":
    main()
