"""Two dtypes are two programs: what anybody expects."""
import torch


@torch.compile
def product(a, b):
    return (a @ b).relu()


def main():
    for dtype in (torch.float32, torch.float64):
        for _ in range(3):
            product(torch.randn(8, 8, dtype=dtype), torch.randn(8, 8, dtype=dtype))


if __name__ == "__main__":
    main()
