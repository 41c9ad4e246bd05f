"""Train drops its last batch, validation does not; both have one batch size."""
import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    net = torch.compile(torch.nn.Linear(3, 3), dynamic=False)
    train = DataLoader(TensorDataset(torch.randn(17, 3)), batch_size=8, drop_last=True)
    val = DataLoader(TensorDataset(torch.randn(22, 3)), batch_size=8)
    for epoch in range(2):
        for (x,) in train:
            net(x)
        for (x,) in val:
            net(x)


main()
