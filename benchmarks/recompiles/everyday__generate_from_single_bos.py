import torch
import torch.nn as nn


class TinyLM(nn.Module):
    def __init__(self, vocab=50, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.emb(ids)
        return self.head(h.cumsum(1))

    @torch.no_grad()
    def generate(self, bos, n):
        ids = torch.full((1, 1), bos)
        for _ in range(n):
            logits = self(ids)[:, -1]
            nxt = logits.argmax(-1)
            ids = torch.cat((ids, nxt[:, None]), 1)
        return ids


model = TinyLM()
model.compile()
out = model.generate(1, 6)
print(out.shape)
