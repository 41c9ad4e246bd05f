"""Diffusion sampler: dynamic thresholding percentile handed down through a helper to torch.quantile."""
import torch
import torch.nn as nn


def dynamic_threshold(x0, ratio):
    flat = x0.flatten(1).abs()
    s = torch.quantile(flat, ratio, dim=1)  # recompile
    s = s.clamp(min=1.0)[:, None, None, None]
    return x0.clamp(-s, s) / s


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x, ratio):
        eps = self.conv(x)
        return dynamic_threshold(x - eps, ratio)


def make_model():
    net = torch.compile(Denoiser())

    def sample_step(x, i, n):
        return net(x, 0.9 + 0.09 * i / n)
    return sample_step


def batches():
    x = torch.randn(2, 3, 8, 8)
    return [(x, i, 7) for i in range(1, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
