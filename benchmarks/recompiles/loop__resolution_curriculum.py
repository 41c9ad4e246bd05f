import torch
from torch import nn
import torch.nn.functional as F


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.c2 = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):  # recompile
        x = F.relu(self.c2(F.relu(self.c1(x))))
        return self.fc(x.mean((2, 3)))


def main():
    torch.manual_seed(0)
    model = torch.compile(ConvNet(), dynamic=False, mode="max-autotune")  # recompile
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = torch.rand(4, 3, 64, 64), torch.randint(0, 5, (4,))
    for res in (16, 24, 32, 48, 64):
        x = F.interpolate(images, size=(res, res), mode="bilinear")  # recompile
        loss = F.cross_entropy(model(x), labels)  # recompile
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()
