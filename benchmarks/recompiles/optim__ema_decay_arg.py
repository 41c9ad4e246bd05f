"""EMA update with the decay as a float argument used in mul and add."""
import torch


@torch.compile
def ema(avg, new, decay):
    for a, n in zip(avg, new):
        a.copy_(a * decay + n * (1.0 - decay))


def make_model():
    avg = [torch.zeros(4, 4), torch.zeros(4)]
    return lambda new, d: ema(avg, new, d)


def batches():
    return [([torch.randn(4, 4), torch.randn(4)], d) for d in (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
