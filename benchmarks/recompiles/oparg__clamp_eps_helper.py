"""PPO: the clip range shrinks with training; it goes through a helper into clamp bounds."""
import torch


def clipped(ratio, adv, eps):
    lo, hi = 1.0 - eps, 1.0 + eps
    return torch.min(ratio * adv, ratio.clamp(lo, hi) * adv)  # recompile


@torch.compile
def ppo_loss(logp, old_logp, adv, eps):
    return -clipped((logp - old_logp).exp(), adv, eps).mean()


def make_model():
    def update(logp, old, adv, frac):
        return ppo_loss(logp, old, adv, 0.2 * frac)
    return update


def batches():
    a, b, c = (torch.randn(8) for _ in range(3))
    return [(a, b, c, f) for f in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
