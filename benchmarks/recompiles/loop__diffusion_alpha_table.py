import torch
from torch import nn

BETAS = [1e-4 + i * 2e-3 for i in range(10)]


class Sampler:
    def __init__(self, net):
        self.net = net
        self.alphas = [1 - b for b in BETAS]

    @torch.compile
    def step(self, x, i):  # recompile
        a = self.alphas[i]  # recompile
        eps = self.net(x)
        return (x - (1 - a) * eps) / a ** 0.5


def main():
    torch.manual_seed(0)
    sampler = Sampler(nn.Linear(4, 4))
    x = torch.randn(2, 4)
    with torch.no_grad():
        for i in reversed(range(8)):
            x = sampler.step(x, i)  # recompile
    print(x.norm().item())


if __name__ == "__main__":
    main()
