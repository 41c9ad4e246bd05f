"""The validation loader has its own batch size, its last batch another, and one sample goes in for a demo."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(model(x).sum() for (x,) in loader)  # recompile


net = torch.compile(nn.Sequential(nn.Linear(3, 3), nn.ReLU()), dynamic=False)  # recompile
train = DataLoader(TensorDataset(torch.randn(32, 3)), batch_size=8)
val = DataLoader(TensorDataset(torch.randn(21, 3)), batch_size=16)
for (x,) in train:
    net(x).sum().backward()  # recompile
evaluate(net, val)
with torch.no_grad():
    net(torch.randn(1, 3))
