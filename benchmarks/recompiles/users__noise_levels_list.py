"""Diffusion: sigmas are a Python list of floats that a compiled step indexes by a python int."""
import torch


class Sampler:
    def __init__(self, n):
        self.sigmas = [1.0 / (i + 1) for i in range(n)]

    @torch.compile
    def step(self, x, i):
        return x + (self.sigmas[i + 1] - self.sigmas[i]) * x.tanh()  # recompile

    def run(self, x):
        for i in range(len(self.sigmas) - 1):
            x = self.step(x, i)  # recompile
        return x


def main():
    Sampler(7).run(torch.randn(4))


main()
