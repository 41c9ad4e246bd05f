"""Loaders whose data sets are multiples of one batch size."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


net = torch.compile(nn.Sequential(nn.Linear(3, 3), nn.ReLU()), dynamic=False)
train = DataLoader(TensorDataset(torch.randn(32, 3)), batch_size=8)
val = DataLoader(TensorDataset(torch.randn(24, 3)), batch_size=8)
for epoch in range(2):
    for (x,) in train:
        net(x).sum().backward()
    with torch.no_grad():
        for (x,) in val:
            net(x)
