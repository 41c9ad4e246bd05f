"""Boolean indexing breaks the graph; the kept rows vary in number afterwards."""
import torch
import torch.nn as nn


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(4, 1)
        self.refine = nn.Linear(4, 4)

    def forward(self, x, thr):
        keep = self.score(x).squeeze(-1).abs() > thr
        y = x[keep]
        return self.refine(y).sum()


def make_model():
    return torch.compile(Filter())


def batches():
    return [(torch.randn(40, 4), torch.tensor(t)) for t in (0.1, 0.2, 0.15, 0.3, 0.05)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
