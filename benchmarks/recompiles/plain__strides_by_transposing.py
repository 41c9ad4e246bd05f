"""A square matrix is passed as it is and transposed: two layouts, two programs."""
import torch


@torch.compile
def act(x):
    return x.sin() + 1


def main():
    m = torch.randn(6, 6)
    for i in range(6):
        act(m if i % 2 else m.t())


if __name__ == "__main__":
    main()
