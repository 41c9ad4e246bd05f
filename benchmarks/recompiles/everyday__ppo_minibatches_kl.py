import torch
import torch.nn as nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Linear(4, 2)
        self.v = nn.Linear(4, 1)

    def forward(self, obs):
        return self.pi(obs).log_softmax(-1), self.v(obs).squeeze(-1)


@torch.compile
def ppo_loss(logp, old, adv, clip, kl_coef):
    ratio = (logp - old).exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return -torch.min(ratio * adv, clipped * adv).mean() + kl_coef * (old - logp).mean()


def main():
    net = ActorCritic()
    kl = 0.2
    for it in range(5):
        obs, adv = torch.randn(16, 4), torch.randn(16)
        logp, v = net(obs)
        old = logp.detach()
        loss = ppo_loss(logp[:, 0], old[:, 0], adv, 0.2, kl)
        loss.backward()
        kl = kl * 1.5 if loss.item() > 0 else kl / 1.5


main()
