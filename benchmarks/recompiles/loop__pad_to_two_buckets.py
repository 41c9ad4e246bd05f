import random
import torch
from torch import nn

BUCKETS = (16, 32)


def collate(lengths):
    size = next(b for b in BUCKETS if b >= max(lengths))
    ids = torch.zeros(len(lengths), size, dtype=torch.long)
    for i, n in enumerate(lengths):
        ids[i, :n] = torch.randint(1, 100, (n,))
    return ids


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 8, padding_idx=0)

    def forward(self, ids):
        mask = (ids != 0).unsqueeze(-1)
        return (self.emb(ids) * mask).sum(1) / mask.sum(1)


def main():
    torch.manual_seed(0)
    random.seed(0)
    enc = torch.compile(Encoder(), dynamic=False)
    with torch.no_grad():
        for _ in range(10):
            lengths = [random.randint(3, 32) for _ in range(2)]
            emb = enc(collate(lengths))
    print(emb.shape)


if __name__ == "__main__":
    main()
