"""Lightning-like trainer that writes the epoch into the model, which warms a loss up with it."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class LitModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(6, 6)
        self.aux = nn.Linear(6, 6)
        self.current_epoch = 0

    def forward(self, batch):
        x, y = batch
        main = F.mse_loss(self.backbone(x), y)
        if self.current_epoch >= 2:  # recompile
            main = main + F.mse_loss(self.aux(x), y) * self.current_epoch  # recompile
        return main


class Trainer:
    def __init__(self, model, max_epochs):
        self.model = model
        self.compiled = torch.compile(model)
        self.max_epochs = max_epochs

    def fit(self, data):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-2)
        for epoch in range(self.max_epochs):
            self.model.current_epoch = epoch  # recompile
            for batch in data:
                optimizer.zero_grad(set_to_none=True)
                self.compiled(batch).backward()
                optimizer.step()


if __name__ == "__main__":
    data = [(torch.randn(4, 6), torch.randn(4, 6)) for _ in range(2)]
    Trainer(LitModel(), 5).fit(data)
