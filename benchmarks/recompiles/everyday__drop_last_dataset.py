import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 12)
        self.b = nn.Linear(12, 3)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def main():
    train = TensorDataset(torch.randn(33, 6), torch.randint(0, 3, (33,)))
    train_loader = DataLoader(train, batch_size=16, drop_last=True)
    model = torch.compile(Net())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            opt.zero_grad()


if __name__ == "__main__":
    main()
