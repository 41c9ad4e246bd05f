"""A module-level loss weight that the schedule rebinds."""
import torch

KL_WEIGHT = 0.0


@torch.compile
def elbo(recon, target, mu):
    rec = (recon - target).square().mean()
    return rec + KL_WEIGHT * mu.square().mean()


def make_model():
    def step(r, t, m, i):
        global KL_WEIGHT
        KL_WEIGHT = 0.01 * i
        return elbo(r, t, m)
    return step


def batches():
    r, t, m = torch.randn(3, 4, 4)
    return [(r, t, m, i) for i in range(1, 8)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
