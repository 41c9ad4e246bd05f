"""Worker loop: requests in a queue of queues are drained into batches of other sizes."""
import queue

import torch


@torch.compile(dynamic=False)  # recompile
def predict(x):  # recompile
    return x.softmax(-1)


def drain(q, limit):
    batch = []
    while not q.empty() and len(batch) < limit:
        batch.append(q.get())
    return torch.stack(batch)


q = queue.Queue()
for n in (2, 3, 4, 5):
    for _ in range(n):
        q.put(torch.rand(3))
    predict(drain(q, 8))  # recompile
