import torch


@torch.compile
def ucb(q, n, parent_n, c):
    return q + c * (parent_n.log() / (n + 1)).sqrt()


class Node:
    def __init__(self):
        self.q = []
        self.n = []

    def expand(self, k):
        for _ in range(k):
            self.q.append(0.0)
            self.n.append(0)


def search(iters):
    root = Node()
    root.expand(2)
    for i in range(iters):
        q, n = torch.tensor(root.q), torch.tensor(root.n, dtype=torch.float32)
        best = int(ucb(q, n, n.sum() + 1, 1.4).argmax())
        root.n[best] += 1
        root.q[best] += 0.1
        if i % 2 == 1:
            root.expand(1)


search(8)
