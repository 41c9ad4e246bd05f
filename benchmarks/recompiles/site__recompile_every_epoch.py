"""torch.compile(model) is written at the top of the epoch function: the same module, so the programs are found again."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 8)
        self.out = nn.Linear(8, 20)

    def forward(self, ids):
        return self.out(self.emb(ids).mean(1))


def make_model():
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def epoch(ids, y):
        compiled = torch.compile(net)
        loss = nn.functional.cross_entropy(compiled(ids), y)
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss.detach()
    return epoch


def batches():
    return [(torch.randint(0, 20, (4, 6)), torch.randint(0, 20, (4,))) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
