"""A dataset of 33 rows in batches of 16: the last batch has one row."""
import torch
from torch.utils.data import DataLoader, TensorDataset


@torch.compile
def pool(x):
    return x.mean(-1) * 2


def main():
    data = TensorDataset(torch.randn(33, 8))
    for epoch in range(3):
        for (x,) in DataLoader(data, batch_size=16):
            pool(x)


if __name__ == "__main__":
    main()
