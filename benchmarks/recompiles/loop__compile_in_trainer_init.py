import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.step_fn = torch.compile(self._loss)
        self.global_step = 0

    def _loss(self, x, y):
        return nn.functional.mse_loss(self.model(x).squeeze(-1), y)

    def fit(self, batches):
        for x, y in batches:
            loss = self.step_fn(x, y)
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            self.global_step += 1
        return loss.item()


def main():
    torch.manual_seed(0)
    data = [(torch.randn(8, 6), torch.randn(8)) for _ in range(10)]
    print(Trainer(nn.Linear(6, 1), 0.05).fit(data))


if __name__ == "__main__":
    main()
