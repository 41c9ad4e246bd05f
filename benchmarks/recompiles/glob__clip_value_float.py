"""A global clip value lowered by the loop; clamp specialises on it."""
import torch

CLIP = 5.0


@torch.compile
def surrogate(logp, old, adv):
    ratio = (logp - old).exp()
    return -(ratio.clamp(1 - CLIP, 1 + CLIP) * adv).mean()  # recompile


def make_model():
    def update(logp, old, adv, progress):
        global CLIP
        CLIP = 0.2 * (1 - progress)  # recompile
        return surrogate(logp, old, adv)
    return update


def batches():
    a, b, c = torch.randn(3, 8)
    return [(a, b, c, 0.1 * i) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
