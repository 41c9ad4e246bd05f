"""A dict with the same keys and new tensors every time."""
import torch
import torch.nn as nn


class MultiModal(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.ModuleDict({"audio": nn.Linear(6, 4), "video": nn.Linear(8, 4)})

    def forward(self, batch):
        return sum(self.enc[k](v) for k, v in batch.items())


def make_model():
    return torch.compile(MultiModal())


def batches():
    return [({"audio": torch.randn(3, 6), "video": torch.randn(3, 8)},) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
