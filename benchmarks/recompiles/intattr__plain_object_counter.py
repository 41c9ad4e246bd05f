"""A plain (non-Module) object with an int that its compiled method increments."""
import torch


class RunningStats:
    def __init__(self, d):
        self.mean = torch.zeros(d)
        self.count = 2

    @torch.compile
    def update(self, x):
        self.count += 1
        delta = x - self.mean
        self.mean = self.mean + delta / self.count
        return self.mean


def make_model():
    stats = RunningStats(6)
    return stats.update


def batches():
    return [(torch.randn(6),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
