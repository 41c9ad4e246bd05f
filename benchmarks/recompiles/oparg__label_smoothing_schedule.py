"""Label smoothing that rises over training, passed to cross_entropy."""
import torch
import torch.nn.functional as F


@torch.compile
def loss_fn(logits, target, eps):
    return F.cross_entropy(logits, target, label_smoothing=eps)  # recompile


def make_model():
    return loss_fn


def batches():
    return [(torch.randn(8, 5), torch.randint(0, 5, (8,)), e) for e in (0.02, 0.04, 0.06, 0.08, 0.11)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
