"""The number of diffusion steps is unrolled."""
import torch


@torch.compile
def denoise(x, steps):
    for i in range(steps):  # recompile
        x = x - 0.1 * x.tanh()
    return x


def main():
    x = torch.randn(4)
    for steps in [1, 2, 4, 8]:
        denoise(x, steps)  # recompile


if __name__ == "__main__":
    main()
