"""Sampler: the timestep is a nonlocal int the closure reads with sin and cos by math."""
import math
import torch


def make_model():
    t = 0

    @torch.compile
    def model(x):
        emb = math.sin(t / 10) + math.cos(t / 10)
        return x.tanh() + emb

    def sample_step(x):
        nonlocal t
        t += 3
        return model(x)
    return sample_step


def batches():
    x = torch.randn(2, 8)
    return [(x,) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
