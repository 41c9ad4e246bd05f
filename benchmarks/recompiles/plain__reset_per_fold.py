"""The compiler is reset for every fold: every fold compiles."""
import torch


@torch.compile
def f(x):
    return x.sin()


def main():
    for fold in range(4):
        torch._dynamo.reset()  # recompile
        f(torch.randn(8))


if __name__ == "__main__":
    main()
