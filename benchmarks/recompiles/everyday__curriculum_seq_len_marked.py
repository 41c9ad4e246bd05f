import torch
import torch.nn as nn

model = nn.Sequential(nn.Embedding(32, 8), nn.Linear(8, 32))
step = torch.compile(model)
for epoch, seq_len in enumerate([8, 16, 32, 64]):
    for _ in range(2):
        ids = torch.randint(0, 32, (4, seq_len))
        torch._dynamo.mark_dynamic(ids, 1)
        loss = step(ids).mean()
        loss.backward()
