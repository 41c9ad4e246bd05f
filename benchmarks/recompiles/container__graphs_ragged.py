"""A list of graphs in each batch, every graph a (nodes, edges) pair: a loop over them in the compiled function."""
import torch
import torch.nn as nn


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(4, 4)

    def forward(self, graphs):
        reads = [(adj @ self.w(nodes)).sum(0) for nodes, adj in graphs]  # recompile
        return torch.stack(reads)


def make_model():
    return torch.compile(GNN())


def batches():
    return [([(torch.randn(5, 4), torch.rand(5, 5)) for _ in range(n)],) for n in (1, 3, 2, 4, 5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
