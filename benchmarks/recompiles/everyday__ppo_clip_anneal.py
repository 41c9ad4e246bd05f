import torch
import torch.nn as nn


@torch.compile
def ppo_loss(logp, old, adv, clip):  # recompile
    ratio = (logp - old).exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)  # recompile
    return -torch.min(ratio * adv, clipped * adv).mean()


def anneal(start, frac):
    return start * (1.0 - frac)


def main():
    net = nn.Linear(4, 2)
    total = 5
    for it in range(total):
        obs, adv = torch.randn(16, 4), torch.randn(16)
        logp = net(obs).log_softmax(-1)[:, 0]
        ppo_loss(logp, logp.detach(), adv, anneal(0.2, it / total)).backward()


main()
