"""Centre crop by shape arithmetic that stays symbolic."""
import torch
import torch.nn as nn


class CentreCrop(nn.Module):
    def __init__(self, keep=4):
        super().__init__()
        self.keep = keep
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        mid = x.shape[1] // 2
        x = x[:, mid - self.keep // 2: mid + self.keep // 2]
        return self.fc(x)


def make_model():
    return torch.compile(CentreCrop())


def batches():
    return [(torch.randn(2, n, 5),) for n in (8, 11, 14, 19, 23, 40)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
