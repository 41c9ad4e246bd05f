"""Sentence classifier; batches are collated to the longest sentence, the compile is static."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, n):
        rng = random.Random(3)
        self.items = [torch.randint(1, 50, (rng.randint(5, 30),)) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i], i % 2


def pad_batch(pairs):
    tokens = nn.utils.rnn.pad_sequence([t for t, _ in pairs], batch_first=True)
    return tokens, torch.tensor([y for _, y in pairs])


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens):  # recompile
        return self.head(self.emb(tokens).mean(1))


def main():
    torch.manual_seed(0)
    model = Bag()
    net = torch.compile(model, dynamic=False)  # recompile
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Sentences(24), batch_size=4, collate_fn=pad_batch, drop_last=True)
    for tokens, labels in loader:
        loss = nn.functional.cross_entropy(net(tokens), labels)  # recompile
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
