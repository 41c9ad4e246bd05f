import torch
import torch.nn as nn

model = nn.Sequential(nn.Embedding(32, 8), nn.Linear(8, 32))
step = torch.compile(model, dynamic=False)  # recompile
BUCKETS = (8, 16, 32, 64)


def bucket(n):
    return next(b for b in BUCKETS if n <= b)


for n in (5, 9, 20, 40, 7):
    ids = torch.zeros(4, bucket(n), dtype=torch.long)
    ids[:, :n] = torch.randint(0, 32, (4, n))
    step(ids)
