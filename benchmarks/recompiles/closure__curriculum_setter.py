"""make_loss gives a loss and a setter; the setter rebinds a captured float."""
import torch
import torch.nn.functional as F


def make_loss():
    gamma = 0.0

    @torch.compile
    def focal(logits, y):
        ce = F.binary_cross_entropy_with_logits(logits, y, reduction="none")
        p = torch.exp(-ce)
        return ((1 - p) ** gamma * ce).mean()  # recompile

    def set_gamma(g):
        nonlocal gamma
        gamma = g  # recompile
    return focal, set_gamma


def make_model():
    focal, set_gamma = make_loss()

    def run(l, y, g):
        set_gamma(g)
        return focal(l, y)
    return run


def batches():
    l, y = torch.randn(8), torch.rand(8)
    return [(l, y, 0.5 + 0.3 * i) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
