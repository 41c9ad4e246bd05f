"""GNN: a Python loop over the nodes of each graph, whose number differs graph by graph."""
import torch
import torch.nn as nn


class NodeUpdate(nn.Module):
    def __init__(self):
        super().__init__()
        self.msg = nn.Linear(8, 8)

    def forward(self, nodes, adj):
        h = self.msg(nodes)
        out = []
        for i in range(nodes.size(0)):  # recompile
            out.append((adj[i][:, None] * h).sum(0))
        return torch.stack(out)


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
