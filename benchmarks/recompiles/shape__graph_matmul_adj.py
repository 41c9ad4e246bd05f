"""GNN: the adjacency product takes graphs of any size in one dynamic program."""
import torch
import torch.nn as nn


class NodeUpdate(nn.Module):
    def __init__(self):
        super().__init__()
        self.msg = nn.Linear(8, 8)

    def forward(self, nodes, adj):
        deg = adj.sum(-1, keepdim=True).clamp(min=1)
        return nodes + (adj @ self.msg(nodes)) / deg


def make_model():
    net = NodeUpdate()
    net.compile()
    return net


def batches():
    return [(torch.randn(n, 8), torch.rand(n, n)) for n in (3, 5, 4, 6, 7, 2)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
