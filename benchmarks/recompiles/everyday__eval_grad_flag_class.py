import torch
import torch.nn as nn


class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.2), nn.Linear(4, 1))
        self.fwd = torch.compile(self.net)

    def _run(self, x, train):
        self.net.train(train)
        ctx = torch.enable_grad if train else torch.no_grad
        with ctx():
            return self.fwd(x).mean()

    def fit(self, epochs):
        for _ in range(epochs):
            self._run(torch.randn(8, 4), True).backward()
            self._run(torch.randn(8, 4), False)


Trainer().fit(3)
