"""RL critic: the delta of the Huber loss is annealed by the trainer and passed as a float."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, obs):
        return self.net(obs).squeeze(-1)


def td_loss(critic, obs, target, delta):
    v = critic(obs)
    return F.huber_loss(v, target, delta=delta)  # recompile


def make_model():
    critic = Critic()
    loss_fn = torch.compile(td_loss)

    def update(obs, target, step):
        delta = 2.0 / (1 + step)
        loss = loss_fn(critic, obs, target, delta)
        loss.backward()
        return loss
    return update


def batches():
    return [(torch.randn(8, 6), torch.randn(8), s) for s in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
