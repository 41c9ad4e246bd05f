import random
import torch
import torch.nn as nn


class Policy(nn.Module):
    def __init__(self, obs=4, act=2):
        super().__init__()
        self.body = nn.Linear(obs, 32)
        self.pi = nn.Linear(32, act)
        self.v = nn.Linear(32, 1)

    def forward(self, obs):
        h = torch.tanh(self.body(obs))
        return self.pi(h), self.v(h).squeeze(-1)


@torch.compile
def returns(rewards, gamma):  # recompile
    out = []
    g = torch.zeros(())
    for r in reversed(rewards):  # recompile
        g = r + gamma * g
        out.append(g)
    return torch.stack(out[::-1])


def play(policy, steps):
    obs = torch.randn(4)
    rewards = []
    for _ in range(steps):
        logits, _ = policy(obs)
        a = torch.distributions.Categorical(logits=logits).sample()
        rewards.append(torch.rand(()) * (a + 1))
        obs = torch.randn(4)
    return rewards


def main():
    random.seed(0)
    policy = Policy()
    for episode in range(4):
        rewards = play(policy, 5 + 2 * episode)
        ret = returns(rewards, 0.99)
        print(ret.mean())


if __name__ == "__main__":
    main()
