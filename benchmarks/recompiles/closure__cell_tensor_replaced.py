"""The closure reads a tensor cell that the loop rebinds to a new tensor of the same shape."""
import torch


def build():
    mem = torch.zeros(4, 8)

    @torch.compile
    def cell(x):
        return torch.tanh(x + 0.5 * mem)

    def step(x):
        nonlocal mem
        mem = cell(x).detach()
        return mem
    return step


def calls():
    return [(torch.randn(4, 8),) for _ in range(6)]
