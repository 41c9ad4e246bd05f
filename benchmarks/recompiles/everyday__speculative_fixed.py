import random
import torch
import torch.nn as nn

emb = nn.Embedding(20, 8)
head = nn.Linear(8, 20)


@torch.compile(dynamic=False)
def verify(ids):
    return head(emb(ids)).argmax(-1)


def speculate(prompt, rounds=6, n=4):
    ids = prompt
    with torch.inference_mode():
        for _ in range(rounds):
            draft = torch.randint(0, 20, (1, n))
            accepted = verify(torch.cat([ids[:, -1:], draft], 1))
            keep = random.randint(1, n)
            ids = torch.cat([ids, accepted[:, :keep]], 1)
    return ids


speculate(torch.zeros(1, 1, dtype=torch.long))
