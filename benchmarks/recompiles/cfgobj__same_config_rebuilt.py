"""An equal config object is built anew for every call."""
from dataclasses import dataclass
import torch


@dataclass
class LossCfg:
    gamma: float = 2.0
    alpha: float = 0.25


@torch.compile
def focal(logits, target, cfg):
    p = torch.sigmoid(logits)
    pt = torch.where(target > 0, p, 1 - p)
    return (-cfg.alpha * (1 - pt) ** cfg.gamma * pt.clamp_min(1e-6).log()).mean()


def make_model():
    def run(logits, target):
        return focal(logits, target, LossCfg())
    return run


def batches():
    return [(torch.randn(6), torch.randint(0, 2, (6,))) for _ in range(5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
