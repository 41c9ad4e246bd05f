"""A captured tensor is updated in place between calls."""
import torch


def make_model():
    center = torch.zeros(8)

    @torch.compile
    def dino_loss(s, t):
        q = ((t - center) / 0.04).softmax(-1)
        return -(q * (s / 0.1).log_softmax(-1)).sum(-1).mean()

    def step(s, t):
        loss = dino_loss(s, t)
        center.mul_(0.9).add_(t.mean(0), alpha=0.1)
        return loss
    return step


def batches():
    return [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
