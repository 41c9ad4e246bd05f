"""The loader keeps its last batch, which has one element: static batch, dynamic, one -- with two sets."""
import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    net = torch.compile(torch.nn.Linear(3, 3))
    train = DataLoader(TensorDataset(torch.randn(17, 3)), batch_size=8)
    val = DataLoader(TensorDataset(torch.randn(22, 3)), batch_size=8)
    for (x,) in train:
        net(x)  # recompile
    for (x,) in val:
        net(x)  # recompile


main()
