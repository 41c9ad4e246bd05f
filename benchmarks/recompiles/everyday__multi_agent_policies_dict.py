import torch
import torch.nn as nn


class Actor(nn.Module):
    def __init__(self, obs, act, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, act))

    def forward(self, obs):  # recompile
        return self.net(obs).softmax(-1)


SPECS = {"scout": (4, 2, 8), "tank": (6, 3, 8), "healer": (5, 4, 16)}


def build():
    return {name: torch.compile(Actor(*spec)) for name, spec in SPECS.items()}


def rollout(actors, steps):
    for _ in range(steps):
        for name, actor in actors.items():
            obs = torch.randn(1, SPECS[name][0])
            actor(obs)


rollout(build(), 3)
