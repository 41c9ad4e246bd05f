import torch
import torch.nn as nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.register_buffer("gamma", torch.tensor(gamma))

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target, reduction="none")
        pt = torch.exp(-ce)
        return ((1 - pt) ** self.gamma * ce).mean()


class Trainer:
    def __init__(self, model, epochs=5):
        self.model = model
        self.criterion = torch.compile(FocalLoss())
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.epochs = epochs

    def anneal(self, epoch):
        self.criterion.gamma.fill_(2.0 - 1.5 * epoch / self.epochs)

    def fit(self, loader):
        for epoch in range(self.epochs):
            self.anneal(epoch)
            for x, y in loader:
                loss = self.criterion(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()


if __name__ == "__main__":
    data = [(torch.randn(8, 16), torch.randint(0, 4, (8,))) for _ in range(2)]
    Trainer(nn.Linear(16, 4)).fit(data)
