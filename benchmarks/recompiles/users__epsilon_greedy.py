"""The exploration rate is an attribute that decays and is compared with a draw in compiled code."""
import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 2)
        self.epsilon = 1.0

    @torch.compile
    def act(self, obs):
        greedy = self.q(obs).argmax(-1)
        explore = torch.rand(obs.shape[0]) < self.epsilon
        return torch.where(explore, torch.randint(0, 2, greedy.shape), greedy)


agent = Agent()
for _ in range(5):
    agent.act(torch.rand(3, 4))
    agent.epsilon *= 0.9
