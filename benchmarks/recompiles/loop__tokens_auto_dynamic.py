import torch
from torch import nn
import torch.nn.functional as F


class TinyLM(nn.Module):
    def __init__(self, vocab=60, d=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
        self.out = nn.Linear(d, vocab)

    def forward(self, ids):
        h = self.emb(ids)
        h = h + F.scaled_dot_product_attention(self.q(h), self.k(h), self.v(h), is_causal=True)
        return self.out(h[:, -1])


def main():
    torch.manual_seed(0)
    lm = TinyLM().eval()
    fwd = torch.compile(lm)
    ids = torch.randint(0, 60, (1, 4))
    with torch.no_grad():
        for _ in range(8):
            nxt = fwd(ids).argmax(-1, keepdim=True)
            ids = torch.cat([ids, nxt], dim=1)
    print(ids.tolist())


if __name__ == "__main__":
    main()
