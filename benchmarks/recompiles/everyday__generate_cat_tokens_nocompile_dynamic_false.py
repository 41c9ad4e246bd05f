import torch
import torch.nn as nn


class TinyLM(nn.Module):
    def __init__(self, vocab=50, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):  # recompile
        h = self.emb(ids)
        h = h + self.mix(h).cumsum(1)
        return self.head(h)


@torch.no_grad()
def generate(model, prompt, max_new_tokens):
    ids = prompt
    for _ in range(max_new_tokens):
        logits = model(ids)[:, -1]
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], dim=1)
    return ids


if __name__ == "__main__":
    lm = torch.compile(TinyLM(), dynamic=False)  # recompile
    print(generate(lm, torch.randint(0, 50, (1, 4)), 6).shape)
