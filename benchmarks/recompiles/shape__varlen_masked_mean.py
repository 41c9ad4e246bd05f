"""Batches of texts of different length, pooled with a mask: only the usual dynamic recompile."""
import torch
import torch.nn as nn


class Pooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 12)
        self.fc = nn.Linear(12, 4)

    def forward(self, ids, mask):
        h = self.emb(ids) * mask.unsqueeze(-1)
        return self.fc(h.sum(1) / mask.sum(1, keepdim=True).clamp(min=1))


def make_model():
    return torch.compile(Pooler())


def batches():
    return [(torch.randint(0, 50, (4, n)), torch.ones(4, n)) for n in (7, 9, 12, 20, 5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
