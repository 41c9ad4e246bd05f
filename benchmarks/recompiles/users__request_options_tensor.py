"""Sampling options come as tensors, always the same keys."""
import torch


@torch.compile
def sample(logits, **options):
    logits = logits / options["temperature"]
    probs = logits.softmax(-1)
    keep = probs > options["min_p"]
    return torch.multinomial(probs * keep + 1e-6, 1)


def main():
    for t, p in ((0.5, 0.1), (0.7, 0.05), (1.0, 0.01), (1.3, 0.2)):
        sample(torch.randn(3, 16), temperature=torch.tensor(t), min_p=torch.tensor(p))


main()
