import torch
import torch.nn as nn

model = torch.compile(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)))
opt = torch.optim.SGD(model.parameters(), lr=0.1)


def run_epoch(train):
    model.train(train)
    with torch.set_grad_enabled(train):
        for _ in range(2):
            out = model(torch.randn(8, 4))
            if train:
                out.sum().backward()
                opt.step()
                opt.zero_grad()


for epoch in range(3):
    run_epoch(True)
    run_epoch(False)
