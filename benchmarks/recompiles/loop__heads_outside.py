import torch
from torch import nn


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.fc2 = nn.Linear(16, 16)

    def forward(self, x):
        return torch.relu(self.fc2(torch.relu(self.fc1(x))))


def main():
    torch.manual_seed(0)
    trunk = torch.compile(Trunk(), options={"epilogue_fusion": True})
    heads = nn.ModuleDict({"cls": nn.Linear(16, 4), "reg": nn.Linear(16, 1), "rank": nn.Linear(16, 2)})
    opt = torch.optim.Adam([*trunk.parameters(), *heads.parameters()])
    for step in range(9):
        task = ("cls", "reg", "rank")[step % 3]
        loss = heads[task](trunk(torch.randn(4, 8))).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()
