import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 16)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(16, 3)

    def forward(self, x):  # recompile
        return self.out(self.drop(F.relu(self.fc(x))))


def saliency(model, x, y):
    x = x.clone().requires_grad_(True)
    loss = F.cross_entropy(model(x), y)  # recompile
    return torch.autograd.grad(loss, x)[0].abs().mean()


def main():
    torch.manual_seed(0)
    model = torch.compile(Net())
    x, y = torch.randn(16, 8), torch.randint(0, 3, (16,))
    for epoch in range(2):
        model.train()
        F.cross_entropy(model(x), y).backward()
        model.eval()  # recompile
        with torch.no_grad():
            acc = (model(x).argmax(-1) == y).float().mean()  # recompile
        print(epoch, acc.item(), saliency(model, x, y).item())


if __name__ == "__main__":
    main()
