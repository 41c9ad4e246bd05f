import torch
import torch.nn as nn


class Actor(nn.Module):
    def __init__(self, obs, act, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, act))

    def forward(self, obs):
        return self.net(obs).softmax(-1)


NAMES = ["scout", "tank", "healer", "mage"]


def build():
    return {name: torch.compile(Actor(4, 2, 8)) for name in NAMES}


def rollout(actors, steps):
    for _ in range(steps):
        for name, actor in actors.items():
            actor(torch.randn(1, 4))


rollout(build(), 3)
