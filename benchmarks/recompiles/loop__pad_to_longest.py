import torch
from torch import nn

TEXTS = ["a cat", "the dog ran home", "one two three four five six", "hi", "so it goes on and on",
         "a b c d e f g h i"]


def encode(batch):
    toks = [[hash_word(w) for w in t.split()] for t in batch]
    width = max(map(len, toks))
    return torch.tensor([t + [0] * (width - len(t)) for t in toks])


def hash_word(w):
    return 1 + sum(map(ord, w)) % 99


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 8, padding_idx=0)
        self.pos = nn.Parameter(torch.randn(32, 8))

    @torch.compile(dynamic=False)  # recompile
    def forward(self, ids):  # recompile
        return (self.emb(ids) + self.pos[: ids.shape[1]]).mean(1)  # recompile


def main():
    torch.manual_seed(0)
    enc = Encoder().eval()
    with torch.no_grad():
        for text in TEXTS:
            vec = enc(encode([text, text[::-1]]))  # recompile
    print(vec.norm().item())


if __name__ == "__main__":
    main()
