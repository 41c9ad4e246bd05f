import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, lengths):
        self.items = [torch.randint(1, 30, (n,)) for n in lengths]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    longest = max(len(b) for b in batch)
    out = torch.zeros(len(batch), longest, dtype=torch.long)
    for i, b in enumerate(batch):
        out[i, : len(b)] = b
    return out


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 8, padding_idx=0)
        self.out = nn.Linear(8, 2)

    def forward(self, ids):  # recompile
        return self.out(self.emb(ids).mean(1))


def main():
    data = Sentences([3, 5, 8, 8, 10, 11, 13, 15])
    loader = DataLoader(data, batch_size=2, collate_fn=collate)
    model = torch.compile(Bag(), dynamic=False)  # recompile
    for ids in loader:
        model(ids).sum().backward()


main()
