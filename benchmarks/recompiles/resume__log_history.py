"""A list of tensors built before a logging call (graph break) crosses it; its length follows the input list."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, views):
        hs = [self.fc(v) for v in views]  # recompile
        print("views", len(hs))
        return torch.stack(hs).mean(0)  # recompile


def make_model():
    return torch.compile(Net())


def batches():
    return [([torch.randn(4, 8) for _ in range(n)],) for n in (2, 3, 4, 5, 2)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
