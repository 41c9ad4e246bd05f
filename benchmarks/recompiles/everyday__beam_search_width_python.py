import torch
import torch.nn as nn

VOCAB = 12
lm = nn.Sequential(nn.Embedding(VOCAB, 8), nn.Linear(8, VOCAB))


@torch.compile
def expand(scores, tokens, width):  # recompile
    logp = lm(tokens).log_softmax(-1)
    total = (scores[:, None] + logp).flatten()
    best, idx = total.topk(width)
    return best, idx % VOCAB


def search(width, steps=3):
    scores, tokens = torch.zeros(1), torch.zeros(1, dtype=torch.long)
    for _ in range(steps):
        scores, tokens = expand(scores, tokens, width)
    return scores


with torch.no_grad():
    for width in (2, 4, 6, 8):
        search(width)
