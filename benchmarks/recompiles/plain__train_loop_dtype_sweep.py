"""A benchmark runs one compiled matmul in every dtype."""
import torch


@torch.compile
def product(a, b):  # recompile
    return (a @ b).relu()  # recompile


def main():
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        a = torch.randn(8, 8, dtype=dtype)
        b = torch.randn(8, 8, dtype=dtype)
        product(a, b)  # recompile


if __name__ == "__main__":
    main()
