import torch
import torch.nn as nn

policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
act = torch.compile(policy)


def evaluate():
    with torch.no_grad():
        for _ in range(3):
            act(torch.randn(3)).argmax()


def rollout(n):
    with torch.no_grad():
        for _ in range(3):
            act(torch.randn(n, 3))  # recompile


def update(n):
    act(torch.randn(n, 3)).pow(2).mean().backward()


for it in range(2):
    rollout(8)
    update(32)
    evaluate()
