"""Autocast in three ways."""
import torch


@torch.compile
def product(a, b):
    return a @ b


def main():
    a, b = torch.randn(8, 8), torch.randn(8, 8)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype):  # recompile
            product(a, b)  # recompile
    product(a, b)


if __name__ == "__main__":
    main()
