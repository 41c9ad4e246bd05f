"""A loader over a tensor dataset; the last batch is smaller but never 1: settles."""
import torch
from torch.utils.data import DataLoader, TensorDataset


@torch.compile
def f(x, y):
    return ((x - y) ** 2).mean()


def main():
    data = TensorDataset(torch.randn(50, 4), torch.randn(50, 4))
    loader = DataLoader(data, batch_size=16, shuffle=True)
    for _ in range(2):
        for x, y in loader:
            f(x, y)


if __name__ == "__main__":
    main()
