"""The default dtype is set between calls, and the function makes a tensor."""
import torch


@torch.compile
def f(x):
    return x + torch.ones(8).sum()


def main():
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        torch.set_default_dtype(dtype)  # recompile
        f(torch.zeros(8, dtype=torch.float32))
    torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
