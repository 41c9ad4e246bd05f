"""The trainer counts on the module, but forward never reads the counter."""
import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 6)
        self.out = nn.Linear(6, 3)
        self.global_step = 0

    def forward(self, ids):
        return self.out(self.emb(ids))


def make_model():
    net = Tagger()
    fast = torch.compile(net)

    def step(ids):
        net.global_step += 1
        return fast(ids)
    return step


def batches():
    return [(torch.randint(0, 30, (2, 5)),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
