"""A curriculum: the length grows with the epoch; settles."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 8)
        self.out = nn.Linear(8, 10)

    def forward(self, ids):
        return self.out(self.emb(ids))


def main():
    model = torch.compile(Model())
    for epoch in range(5):
        length = 8 * (epoch + 1)
        ids = torch.randint(0, 10, (4, length))
        model(ids).mean().backward()


if __name__ == "__main__":
    main()
