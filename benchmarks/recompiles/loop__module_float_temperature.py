import torch
from torch import nn


class GumbelGate(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(dim))
        self.tau = 2.0

    def forward(self, x):
        noise = -torch.log(-torch.log(torch.rand_like(self.logits) + 1e-9) + 1e-9)
        gate = torch.sigmoid((self.logits + noise) / self.tau)
        return x * gate


def main():
    torch.manual_seed(0)
    gate = GumbelGate(6)
    fn = torch.compile(gate)
    opt = torch.optim.Adam(gate.parameters(), lr=0.05)
    for step in range(7):
        loss = fn(torch.randn(4, 6)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        gate.tau = max(0.5, gate.tau * 0.9)
    print(gate.tau, loss.item())


if __name__ == "__main__":
    main()
