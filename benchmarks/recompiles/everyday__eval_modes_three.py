import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.drop = nn.Dropout(0.1)
        self.fc2 = nn.Linear(16, 2)

    def forward(self, x):  # recompile
        return self.fc2(self.drop(torch.relu(self.fc1(x))))


def train_one_epoch(model, opt, loader):
    model.train()
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()


@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).float().mean().item() for x, y in loader)  # recompile


@torch.inference_mode()
def export_predictions(model, loader):
    model.eval()
    return [model(x) for x, _ in loader]  # recompile


def main():
    model = torch.compile(Net())
    opt = torch.optim.Adam(model.parameters())
    loader = [(torch.randn(4, 8), torch.randint(0, 2, (4,))) for _ in range(3)]
    for epoch in range(2):
        train_one_epoch(model, opt, loader)
        validate(model, loader)
    export_predictions(model, loader)


if __name__ == "__main__":
    main()
